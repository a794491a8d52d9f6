// Row 37: linkages that swing for 1e5 steps. Nothing drives and nothing brakes them, so E is what it was.
#include <string.h>

#include "motion.h"
#include "rows.h"

static const double PI = 3.14159265358979323846;
enum { MOST_NODES = 16, MOST_LINKS = 14, LINK_NODES = 3, MOST_CLOSURES = 8 };

typedef struct node {
    double x, z;
} node;

/// Links are rods, or triangles of three rods, between nodes; the first node of a link is on the ground or on a link before it, and is the hinge that
/// it hangs on. Wherever else a node has a link already a loop is closed.
typedef struct linkage {
    node node[MOST_NODES];
    int link[MOST_LINKS][LINK_NODES]; ///< nodes; −1: none
    int nodes, links, grounded;       ///< the first `grounded` nodes are on the ground
} linkage;

typedef struct closure {
    int a, b; ///< bodies
    kk_vec3 on_a, on_b;
} closure;

typedef struct mechanism {
    int body[MOST_LINKS];
    closure closure[MOST_CLOSURES];
    int closures;
} mechanism;

static int add_node(linkage *l, node at) {
    l->node[l->nodes] = at;
    return l->nodes++;
}

static int add_xz(linkage *l, double x, double z) {
    return add_node(l, (node){x, z});
}

/// Where circles about A and B meet, on the left of the way from A to B for side 1.
static int add_meet(linkage *l, int A, double a, int B, double b, double side) {
    const node P = l->node[A], Q = l->node[B];
    const double dx = Q.x - P.x, dz = Q.z - P.z, d = kk_hypot(dx, dz);
    const double along = (a * a - b * b + d * d) / (2 * d), across = side * kk_sqrt(a * a - along * along);
    return add_xz(l, P.x + (along * dx - across * dz) / d, P.z + (along * dz + across * dx) / d);
}

static void add_link(linkage *l, int A, int B, int C) {
    int *link = l->link[l->links++];
    link[0] = A;
    link[1] = B;
    link[2] = C;
}

// ---- into a scene

static kk_vec3 between(const linkage *l, int from, int to) {
    return kk_vec3_make(l->node[to].x - l->node[from].x, 0, l->node[to].z - l->node[from].z);
}

/// Rods of 1 kg/m along the sides, seen from the first node.
static kk_inertia inertia_of(const linkage *l, const int *link) {
    kk_inertia sum = {0};
    for (int i = 0; i < LINK_NODES; i++) {
        const int A = link[i], B = link[(i + 1) % LINK_NODES];
        if (A < 0 || B < 0) {
            continue;
        }
        const kk_vec3 way = between(l, A, B), middle = kk_vec3_add(between(l, link[0], A), kk_vec3_scale(way, 0.5));
        const double length = kk_vec3_norm(way), I = length * length * length / 12;
        const double sx = way.x * way.x / (length * length), sz = way.z * way.z / (length * length);
        kk_inertia rod = {.mass = length, .com = middle};
        rod.moment = (kk_sym3){I * sz + 1e-6, I + 1e-6, I * sx + 1e-6, 0, -I * way.x * way.z / (length * length), 0};
        sum = sum.mass > 0 ? kk_inertia_add(sum, rod) : rod;
    }
    return sum;
}

static void find_owner(const linkage *l, int links, int at, int *owner) {
    *owner = at < l->grounded ? KK_WORLD : -1;
    for (int i = links - 1; i >= 0; i--) {
        for (int k = 0; k < LINK_NODES; k++) {
            *owner = l->link[i][k] == at && at >= l->grounded ? i + 1 : *owner;
        }
    }
}

/// Where a node is in the frame of a body, whose axes are the world's in the first pose.
static kk_vec3 on_body(const linkage *l, int body, int at) {
    const node *x = &l->node[at];
    return body == KK_WORLD ? kk_vec3_make(x->x, 0, x->z) : between(l, l->link[body - 1][0], at);
}

static void build(scene *s, const linkage *l, mechanism *m) {
    m->closures = 0;
    for (int i = 0; i < l->links; i++) {
        int parent = KK_WORLD;
        find_owner(l, i, l->link[i][0], &parent);
        m->body[i] = scene_jointed(s, parent, KK_JOINT_HINGE, kk_vec3_make(0, -1, 0), on_body(l, parent, l->link[i][0]),
                                   inertia_of(l, l->link[i]));
        for (int k = 1; k < LINK_NODES; k++) {
            int other = -1;
            const int at = l->link[i][k];
            if (at >= 0) {
                find_owner(l, i, at, &other);
            }
            if (other >= 0) {
                const closure c = {i + 1, other, on_body(l, i + 1, at), on_body(l, other, at)};
                scene_loop(s, KK_LOOP_POINT, c.a, c.on_a, c.b, c.on_b);
                m->closure[m->closures++] = c;
            }
        }
    }
}

static double open_by(scene *s, const mechanism *m) {
    double most = 0;
    kk_kinematics(s->model, s->data, kk_state_q(s->state));
    for (int i = 0; i < m->closures; i++) {
        const closure *c = &m->closure[i];
        const kk_vec3 a = kk_transform_point(kk_body_pose(s->model, s->data, c->a), c->on_a);
        const kk_vec3 b = kk_transform_point(kk_body_pose(s->model, s->data, c->b), c->on_b);
        most = exam_max(most, kk_vec3_norm(kk_vec3_sub(a, b)));
    }
    return most;
}

/// The first link is given its speed, and one step takes the rest along through its loops; E is asked from then on.
static void set_moving(scene *s, double speed) {
    scene_v(s, 1)[0] = speed;
    scene_step(s);
}

// ---- the linkages

/// A Grashof four-bar whose crank goes round.
static void four_bar(linkage *l) {
    const int A = add_xz(l, 0, 0), D = add_xz(l, 1, 0);
    l->grounded = 2;
    const int B = add_xz(l, 0.3 * kk_cos(0.7), 0.3 * kk_sin(0.7)), C = add_meet(l, B, 0.9, D, 0.7, 1);
    add_link(l, A, B, -1);
    add_link(l, B, C, -1);
    add_link(l, D, C, -1);
}

/// A four-bar whose rocker is a triangle that moves a second one.
static void watt(linkage *l) {
    const int A = add_xz(l, 0, 0), D = add_xz(l, 1, 0), G = add_xz(l, 2, 0.1);
    l->grounded = 3;
    const int B = add_xz(l, 0.3 * kk_cos(0.7), 0.3 * kk_sin(0.7)), C = add_meet(l, B, 0.9, D, 0.7, 1);
    const int E = add_meet(l, D, 0.6, C, 0.5, -1), F = add_meet(l, E, 0.9, G, 0.8, 1);
    add_link(l, A, B, -1);
    add_link(l, B, C, -1);
    add_link(l, D, C, E);
    add_link(l, E, F, -1);
    add_link(l, G, F, -1);
}

/// A four-bar whose coupler is a triangle that moves a dyad.
static void stephenson(linkage *l) {
    const int A = add_xz(l, 0, 0), D = add_xz(l, 1, 0), G = add_xz(l, 1.4, 1.2);
    l->grounded = 3;
    const int B = add_xz(l, 0.3 * kk_cos(0.7), 0.3 * kk_sin(0.7)), C = add_meet(l, B, 0.9, D, 0.7, 1);
    const int E = add_meet(l, B, 0.7, C, 0.6, 1), F = add_meet(l, E, 0.9, G, 0.8, 1);
    add_link(l, A, B, -1);
    add_link(l, B, C, E);
    add_link(l, D, C, -1);
    add_link(l, E, F, -1);
    add_link(l, G, F, -1);
}

/// Theo Jansen's leg, in decimeters.
static void jansen(linkage *l) {
    const int O = add_xz(l, 0.38, 0.078), Y = add_xz(l, 0, 0);
    l->grounded = 2;
    const int X = add_xz(l, 0.38 + 0.15 * kk_cos(0.7), 0.078 + 0.15 * kk_sin(0.7));
    const int U = add_meet(l, Y, 0.415, X, 0.50, 1), V = add_meet(l, X, 0.619, Y, 0.393, 1);
    const int W = add_meet(l, Y, 0.401, U, 0.558, 1), Z = add_meet(l, V, 0.367, W, 0.394, -1);
    const int F = add_meet(l, V, 0.490, Z, 0.657, -1);
    add_link(l, O, X, -1);
    add_link(l, X, U, -1);
    add_link(l, Y, U, W);
    add_link(l, X, V, -1);
    add_link(l, Y, V, -1);
    add_link(l, W, Z, -1);
    add_link(l, V, Z, F);
}

/// Klann's: a crank, two rockers, a bent connecting rod and a bent leg.
static void klann(linkage *l) {
    const int O = add_xz(l, 0, 0), A = add_xz(l, -0.60, -0.13), B = add_xz(l, -0.30, 0.62);
    l->grounded = 3;
    const int M = add_xz(l, 0.26 * kk_cos(0.7), 0.26 * kk_sin(0.7)), C = add_meet(l, A, 0.32, M, 0.58, 1);
    const int D = add_meet(l, M, 1.10, C, 0.54, 1), E = add_meet(l, B, 0.46, D, 0.72, 1);
    const int F = add_meet(l, E, 1.20, D, 0.65, 1);
    add_link(l, O, M, -1);
    add_link(l, M, C, D);
    add_link(l, A, C, -1);
    add_link(l, D, E, F);
    add_link(l, B, E, -1);
}

/// Peaucellier's: two long bars, a rhombus and a crank whose circle goes through the center of the inversion.
static void peaucellier(linkage *l) {
    const int O = add_xz(l, 0, 0), Q = add_xz(l, 0.4, 0);
    l->grounded = 2;
    const int C = add_xz(l, 0.4 + 0.4 * kk_cos(0.35), 0.4 * kk_sin(0.35));
    const int A = add_meet(l, O, 1, C, 0.5, 1), B = add_meet(l, O, 1, C, 0.5, -1), D = add_meet(l, A, 0.5, B, 0.5, 1);
    add_link(l, Q, C, -1);
    add_link(l, O, A, -1);
    add_link(l, O, B, -1);
    add_link(l, A, C, -1);
    add_link(l, B, C, -1);
    add_link(l, A, D, -1);
    add_link(l, B, D, -1);
}

typedef struct drawing {
    const char *name;
    void (*draw)(linkage *l);
    double speed, gravity; ///< of the first link, rad/s
} drawing;

static const drawing drawings[] = {
    {"four-bar", four_bar, 6, 9.81}, {"Watt", watt, 8, 9.81},    {"Stephenson", stephenson, 8, 9.81},
    {"Jansen", jansen, 12, 9.81},    {"Klann", klann, 12, 9.81}, {"Peaucellier", peaucellier, 0.5, 9.81},
};

typedef struct drift {
    double energy, closure; ///< of the largest kinetic energy; m
} drift;

static void keep_worst(exam *e, scene *s, const char *name, int panel, double E0, long steps, double *most,
                       double *off) {
    const double E = motion_energy(s), kinetic = motion_kinetic(s);
    *off = exam_max(*off, exam_abs(E - E0));
    *most = *off < 0.1 * exam_max(*most, kinetic) ? exam_max(*most, kinetic) : *most;
    if (s->steps % (steps / 300 + 1) == 0) {
        exam_point(e, panel, name, scene_time(s), exam_abs(E - E0) / *most + 1e-16);
    }
}

static drift swing(exam *e, const drawing *x, long steps, int panel, long *uncertified) {
    linkage l;
    mechanism m;
    scene s;
    memset(&l, 0, sizeof l);
    x->draw(&l);
    motion_begin(&s, e, x->gravity);
    build(&s, &l, &m);
    scene_ready_dt(&s, 1e-3);
    set_moving(&s, x->speed);
    const double E0 = motion_energy(&s);
    double most = motion_kinetic(&s), off = 0, open = s.is_broken ? 1 : open_by(&s, &m);
    while (s.steps < steps && scene_step(&s)) {
        keep_worst(e, &s, x->name, panel, E0, steps, &most, &off);
        open = exam_max(open, open_by(&s, &m));
    }
    motion_end(&s, uncertified);
    return (drift){off / most, open};
}

// ---- change points: all links in one line, and two ways to go on

/// A parallelogram whose crank goes round passes two of them in a turn. The velocity says that it stays one: follower and crank are parallel.
static double follow_branch(exam *e, long steps, long *uncertified) {
    linkage l;
    mechanism m;
    scene s;
    memset(&l, 0, sizeof l);
    const int A = add_xz(&l, 0, 0), D = add_xz(&l, 1, 0);
    l.grounded = 2;
    const node B = {0.4 * kk_cos(0.7), 0.4 * kk_sin(0.7)};
    const int P = add_node(&l, B), C = add_xz(&l, 1 + B.x, B.z);
    add_link(&l, A, P, -1);
    add_link(&l, P, C, -1);
    add_link(&l, D, C, -1);
    motion_begin(&s, e, 0);
    build(&s, &l, &m);
    scene_ready_dt(&s, 1e-3);
    scene_v(&s, 1)[0] = 5;
    scene_v(&s, 2)[0] = -5;
    scene_v(&s, 3)[0] = 5;
    double off = 0;
    while (s.steps < steps && scene_step(&s)) {
        off = exam_max(off, exam_abs(scene_q(&s, 1)[0] - scene_q(&s, 3)[0]));
    }
    motion_end(&s, uncertified);
    return off;
}

// ---- Stewart's platform on springs

enum { LEGS = 6 };

static kk_vec3 on_circle(double radius, double angle, double z) {
    return kk_vec3_make(radius * kk_cos(angle), radius * kk_sin(angle), z);
}

/// The platform hangs in the world by a free joint, each leg by a universal joint; slides with springs, ball joints at their ends.
static void stewart(scene *s, mechanism *m) {
    const int platform = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                       kk_inertia_solid_cylinder(5, 0.3, 0.05));
    m->closures = 0;
    for (int i = 0; i < LEGS; i++) {
        const double base = 2 * PI * ((i + 1) / 2) / 3 + (i % 2 ? -0.15 : 0.15);
        const double top = 2 * PI * (i / 2) / 3 + PI / 3 + (i % 2 ? 0.15 : -0.15);
        const kk_vec3 foot = on_circle(0.5, base, 0), head = on_circle(0.3, top, 0.6), way = kk_vec3_sub(head, foot);
        const double length = kk_vec3_norm(way);
        const kk_vec3 unit = kk_vec3_scale(way, 1 / length);
        kk_body_def hip = kk_body_def_default();
        hip.joint.type = KK_JOINT_UNIVERSAL;
        hip.joint.axis = kk_vec3_make(1, 0, 0);
        hip.joint.axis2 = kk_vec3_make(0, 1, 0);
        hip.joint.placement.p = foot;
        hip.inertia = kk_inertia_solid_sphere(0.5, 0.05);
        const int lower = scene_body(s, &hip);
        kk_body_def rod = kk_body_def_default();
        rod.parent = lower;
        rod.joint.type = KK_JOINT_SLIDE;
        rod.joint.axis = unit;
        rod.joint.placement.p = way;
        rod.joint.dof[0].stiffness = 2000;
        rod.inertia = kk_inertia_solid_sphere(0.3, 0.03);
        const int upper = scene_body(s, &rod);
        const closure c = {upper, platform, {0, 0, 0}, kk_vec3_sub(head, kk_vec3_make(0, 0, 0.6))};
        scene_loop(s, KK_LOOP_POINT, c.a, c.on_a, c.b, c.on_b);
        m->closure[m->closures++] = c;
    }
}

static drift swing_stewart(exam *e, long steps, int panel, long *uncertified) {
    mechanism m;
    scene s;
    motion_begin(&s, e, 9.81);
    stewart(&s, &m);
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, 1, 0, 0, 0.6);
    scene_v(&s, 1)[2] = 1;
    scene_v(&s, 1)[3] = 0.2;
    scene_step(&s); // loops take the legs along; E is asked from then on
    const double E0 = motion_energy(&s);
    double most = motion_kinetic(&s), off = 0, open = s.is_broken ? 1 : open_by(&s, &m);
    while (s.steps < steps && scene_step(&s)) {
        keep_worst(e, &s, "Stewart", panel, E0, steps, &most, &off);
        open = exam_max(open, open_by(&s, &m));
    }
    motion_end(&s, uncertified);
    return (drift){off / most, open};
}

static void run_linkages(exam *e) {
    const long steps = e->is_quick ? 30000 : 100000;
    const int panel = exam_plot(e, "linkages, 1 ms", "time [s]", "|dE| / largest kinetic energy", true);
    long uncertified = 0;
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        const drift found = swing(e, &drawings[i], steps, panel, &uncertified);
        motion_at_most(e, drawings[i].name, "|dE| / Kmax", found.energy, 1e-3);
        motion_at_most(e, drawings[i].name, "closure, m", found.closure, 1e-9);
    }
    const drift found = swing_stewart(e, steps, panel, &uncertified);
    exam_at_most(e, "Stewart: |dE| / Kmax", found.energy, 1e-3);
    exam_at_most(e, "Stewart: closure, m", found.closure, 1e-9);
    exam_at_most(e, "parallelogram: leaves the branch that its velocity continues by, rad",
                 follow_branch(e, steps, &uncertified), 1e-3); // a closure of 1e-8 m leaves its root there
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_linkages[] = {
    {37, "four-bar, Watt, Stephenson, Jansen, Klann, Peaucellier, Stewart, a parallelogram, 1e5 steps at 1 ms",
     "E, closure, branch", "RK4, tight: 1e-6; Peaucellier -107 %", true, run_linkages},
    {0, NULL, NULL, NULL, false, NULL},
};
