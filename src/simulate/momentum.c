/// Robots in flight keep their momentum to rounding.
///
/// In reduced coordinates the midpoint rule keeps the momentum of a tree to second order only. Where nothing ties a floating
/// tree to the world, what its spatial momentum must be at the end of the step is known,
///     H_end = H_start + h (forces from outside, gravity),
/// and the velocity of its base is set so that it is: one 6 × 6 with the tree's composite inertia. The state remembers H_end, and the
/// next step goes on from there: rounding does not add up, and nothing need be summed anew. A mark of q and v tells whether they
/// are still those it belongs to.
///
/// A lone body keeps its momentum by itself, up to what rounding takes from the numbers of its velocity as its axes turn. In flight
/// the state remembers its velocity in world axes, too.
#include <string.h>

#include "math/dense.h"
#include "simulate/simulator.h"

typedef kki_whole whole;

enum { TIED = 1, MEETS = 2, SETTLED = 4 }; ///< of a tree: to the world, others; with those that it meets
enum { ON_GROUND, IN_FLIGHT, ALONE };      ///< of a root

/// Nodes are sorted by depth: roots come first. Of a crowd all are, and lone ones: there nodes are not looked at, which are many and large.
static int is_root(const kk_model *m, const kk_simulator *s, int node) {
    return node < m->nnode && (s->traits.has_only_free_bodies || m->node[node].parent == 0);
}

static kk_sym3 moments_of(const kki_node *n) {
    return (kk_sym3){n->inertia[0][0], n->inertia[1][1], n->inertia[2][2],
                     n->inertia[1][0], n->inertia[2][0], n->inertia[2][1]};
}

static void add_node(whole *w, const kki_node *n, const kki_pose *x, const kki_rates *V, kk_vec3 base) {
    const kk_mat3 R = kki_mat3(x->R);
    const kk_vec3 o = kki_vec3(x->p), h = kk_mat3_mul_vec(R, kki_vec3(n->h)), omega = kki_vec3(V->w),
                  u = kki_vec3(V->u);
    const kk_sym3 J = kk_sym3_rotate(R, moments_of(n));
    const kk_vec3 p = kk_vec3_add(kk_vec3_scale(u, n->mass), kk_vec3_cross(omega, h));
    const kk_vec3 L = kk_vec3_add(kk_sym3_mul_vec(J, omega), kk_vec3_cross(h, u));
    w->momentum.linear = kk_vec3_add(w->momentum.linear, p);
    w->momentum.angular = kk_vec3_add(w->momentum.angular, kk_vec3_add(L, kk_vec3_cross(o, p)));
    // shift of the moments by r: J + 2 (h·r) 1 − h rᵀ − r hᵀ + m (r·r 1 − r rᵀ)
    const kk_vec3 r = kk_vec3_sub(o, base);
    const double hr = 2 * kk_vec3_dot(h, r);
    const kk_sym3 cross = {hr - 2 * h.x * r.x,       hr - 2 * h.y * r.y,       hr - 2 * h.z * r.z,
                           -(h.x * r.y + r.x * h.y), -(h.x * r.z + r.x * h.z), -(h.y * r.z + r.y * h.z)};
    w->mass += n->mass;
    w->first = kk_vec3_add(w->first, kk_vec3_add(h, kk_vec3_scale(r, n->mass)));
    w->second = kk_sym3_add(w->second, kk_sym3_add(kk_sym3_add(J, cross), kk_sym3_point_mass(n->mass, r)));
}

static whole gather(const kk_model *m, const kk_data *d, int root) {
    const int tree = m->node_tree[root];
    const kk_vec3 base = kki_vec3(kki_pose_of(d, root)->p);
    whole w = {.base = base};
    const int end = m->node[root].is_leaf ? root + 1 : m->nnode;
    for (int i = root; i < end; i++) {
        if (m->node_tree[i] == tree) {
            add_node(&w, &m->node[i], kki_pose_of(d, i), kki_rates_of(d, i), base);
        }
    }
    return w;
}

/// Forces on the tree from outside, about the world's origin; poses are those of the middle.
static kk_force outside_of(const kk_model *m, const kk_simulator *s, int root) {
    kk_force sum = {{0, 0, 0}, {0, 0, 0}};
    const int end = m->node[root].is_leaf ? root + 1 : m->nnode;
    for (int i = root; i < end; i++) {
        if (m->node_tree[i] == m->node_tree[root]) {
            const kk_vec3 o = kki_vec3(kki_pose_of(s->data, i)->p);
            const kk_force f = s->readout.outside[i];
            sum.linear = kk_vec3_add(sum.linear, f.linear);
            sum.angular = kk_vec3_add(sum.angular, kk_vec3_add(f.angular, kk_vec3_cross(o, f.linear)));
        }
    }
    return sum;
}

/// Twist δ of the base, world axes about its origin, with the composite inertia I δ = ΔH.
static int base_change(const whole *w, kk_force dH, double delta[6]) {
    const kk_vec3 c = w->first;
    const kk_sym3 J = w->second;
    const double m = w->mass;
    double A[36] = {J.xx, J.xy, J.xz, 0, -c.z, c.y, J.xy, J.yy, J.yz, c.z, 0, -c.x, J.xz, J.yz, J.zz, -c.y, c.x, 0,
                    0,    c.z,  -c.y, m, 0,    0,   -c.z, 0,    c.x,  0,   m, 0,    c.y,  -c.x, 0,    0,    0,   m};
    const kk_vec3 n = kk_vec3_sub(dH.angular, kk_vec3_cross(w->base, dH.linear));
    const double b[6] = {n.x, n.y, n.z, dH.linear.x, dH.linear.y, dH.linear.z};
    memcpy(delta, b, sizeof b);
    if (kki_ldl_factor(6, A, 1e-14) != KK_OK) {
        return 0;
    }
    kki_ldl_solve(6, A, delta);
    return 1;
}

static kk_vec3 center_of(const whole *w) {
    return kk_vec3_add(w->base, kk_vec3_scale(w->first, 1 / w->mass));
}

static void add3(double *x, kk_vec3 a) {
    x[0] += a.x;
    x[1] += a.y;
    x[2] += a.z;
}

/// Moves the base so that the center of mass has gone on with the mean of its velocities.
static void correct_position(const kk_model *m, kk_simulator *s, int root, const kki_flight *start, kk_vec3 p_end,
                             whole *w) {
    const kk_vec3 mean = kk_vec3_scale(kk_vec3_add(start->momentum.linear, p_end), 0.5 * s->h / w->mass);
    const kk_vec3 d = kk_vec3_sub(kk_vec3_add(start->center, mean), center_of(w));
    add3(s->motion.q + m->node[root].q_index + 4, kk_mat3_tmul_vec(kki_mat3(m->node[root].R), d));
    w->base = kk_vec3_add(w->base, d);
    w->momentum.angular = kk_vec3_add(w->momentum.angular, kk_vec3_cross(d, w->momentum.linear));
}

static int correct_velocity(const kk_model *m, kk_simulator *s, int root, kk_force want, const whole *w) {
    double delta[6];
    if (!base_change(w, kk_force_sub(want, w->momentum), delta)) {
        return 0;
    }
    const kk_mat3 R = kki_mat3(kki_pose_of(s->readout.view, root)->R);
    double *v = s->motion.v + m->node[root].v_index;
    add3(v, kk_mat3_tmul_vec(R, kk_vec3_make(delta[0], delta[1], delta[2])));
    add3(v + 3, kk_mat3_tmul_vec(R, kk_vec3_make(delta[3], delta[4], delta[5])));
    return 1;
}

/// What gravity adds to a tree's momentum in the step. It acts where the center of mass is on its parabola, of which only the straight part has a moment.
static kk_force gravity_adds(const kk_model *m, const kk_simulator *s, const kki_flight *start, double mass) {
    const kk_vec3 weight = kk_vec3_scale(kk_vec3_make(m->gravity[0], m->gravity[1], m->gravity[2]), mass);
    const kk_vec3 center = kk_vec3_add(start->center, kk_vec3_scale(start->momentum.linear, 0.5 * s->h / mass));
    return kk_force_make(kk_vec3_scale(kk_vec3_cross(center, weight), s->h), kk_vec3_scale(weight, s->h));
}

/// Momentum of a tree at the end of the step.
static kk_force momentum_after(const kk_model *m, const kk_simulator *s, int root, const kki_flight *start,
                               double mass) {
    const kk_force f = outside_of(m, s, root);
    const kk_force gain = kk_force_make(kk_vec3_scale(f.angular, s->h), kk_vec3_scale(f.linear, s->h));
    return kk_force_add(start->momentum, kk_force_add(gain, gravity_adds(m, s, start, mass)));
}

// ---- what the state remembers

static uint64_t mark_of(const kk_model *m, int root, const double *q, const double *v) {
    return kki_tree_mark(m, m->node_tree[root], q, v, 1);
}

static kk_vec3 load3(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

/// The start of the step as the last one left it; false where it is another.
static int recall(const kk_model *m, const kk_state *state, int root, const double *record, kki_flight *flight) {
    const uint64_t hash = (uint64_t)record[KKI_WARM_HASH_HIGH] << 32 | (uint64_t)record[KKI_WARM_HASH_LOW];
    if (hash == 0 || hash != mark_of(m, root, kk_state_q_const(state), kk_state_v_const(state))) {
        return 0;
    }
    flight->momentum = kk_force_make(load3(record + KKI_WARM_ANGULAR), load3(record + KKI_WARM_LINEAR));
    flight->center = load3(record + KKI_WARM_CENTER);
    return 1;
}

static void remember(const kk_model *m, const kk_simulator *s, int root, double *record) {
    const kki_flight *f = &s->momentum.flight[root];
    const uint64_t hash = mark_of(m, root, s->motion.q, s->motion.v);
    const kk_vec3 a = f->momentum.angular, p = f->momentum.linear, c = f->center;
    const double numbers[KKI_WARM_FLIGHT_SIZE] = {
        a.x, a.y, a.z, p.x, p.y, p.z, c.x, c.y, c.z, (double)(hash >> 32), (double)(hash & 0xffffffffu)};
    memcpy(record, numbers, sizeof numbers);
}

void kki_remember_flights(const kk_model *model, kk_simulator *s) {
    double *record = s->warm_start.value + s->warm_start.layout.first_flight;
    for (int i = 1; is_root(model, s, i) && !s->traits.has_only_free_bodies; i++) {
        if (kki_is_flyer(model, i)) {
            if (s->momentum.in_flight[i] == IN_FLIGHT) {
                remember(model, s, i, record);
            }
            record += KKI_WARM_FLIGHT_SIZE;
        }
    }
}

// ---- lone bodies

static kk_quat load_quat(const double *q) {
    return (kk_quat){q[0], q[1], q[2], q[3]};
}

/// Velocity of the center of mass in the axes of the joint's placement.
static kk_vec3 center_velocity(const kki_node *n, const double *q, const double *v) {
    const kk_vec3 c = kk_vec3_scale(kki_vec3(n->h), 1 / n->mass);
    return kk_mat3_mul_vec(kk_quat_to_mat3(load_quat(q)), kk_vec3_add(load3(v + 3), kk_vec3_cross(load3(v), c)));
}

/// The remembered velocity where it is the same but for rounding.
static kk_vec3 sharpen(kk_vec3 u, const double *record) {
    const kk_vec3 kept = load3(record), d = kk_vec3_sub(kept, u);
    return kk_vec3_dot(d, d) <= 1e-26 * kk_vec3_dot(u, u) ? kept : u;
}

/// Sets the linear velocity of a lone body so that its momentum is exact.
static void keep_lone(const kk_model *m, kk_simulator *s, const kk_state *state, int root, const double *old,
                      double *record) {
    const kki_node *n = &m->node[root];
    const double *q0 = kk_state_q_const(state) + n->q_index, *v0 = kk_state_v_const(state) + n->v_index;
    double *v = s->motion.v + n->v_index;
    if (v[0] == 0 && v[1] == 0 && v[2] == 0 && v0[0] == 0 && v0[1] == 0 && v0[2] == 0) {
        return; // its axes do not turn
    }
    const kk_vec3 f = kk_mat3_tmul_vec(kki_mat3(n->R), s->readout.outside[root].linear);
    const kk_vec3 g = kk_mat3_tmul_vec(kki_mat3(n->R), kki_vec3(m->gravity));
    const kk_vec3 gain = kk_vec3_scale(kk_vec3_add(kk_vec3_scale(f, 1 / n->mass), g), s->h);
    const kk_vec3 u = kk_vec3_add(sharpen(center_velocity(n, q0, v0), old), gain);
    const kk_vec3 c = kk_vec3_scale(kki_vec3(n->h), 1 / n->mass);
    const kk_vec3 w = kk_mat3_tmul_vec(kk_quat_to_mat3(load_quat(s->motion.q + n->q_index)), u);
    const kk_vec3 linear = kk_vec3_sub(w, kk_vec3_cross(load3(v), c));
    memcpy(v + 3, &linear.x, 3 * sizeof *v);
    memcpy(record, &u.x, 3 * sizeof *record);
}

static void keep_lone_bodies(const kk_model *m, kk_simulator *s, const kk_state *state) {
    const double *old = kki_state_warm_const(state) + s->warm_start.layout.first_lone;
    double *record = s->warm_start.value + s->warm_start.layout.first_lone;
    for (int i = 1; is_root(m, s, i); i++) {
        if (s->traits.has_only_free_bodies || kki_is_lone(m, i)) {
            memset(record, 0, KKI_WARM_LONE_SIZE * sizeof *record);
            if (s->momentum.in_flight[i] == ALONE) {
                keep_lone(m, s, state, i, old, record);
            }
            old += KKI_WARM_LONE_SIZE;
            record += KKI_WARM_LONE_SIZE;
        }
    }
}

// ---- the step

/// Where a part of a row ties a tree to the world, or to another tree.
static void note_part(const kk_model *m, kk_simulator *s, const kki_row_part *p) {
    const int a = m->node_tree[p->i], b = m->node_tree[p->j];
    if (a < 0 || b < 0) {
        if (a >= 0 || b >= 0) {
            s->momentum.tie[a < 0 ? b : a] |= TIED;
        }
    } else {
        s->momentum.tie[a] |= MEETS;
        s->momentum.tie[b] |= MEETS;
    }
}

/// Whether the free joint itself has a spring, a motor or a force of the caller's: these act from outside, too.
static int is_driven(const kk_simulator *s, int first) {
    int any = 0;
    for (int k = first; k < first + 6 && s->forces.may_drive; k++) {
        any |= s->forces.by_source[KK_FORCE_ACTUATOR][k] != 0 || s->forces.by_source[KK_FORCE_PASSIVE][k] != 0 ||
               s->forces.by_source[KK_FORCE_APPLIED][k] != 0;
    }
    return any;
}

/// Whether a body neither turned nor was turned: a ball without friction.
static int is_still(const kk_simulator *s, int first) {
    int still = 1;
    for (int k = first; k < first + 3; k++) {
        still &= s->motion.v_before[k] == 0 && s->motion.v_after[k] == 0;
    }
    return still;
}

/// What ties one tree of an island to the world ties all.
static void spread_ties(kk_simulator *s, const kki_island *I) {
    int any = 0;
    for (int i = 0; i < I->ntree; i++) {
        any |= s->momentum.tie[s->islands.tree_order[I->first_tree + i]];
    }
    for (int i = 0; i < I->ntree; i++) {
        s->momentum.tie[s->islands.tree_order[I->first_tree + i]] |= (int8_t)(any & TIED);
    }
}

static void find_ties(const kk_model *m, kk_simulator *s) {
    memset(s->momentum.tie, 0, (size_t)m->ntree * sizeof *s->momentum.tie);
    for (int i = 0; i < s->constraints.nparts && !(m->ntree == 1 && s->momentum.tie[0] & TIED);
         i++) { // all of it is said then
        const kki_row_part *p = &s->constraints.part[i];
        if (i == 0 || p->i != p[-1].i || p->j != p[-1].j) { // rows between the same two follow one another
            note_part(m, s, p);
        }
    }
    for (int i = 0; i < s->islands.count; i++) {
        spread_ties(s, &s->islands.list[i]);
    }
}

/// A lone body that touches nothing keeps its momentum by itself but for rounding; one that has met others may have been moved out of them, too.
/// @param dof  its first
static int flight_of(const kk_model *m, const kk_simulator *s, int root, int floats, int is_leaf, int dof) {
    if (s->momentum.tie[m->node_tree[root]] & TIED) {
        return ON_GROUND;
    }
    const int is_free = floats && !is_driven(s, dof);
    const int island = is_free && s->islands.count > 0 ? s->islands.tree_island[m->node_tree[root]] : -1;
    // rounding would stir what rests
    const int piled = is_leaf && ((island >= 0 && s->islands.list[island].is_sparse) ||
                                  (is_free && kki_free_bodies_have_tree(s, m->node_tree[root])));
    const int tie = is_free && !piled ? s->momentum.tie[m->node_tree[root]] : TIED,
              alone = is_leaf && (!tie || is_still(s, dof));
    return tie & TIED ? ON_GROUND : alone ? ALONE : IN_FLIGHT;
}

/// Which trees are in flight: floating ones that nothing ties to the world. Gives what there is.
static int list_flying(const kk_model *m, kk_simulator *s) {
    int any = 0;
    find_ties(m, s);
    for (int i = 1; is_root(m, s, i); i++) {
        const kki_node *n = &m->node[i];
        s->momentum.in_flight[i] =
            (int8_t)(s->traits.has_only_free_bodies
                         ? flight_of(m, s, i, 1, 1, 6 * (i - 1))
                         : flight_of(m, s, i, n->parent == 0 && n->type == KKI_NODE_FREE, n->is_leaf, n->v_index));
        any |= s->momentum.in_flight[i];
    }
    return any;
}

/// s->momentum.flight of all trees in flight: from the state's memory, or summed.
static void find_starts(const kk_model *m, kk_simulator *s, const kk_state *state) {
    const double *record = kki_state_warm_const(state) + s->warm_start.layout.first_flight;
    int is_placed = 0;
    for (int i = 1; is_root(m, s, i); i++) {
        const int flyer = kki_is_flyer(m, i);
        if (s->momentum.in_flight[i] == IN_FLIGHT && !(flyer && recall(m, state, i, record, &s->momentum.flight[i]))) {
            if (!is_placed) {
                kk_kinematics_velocity(m, s->readout.view, kk_state_q_const(state), kk_state_v_const(state));
            }
            is_placed = 1;
            const whole w = gather(m, s->readout.view, i);
            s->momentum.flight[i] = (kki_flight){w.momentum, center_of(&w)};
        }
        record += flyer ? KKI_WARM_FLIGHT_SIZE : 0;
    }
}

/// Sets a tree's base so that the tree has this momentum.
static void settle(const kk_model *m, kk_simulator *s, int root, kk_force want, whole *w) {
    // where an impact has cut the step, the way moved is not that of a mean velocity
    if (s->report.events == 0 && !m->node[root].is_leaf) {
        correct_position(m, s, root, &s->momentum.flight[root], want.linear, w);
    }
    s->momentum.in_flight[root] = (int8_t)correct_velocity(m, s, root, want, w);
    s->momentum.flight[root] = (kki_flight){want, center_of(w)};
}

static int root_of(const kk_model *m, int tree) {
    return m->dof_node[m->tree_first_dof[tree]];
}

/// Of trees in flight that meet each other and nothing else, the last one whose momentum the state remembers; 0: there is none.
static int closer_of(const kk_model *m, const kk_simulator *s, const kki_island *I) {
    int closer = 0;
    for (int i = 0; i < I->ntree && I->ntree > 1 && !s->forces.is_pushed; i++) {
        const int root = root_of(m, s->islands.tree_order[I->first_tree + i]);
        if (s->momentum.in_flight[root] != IN_FLIGHT) {
            return 0;
        }
        closer = kki_is_flyer(m, root) ? root : closer;
    }
    return closer;
}

/// What trees give each other is the same to the last bit, but each adds it to its own momentum and rounds. A robot that a ball has leaned against for a hundred
/// steps would be off by a hundred such roundings, so it takes what the others have left of the momentum of all: their sum then rounds to the very same
/// number in every step.
static void keep_together(const kk_model *m, kk_simulator *s, const kki_island *I, int closer) {
    kk_force left = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < I->ntree; i++) {
        const int root = root_of(m, s->islands.tree_order[I->first_tree + i]);
        whole w = gather(m, s->readout.view, root);
        left = kk_force_add(left, s->momentum.flight[root].momentum);
        left = kk_force_add(left, gravity_adds(m, s, &s->momentum.flight[root], w.mass));
        s->momentum.tie[m->node_tree[root]] |= SETTLED;
        if (root != closer) {
            settle(m, s, root, momentum_after(m, s, root, &s->momentum.flight[root], w.mass), &w);
        }
    }
    kk_kinematics_velocity(m, s->readout.view, s->motion.q, s->motion.v);
    for (int i = 0; i < I->ntree; i++) {
        const int root = root_of(m, s->islands.tree_order[I->first_tree + i]);
        left = root == closer ? left : kk_force_sub(left, gather(m, s->readout.view, root).momentum);
    }
    whole w = gather(m, s->readout.view, closer);
    settle(m, s, closer, left, &w);
}

void kki_keep_momentum(const kk_model *model, kk_simulator *s, const kk_state *state) {
    if (s->warm_start.layout.first_flight == s->warm_start.layout.first_body) {
        return; // nothing ever flies
    }
    const int any = list_flying(model, s);
    if (any) {
        kki_settle_outside(s);
    }
    keep_lone_bodies(model, s, state);
    if (!(any & IN_FLIGHT)) {
        return;
    }
    find_starts(model, s, state);
    kk_kinematics_velocity(model, s->readout.view, s->motion.q, s->motion.v);
    for (int i = 0; i < s->islands.count; i++) {
        const int closer = closer_of(model, s, &s->islands.list[i]);
        if (closer) {
            keep_together(model, s, &s->islands.list[i], closer);
        }
    }
    for (int i = 1; is_root(model, s, i); i++) {
        if (s->momentum.in_flight[i] == IN_FLIGHT && !(s->momentum.tie[model->node_tree[i]] & SETTLED)) {
            whole w = gather(model, s->readout.view, i);
            settle(model, s, i, momentum_after(model, s, i, &s->momentum.flight[i], w.mass), &w);
        }
    }
}
