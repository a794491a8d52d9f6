// Rows 16, 17, 24: what stands by weight and friction alone.
#include "bin.h"
#include "rows.h"
#include "scene.h"

static const double PI = 3.14159265358979323846;

// ---- 16

typedef struct outline {
    double x[4], z[4];
} outline;

/// Corners of a stone between two radial joints, against its center of mass, which comes back.
static kk_vec3 stone_outline(double from, double to, double inner, double outer, outline *o) {
    const double r[4] = {inner, outer, outer, inner}, a[4] = {from, from, to, to};
    double area = 0, mx = 0, mz = 0;
    for (int i = 0; i < 4; i++) {
        o->x[i] = r[i] * kk_cos(a[i]);
        o->z[i] = r[i] * kk_sin(a[i]);
    }
    for (int i = 0; i < 4; i++) {
        const int k = (i + 1) % 4;
        const double cross = o->x[i] * o->z[k] - o->x[k] * o->z[i];
        area += cross / 2;
        mx += cross * (o->x[i] + o->x[k]) / 6;
        mz += cross * (o->z[i] + o->z[k]) / 6;
    }
    for (int i = 0; i < 4; i++) {
        o->x[i] -= mx / area;
        o->z[i] -= mz / area;
    }
    return kk_vec3_make(mx / area, 0, mz / area);
}

static int add_stone(scene *s, const outline *o, double thickness, double length, int material) {
    // counter-clockwise from outside; corners 0-3 in front (y −), 4-7 behind
    static const int32_t faces[12][3] = {{0, 1, 2}, {0, 2, 3}, {4, 6, 5}, {4, 7, 6}, {0, 4, 5}, {0, 5, 1},
                                         {1, 5, 6}, {1, 6, 2}, {2, 6, 7}, {2, 7, 3}, {3, 7, 4}, {3, 4, 0}};
    const double depth = 0.3;
    kk_vec3 corner[8];
    for (int i = 0; i < 8; i++) {
        corner[i] = kk_vec3_make(o->x[i % 4], i < 4 ? -depth / 2 : depth / 2, o->z[i % 4]);
    }
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                   kk_inertia_solid_box(2000 * thickness * length * depth, thickness, depth, length));
    char name[32];
    snprintf(name, sizeof name, "stone%d", body);
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = name;
    mesh.vertex = corner;
    mesh.vertex_count = 8;
    mesh.face = faces;
    mesh.face_count = 12;
    kk_error error = {0};
    kk_shape_def hull = scene_shape_def(KK_SHAPE_HULL, body, 0, 0, 0, material);
    if (!s->is_broken && kk_spec_add_mesh(s->spec, &mesh, &hull.mesh, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    scene_shape(s, &hull);
    return body;
}

/// How far any stone has come in `time`.
static double arch(exam *e, int stones, double thickness, double time, int panel, double *residual) {
    scene s;
    kk_vec3 center[101];
    int stone[101];
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.8, 0);
    scene_floor(&s, material);
    for (int i = 0; i < stones; i++) {
        outline o;
        center[i] = stone_outline(PI * i / stones, PI * (i + 1) / stones, 1 - thickness / 2, 1 + thickness / 2, &o);
        stone[i] = add_stone(&s, &o, thickness, PI / stones, material);
    }
    scene_ready_dt(&s, 1e-3);
    for (int i = 0; i < stones; i++) {
        scene_place(&s, stone[i], center[i].x, 0, center[i].z);
    }
    char name[64];
    snprintf(name, sizeof name, "%d stones, t/R %.3f", stones, thickness);
    double moved = 0;
    while (scene_time(&s) < time && moved < 0.02 && scene_step(&s)) {
        for (int i = 0; i < stones; i++) {
            const double *q = scene_q(&s, stone[i]);
            moved = exam_max(moved, kk_hypot(q[4] - center[i].x, kk_hypot(q[5], q[6] - center[i].z)));
        }
        exam_point(e, panel, name, scene_time(&s), moved);
    }
    *residual = exam_max(*residual, s.is_broken ? 1 : s.residual);
    scene_end(&s);
    return moved;
}

static void run_arch(exam *e) {
    static const int counts[] = {25, 101};
    const int panel = exam_plot(e, "largest displacement of a stone", "time [s]", "displacement [m]", true);
    double residual = 0;
    for (int i = 0; i < 2; i++) {
        char name[EXAM_TEXT];
        snprintf(name, sizeof name, "%d stones, t/R 0.110 stands: moves in 2 s, m", counts[i]);
        exam_at_most(e, name, arch(e, counts[i], 0.110, 2, panel, &residual), 1e-6);
        snprintf(name, sizeof name, "%d stones, t/R 0.105 collapses: moves in 5 s, m", counts[i]);
        exam_at_least(e, name, arch(e, counts[i], 0.105, 5, panel, &residual), 0.02);
    }
    exam_at_most(e, "worst residual, m/s", residual, 1e-9);
}

// ---- 17

/// A card with round edges: two capsules across, `length` apart. The edge at the top touches its neighbor's at its own height, the one
/// at the bottom the floor right below it, so that both directions are clear. Weight and apex force balance about the foot where
///     H (length cos α + radius) = m g c sin α,
/// and the center of mass sits c = (length + radius/cos α)/2 up the card, which makes H = m g tan(α)/2.
static int add_round_card(scene *s, double length, double radius, double lean, int material) {
    kk_inertia inertia = kk_inertia_solid_box(0.01, 2 * radius, 0.06, length);
    inertia.com.z = 0.5 * (length + radius / kk_cos(lean));
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0), inertia);
    for (int i = 0; i < 2; i++) {
        kk_shape_def edge = scene_shape_def(KK_SHAPE_CAPSULE, body, radius, 0.06, 0, material);
        edge.placement = kk_transform_make(kk_mat3_from_rpy(PI / 2, 0, 0), kk_vec3_make(0, 0, i * length));
        scene_shape(s, &edge);
    }
    return body;
}

static void add_pair(scene *s, int a, int b, double mu) {
    kk_material_pair_def pair = kk_material_pair_def_default();
    kk_error error = {0};
    pair.material[0] = a;
    pair.material[1] = b;
    pair.together = kk_material_def_default();
    pair.together.friction = mu;
    if (!s->is_broken && kk_spec_add_material_pair(s->spec, &pair, NULL, &error) != KK_OK) {
        scene_break(s, error.text);
    }
}

/// Fastest of two leaning cards after a fifth of a second.
static double leaning(exam *e, double mu, double lean) {
    scene s;
    const double length = 0.1, radius = 0.001;
    scene_begin(&s, e, 9.81);
    const int smooth = scene_material(&s, 0, 0), floor = scene_material(&s, mu, 0);
    add_pair(&s, smooth, floor, mu);
    scene_floor(&s, floor);
    for (int i = 0; i < 2; i++) {
        add_round_card(&s, length, radius, lean, smooth);
    }
    scene_ready_dt(&s, 1e-3);
    for (int i = 0; i < 2; i++) {
        const double side = i ? 1 : -1;
        scene_turn(&s, 1 + i, kk_vec3_make(0, -side * lean, 0));
        scene_place(&s, 1 + i, side * (length * kk_sin(lean) + radius), 0, radius);
    }
    scene_run_until(&s, 0.2);
    const double fastest = s.is_broken ? 1 : scene_fastest(&s);
    scene_end(&s);
    return fastest;
}

static void run_cards(exam *e) {
    static const double leans[] = {0.2, 0.4, 0.6};
    const int panel = exam_plot(e, "threshold of two leaning cards", "lean [rad]", "mu", false);
    double worst = 0, holds = 0, slips = 1;
    for (int i = 0; i < 3; i++) {
        const double exact = kk_tan(leans[i]) / 2;
        holds = exam_max(holds, leaning(e, exact + 1e-4, leans[i]));
        const double speed = leaning(e, exact - 1e-4, leans[i]);
        slips = speed < slips ? speed : slips;
        double low = exact - 0.01, high = exact + 0.01;
        while (high - low > 1e-6 && !e->trouble[0]) {
            const double middle = 0.5 * (low + high);
            *(leaning(e, middle, leans[i]) > 1e-6 ? &low : &high) = middle;
        }
        worst = exam_max(worst, exam_abs(0.5 * (low + high) - exact));
        exam_point(e, panel, "measured", leans[i], 0.5 * (low + high));
        exam_point(e, panel, "tan(lean)/2", leans[i], exact);
    }
    exam_at_most(e, "threshold by bisection - tan(lean)/2", worst, 1e-4);
    exam_at_most(e, "speed at the threshold + 1e-4 after 0.2 s, m/s", holds, 1e-9);
    exam_at_least(e, "speed at the threshold - 1e-4 after 0.2 s, m/s", slips, 1e-6);
}

// ---- 24

/// A card that leans to +x for sign +1, to −x for −1.
static int add_card(scene *s, double length, double thickness, int material) {
    return scene_box(s, 0.01, thickness, 0.06, length, material);
}

/// Its inner top edge at the apex; the center is half a length down the card and half a thickness out of it.
static void lean_card(scene *s, int card, double length, double thickness, double sign, double lean, double apex,
                      double height) {
    const double c = kk_cos(lean), t = kk_sin(lean);
    scene_turn(s, card, kk_vec3_make(0, sign * lean, 0));
    scene_place(s, card, apex - sign * (length / 2 * t + thickness / 2 * c), 0,
                height + length / 2 * c + thickness / 2 * t);
}

/// Boxes fall on a slope and come to rest (S0, experiment 1).
static void boxes_on_slope(exam *e, int panel) {
    enum { BOXES = 12 };
    scene s;
    int box[BOXES];
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.6, 0);
    kk_shape_def plane = scene_shape_def(KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    plane.placement.R = kk_mat3_from_rpy(0, 0.3, 0);
    scene_shape(&s, &plane);
    for (int i = 0; i < BOXES; i++) {
        box[i] = scene_box(&s, 1, 0.3, 0.2, 0.1 + 0.02 * (i % 3), material);
    }
    scene_ready_dt(&s, 1e-3);
    for (int i = 0; i < BOXES; i++) {
        scene_turn(&s, box[i], kk_vec3_make(0.1 * (i % 4), 0.07 * (i % 5), 0.3 * i));
        scene_place(&s, box[i], 0.25 * (i % 3), 0.15 * (i % 2), 0.3 + 0.25 * i);
    }
    while (scene_time(&s) < 6 && scene_step(&s)) {
        exam_point(e, panel, "boxes on a slope", scene_time(&s), scene_fastest(&s));
    }
    exam_at_most(e, "boxes on a slope: worst residual, m/s", s.is_broken ? 1 : s.residual, 1e-9);
    exam_at_most(e, "boxes on a slope: speed after 6 s, m/s", s.is_broken ? 1 : scene_fastest(&s), 1e-9);
    scene_end(&s);
}

/// A ring of hinged rods, closed by a loop, falls on the floor and comes to rest.
static void closed_link(exam *e, int panel) {
    enum { RODS = 5 };
    scene s;
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.6, 0);
    scene_floor(&s, material);
    const double length = 0.3, turn = 2 * PI / RODS;
    kk_inertia inertia = kk_inertia_solid_box(0.5, length, 0.04, 0.04);
    inertia.com.x = length / 2;
    int body = 0, first = 0;
    for (int i = 0; i < RODS; i++) {
        kk_body_def def = kk_body_def_default();
        def.parent = body;
        def.joint.type = i ? KK_JOINT_HINGE : KK_JOINT_FREE;
        def.joint.axis = kk_vec3_make(0, 1, 0);
        def.joint.placement.p.x = i ? length : 0;
        def.joint.dof[0].damping = i ? 0.2 : 0;
        def.inertia = inertia;
        body = scene_body(&s, &def);
        first = i ? first : body;
        kk_shape_def capsule = scene_shape_def(KK_SHAPE_CAPSULE, body, 0.02, length - 0.1, 0, material);
        capsule.placement = kk_transform_make(kk_mat3_from_rpy(0, PI / 2, 0), kk_vec3_make(length / 2, 0, 0));
        scene_shape(&s, &capsule);
    }
    // the two axes across the hinge are held by the tree already: the point closes the ring
    scene_loop(&s, KK_LOOP_POINT, body, kk_vec3_make(length, 0, 0), first, kk_vec3_make(0, 0, 0));
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, first, 0, 0, 0.8);
    scene_turn(&s, first, kk_vec3_make(0.4, 0, 0)); // so that it falls on its side, and does not balance on its edge
    for (int i = 1; i < RODS; i++) {
        scene_q(&s, first + i)[0] = turn;
    }
    while (scene_time(&s) < 8 && scene_step(&s)) {
        exam_point(e, panel, "closed link", scene_time(&s), scene_fastest(&s));
    }
    exam_at_most(e, "closed link: worst residual, m/s", s.is_broken ? 1 : s.residual, 1e-9);
    exam_at_most(e, "closed link: speed after 8 s, m/s", s.is_broken ? 1 : scene_fastest(&s), 1e-6);
    scene_end(&s);
}

/// Tents of two cards, level upon level, with cards flat between; the outermost reach over both cards of their tents.
enum { LEVELS = 4, MOST_CARDS = 40 };

/// A card: of a tent, leaning to one side, or lying on tents.
typedef struct card {
    int body;
    double sign; ///< ±1 leans; 0 lies
    double x, z, length, start[3];
} card;

typedef struct cards {
    card card[MOST_CARDS];
    int count;
    double length, thickness, lean;
} cards;

/// Where they go, level by level: tents side by side, and cards from tip to tip.
static void plan_cards(cards *h) {
    const double c = kk_cos(h->lean), t = kk_sin(h->lean);
    const double spacing = 2 * h->length * t + 2 * h->thickness * c + 1e-3, storey = h->length * c + h->thickness * t;
    for (int level = 0; level < LEVELS; level++) {
        const int tents = LEVELS - level;
        const double z = level * (storey + h->thickness);
        for (int i = 0; i < 2 * tents; i++) {
            const int tent = i / 2;
            const double x = (tent - 0.5 * (tents - 1)) * spacing;
            h->card[h->count++] = (card){.sign = i % 2 ? -1 : 1, .x = x, .z = z, .length = h->length};
        }
        for (int i = 0; i + 1 < tents; i++) {
            const double left = i == 0 ? -2e-3 : 1e-4, right = i + 2 == tents ? -2e-3 : 1e-4;
            const double x = (i + 0.5 - 0.5 * (tents - 1)) * spacing;
            h->card[h->count++] = (card){
                .x = x + 0.5 * (left - right), .z = z + storey + 0.5 * h->thickness, .length = spacing - left - right};
        }
    }
}

static void add_cards(scene *s, cards *h, int material) {
    for (int i = 0; i < h->count; i++) {
        card *k = &h->card[i];
        k->body = k->sign != 0 ? add_card(s, h->length, h->thickness, material)
                               : scene_box(s, 0.01, k->length, 0.06, h->thickness, material);
    }
}

static void place_cards(scene *s, cards *h) {
    for (int i = 0; i < h->count; i++) {
        card *k = &h->card[i];
        if (k->sign != 0) {
            lean_card(s, k->body, h->length, h->thickness, k->sign, h->lean, k->x, k->z);
        } else {
            scene_place(s, k->body, k->x, 0, k->z);
        }
        for (int x = 0; x < 3; x++) {
            k->start[x] = scene_q(s, k->body)[4 + x];
        }
    }
}

static void card_house(exam *e, int panel) {
    scene s;
    cards h = {.length = 0.1, .thickness = 5e-4, .lean = 0.35};
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.6, 0);
    scene_floor(&s, material);
    plan_cards(&h);
    add_cards(&s, &h, material);
    scene_ready_dt(&s, 1e-3);
    place_cards(&s, &h);
    double moved = 0;
    while (scene_time(&s) < 10 && scene_step(&s)) {
        exam_point(e, panel, "card house", scene_time(&s), scene_fastest(&s));
    }
    for (int i = 0; i < h.count; i++) {
        const double *q = scene_q(&s, h.card[i].body), *start = h.card[i].start;
        moved = exam_max(moved, kk_hypot(q[4] - start[0], kk_hypot(q[5] - start[1], q[6] - start[2])));
    }
    exam_at_most(e, "card house: worst residual, m/s", s.is_broken ? 1 : s.residual, 1e-9);
    exam_at_most(e, "card house: moves in 10 s, m", s.is_broken ? 1 : moved, 1e-6);
    scene_end(&s);
}

static void run_rest(exam *e) {
    const int panel = exam_plot(e, "coming to rest", "time [s]", "fastest [m/s, rad/s]", true);
    boxes_on_slope(e, panel);
    closed_link(e, panel);
    card_house(e, panel);
    exam_spheres_in_bin(e, panel);
}

const exam_row exam_rows_masonry[] = {
    {16, "semicircular arch, 25 and 101 stones", "t/R 0.1075", "", false, run_arch},
    {17, "two cards leaning, frictionless apex", "mu >= tan(lean)/2", "", true, run_cards},
    {24, "boxes on a slope; closed link; card house of 4 levels; 10 000 spheres in a bin", "comes to rest, stands", "",
     false, run_rest},
    {0, NULL, NULL, NULL, false, NULL},
};
