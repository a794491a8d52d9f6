/// Our own robots as tables: a base, and limbs that hang on it. A limb is a serial chain, one row a link.
///
/// Sources. Arm: modified Denavit-Hartenberg parameters, joint and torque limits of the maker's data sheet; masses add
/// up to its 18 kg. Quadruped: the definitions of SimBenchmark (test 6). Humanoids: heights, masses and joint order of
/// the published data sheets of HRP-2 (1.54 m, 58 kg) and TALOS (1.75 m, 95 kg); link lengths rounded. All inertias are
/// those of solids of uniform density.
#include "robots.h"

#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { NAME_SIZE = 64 };

/// The solid that stands in for a link's shape. Rods are cylinders along an axis, size = {radius, length}.
typedef enum solid { BOX, ROD_X, ROD_Y, ROD_Z, BALL } solid;

/// One row of a limb: where its joint sits on the link before, how it moves, and what it carries.
typedef struct link {
    const char *name;
    char axis;    ///< hinge about x, y or z; '-' fixed
    double at[3]; ///< origin of the joint in the link before, m
    double roll;  ///< turn of the joint's frame about x of the link before, rad
    double mass;  ///< kg
    solid shape;
    double size[3];   ///< of the solid, m
    double center[3]; ///< of the solid, in the link's frame, m
    double limit[2];  ///< rad
    double effort;    ///< N m
} link;

/// How a limb is fitted to a robot.
typedef struct fitting {
    const char *prefix;    ///< before every name
    double side_x, side_y; ///< +1, or −1 to mirror the limb's rows
    double length, mass;   ///< scale of both
} fitting;

static kk_mat3 turn_about(char axis, double angle) {
    switch (axis) {
    case 'x': return kk_mat3_from_rpy(angle, 0, 0);
    case 'y': return kk_mat3_from_rpy(0, angle, 0);
    default: return kk_mat3_from_rpy(0, 0, angle);
    }
}

static kk_vec3 unit_axis(char axis) {
    return kk_vec3_make(axis == 'x', axis == 'y', axis == 'z');
}

static kk_inertia solid_inertia(solid shape, double mass, const double size[3], kk_vec3 center) {
    kk_transform X = kk_transform_make(kk_mat3_identity(), center);
    switch (shape) {
    case BOX: return kk_inertia_to(X, kk_inertia_solid_box(mass, size[0], size[1], size[2]));
    case BALL: return kk_inertia_to(X, kk_inertia_solid_sphere(mass, size[0]));
    case ROD_X: X.R = turn_about('y', PI / 2); break;
    case ROD_Y: X.R = turn_about('x', PI / 2); break;
    case ROD_Z: break;
    }
    return kk_inertia_to(X, kk_inertia_solid_cylinder(mass, size[0], size[1]));
}

// one row, hung on body `parent`; the new body's id comes back in `id`
static kk_status add_link(kk_spec *spec, int parent, const link *row, fitting fit, int *id, kk_error *error) {
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s%s", fit.prefix, row->name);
    const double size[3] = {fit.length * row->size[0], fit.length * row->size[1], fit.length * row->size[2]};
    const double sx = fit.length * fit.side_x, sy = fit.length * fit.side_y, sz = fit.length;

    kk_body_def body = kk_body_def_default();
    body.name = name;
    body.parent = parent;
    body.joint.type = row->axis == '-' ? KK_JOINT_FIXED : KK_JOINT_HINGE;
    body.joint.placement.R = turn_about('x', row->roll * (PI / 2));
    body.joint.placement.p = kk_vec3_make(sx * row->at[0], sy * row->at[1], sz * row->at[2]);
    const kk_vec3 center = kk_vec3_make(sx * row->center[0], sy * row->center[1], sz * row->center[2]);
    body.inertia = solid_inertia(row->shape, fit.mass * row->mass, size, center);
    if (row->axis != '-') {
        // mirrored along x a limb turns about y and z the other way round, along y about x and z: its range is mirrored
        const double side_of_turn =
            row->axis == 'x' ? fit.side_y : (row->axis == 'y' ? fit.side_x : fit.side_x * fit.side_y);
        const int mirrored = side_of_turn < 0;
        body.joint.axis = unit_axis(row->axis);
        body.joint.dof[0].lower = mirrored ? -row->limit[1] : row->limit[0];
        body.joint.dof[0].upper = mirrored ? -row->limit[0] : row->limit[1];
        body.joint.dof[0].effort_limit = row->effort;
    }
    return kk_spec_add_body(spec, &body, id, error);
}

// all rows of a limb, one behind the other; `tip` gets the last body's id, and may hold `parent` on the way in
static kk_status add_limb(kk_spec *spec, int parent, const link *rows, int n, fitting fit, int *tip, kk_error *error) {
    int at = parent;
    for (int i = 0; i < n; i++) {
        const kk_status status = add_link(spec, at, &rows[i], fit, &at, error);
        if (status != KK_OK) {
            return status;
        }
    }
    *tip = at;
    return KK_OK;
}

static kk_status add_free_base(kk_spec *spec, const char *name, kk_inertia inertia, int *id, kk_error *error) {
    kk_body_def body = kk_body_def_default();
    body.name = name;
    body.joint.type = KK_JOINT_FREE;
    body.inertia = inertia;
    return kk_spec_add_body(spec, &body, id, error);
}

static kk_status add_site(kk_spec *spec, int body, const char *prefix, const char *name, kk_vec3 p, kk_error *error) {
    char full[NAME_SIZE];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    kk_frame_def frame = kk_frame_def_default();
    frame.name = full;
    frame.body = body;
    frame.placement.p = p;
    return kk_spec_add_frame(spec, &frame, NULL, error);
}

#define ROWS(table) (int)(sizeof(table) / sizeof *(table))
#define TRY(call)                            \
    do {                                     \
        const kk_status try_status = (call); \
        if (try_status != KK_OK) {           \
            return try_status;               \
        }                                    \
    } while (0)

// ---- seven-axis arm

// rows (a, −d sin α, d cos α) and roll α of the modified Denavit-Hartenberg table; z is every joint's axis
// clang-format off
static const link arm_rows[] = {
    //name    axis at                   roll mass solid  size              center               limits             N m
    {"link1", 'z', {0, 0, 0.333},       0,   3.4, ROD_Z, {0.055, 0.28, 0}, {0, -0.02, -0.1},    {-2.8973, 2.8973},  87},
    {"link2", 'z', {0, 0, 0},           -1,  3.3, ROD_Y, {0.055, 0.28, 0}, {0, -0.07, 0.02},    {-1.7628, 1.7628},  87},
    {"link3", 'z', {0, -0.316, 0},      1,   2.9, ROD_Z, {0.055, 0.23, 0}, {0.04, 0.02, -0.07}, {-2.8973, 2.8973},  87},
    {"link4", 'z', {0.0825, 0, 0},      1,   2.9, ROD_Y, {0.055, 0.23, 0}, {-0.04, 0.07, 0.02}, {-3.0718, -0.0698}, 87},
    {"link5", 'z', {-0.0825, 0.384, 0}, -1,  2.6, ROD_Z, {0.05, 0.3, 0},   {0, 0.04, -0.13},    {-2.8973, 2.8973},  12},
    {"link6", 'z', {0, 0, 0},           1,   1.7, BOX,   {0.18, 0.1, 0.1}, {0.05, 0, -0.01},    {-0.0175, 3.7525},  12},
    {"link7", 'z', {0.088, 0, 0},       1,   1.2, ROD_Z, {0.045, 0.1, 0},  {0.01, 0.01, 0.06},  {-2.8973, 2.8973},  12},
};
// clang-format on

kk_status robots_arm7(kk_spec *spec, kk_error *error) {
    const fitting fit = {"", 1, 1, 1, 1};
    int tip = KK_WORLD;
    TRY(add_limb(spec, KK_WORLD, arm_rows, ROWS(arm_rows), fit, &tip, error));
    return add_site(spec, tip, "", "flange", kk_vec3_make(0, 0, 0.107), error);
}

// ---- quadruped

// left fore leg; the others are its mirror images
// clang-format off
static const link quadruped_leg[] = {
    //name    axis at                   roll mass    solid  size               center               limits         N m
    {"hip",   'x', {0.2629, 0.115, 0},  0,   1.1064, BOX,   {0.12, 0.08, 0.1}, {0.04, 0, 0},        {-0.72, 0.49}, 80},
    {"thigh", 'y', {0.0585, 0.0315, 0}, 0,   1.51,   ROD_Z, {0.04, 0.25, 0},   {0, 0.08, -0.125},   {-PI, PI},     80},
    {"shank", 'y', {0, 0.111, -0.25},   0,   0.318, ROD_Z, {0.02, 0.31, 0},   {0, -0.008, -0.155}, {-PI, PI},     80},
    {"foot",  '-', {0, -0.016, -0.31},  0,   0.1923, BALL,  {0.03, 0, 0},      {0, 0, 0},           {0, 0},        0},
};
// clang-format on

kk_status robots_quadruped(kk_spec *spec, kk_error *error) {
    static const fitting legs[] = {
        {"LF_", 1, 1, 1, 1}, {"RF_", 1, -1, 1, 1}, {"LH_", -1, 1, 1, 1}, {"RH_", -1, -1, 1, 1}};
    static const double trunk_size[3] = {0.531, 0.232, 0.26};
    int base = 0;
    TRY(add_free_base(spec, "base", solid_inertia(BOX, 21.39, trunk_size, kk_vec3_make(0, 0, 0.08)), &base, error));
    for (int i = 0; i < ROWS(legs); i++) {
        int foot = base;
        TRY(add_limb(spec, base, quadruped_leg, ROWS(quadruped_leg), legs[i], &foot, error));
        TRY(add_site(spec, foot, legs[i].prefix, "sole", kk_vec3_make(0, 0, -0.03), error));
    }
    return KK_OK;
}

// ---- humanoids

// left limbs; the right ones are mirrored
// clang-format off
static const link humanoid_leg[] = {
    //name          axis at            roll mass solid  size                center                limits         N m
    {"hip_yaw",     'z', {0, 0.06, 0}, 0,   0.6, ROD_Z, {0.05, 0.08, 0},    {0, 0, 0.04},         {-0.52, 0.79}, 80},
    {"hip_roll",    'x', {0, 0, 0},    0,   0.9, ROD_X, {0.05, 0.1, 0},     {-0.02, 0, 0},        {-0.35, 0.61}, 140},
    {"thigh",       'y', {0, 0, 0},    0,   3.6, BOX,   {0.12, 0.11, 0.3},  {0.01, 0.02, -0.15},  {-2.18, 0.73}, 180},
    {"shin",        'y', {0, 0, -0.3}, 0,   2.6, BOX,   {0.11, 0.1, 0.3},   {0.01, 0.01, -0.14},  {-0.03, 2.62}, 210},
    {"ankle_pitch", 'y', {0, 0, -0.3}, 0,   0.4, ROD_Y, {0.03, 0.09, 0},    {0, 0, 0},            {-1.31, 0.73}, 130},
    {"foot",        'x', {0, 0, 0},    0,   1.5, BOX,   {0.24, 0.14, 0.06}, {0.03, 0.01, -0.075}, {-0.35, 0.61}, 80},
};
static const link humanoid_arm[] = {
    //name         axis at               roll mass solid  size                center            limits         N m
    {"shoulder",   'y', {0, 0.25, 0.19}, 0,   0.8, ROD_Y, {0.05, 0.1, 0},     {0, -0.03, 0},    {-3.14, 1.04}, 70},
    {"shoulder_x", 'x', {0, 0, 0},       0,   0.7, ROD_X, {0.05, 0.09, 0},    {0, 0, 0},        {-0.17, 1.65}, 70},
    {"upper_arm",  'z', {0, 0, 0},       0,   1.4, ROD_Z, {0.045, 0.25, 0},   {0, 0, -0.13},    {-1.6, 1.6},   40},
    {"elbow",      'y', {0, 0, -0.25},   0,   1.0, ROD_Z, {0.04, 0.12, 0},    {0.01, 0, -0.05}, {-2.4, 0.03},  40},
    {"forearm",    'z', {0, 0, 0},       0,   0.7, ROD_Z, {0.035, 0.14, 0},   {0, 0, -0.18},    {-1.6, 1.6},   20},
    {"wrist",      'y', {0, 0, -0.25},   0,   0.2, ROD_Y, {0.025, 0.06, 0},   {0, 0, 0},        {-1.6, 1.6},   20},
    {"hand",       'x', {0, 0, 0},       0,   0.9, BOX,   {0.08, 0.04, 0.14}, {0.01, 0, -0.08}, {-0.8, 0.8},   10},
};
static const link humanoid_trunk[] = {
    {"waist", 'z', {0.03, 0, 0.30}, 0,   1.0, ROD_Z, {0.06, 0.06, 0}, {0, 0, 0},        {-0.79, 0.79}, 200},
    {"chest", 'y', {0, 0, 0.05},    0,   14.0, BOX,   {0.2, 0.3, 0.3}, {-0.02, 0, 0.13}, {-0.09, 1.05}, 200},
};
static const link humanoid_neck[] = {
    {"neck", 'z', {-0.01, 0, 0.30}, 0,   0.4, ROD_Z, {0.03, 0.06, 0},  {0, 0, -0.02},   {-0.79, 0.79}, 10},
    {"head", 'y', {0, 0, 0},        0,   2.0, BOX,   {0.2, 0.15, 0.2}, {0.03, 0, 0.09}, {-0.52, 0.79}, 10},
};
static const link humanoid_gripper[] = {
    {"gripper", 'y', {0, 0, -0.12}, 0,   0.4, BOX,   {0.03, 0.02, 0.08}, {0.02, 0, -0.04}, {-0.96, 0}, 10},
};
// clang-format on

static kk_status add_humanoid(kk_spec *spec, double length, double mass, int grippers, kk_error *error) {
    const double pelvis_size[3] = {0.18 * length, 0.28 * length, 0.24 * length};
    const kk_inertia pelvis =
        solid_inertia(BOX, 10.0 * mass, pelvis_size, kk_vec3_make(-0.02 * length, 0, 0.13 * length));
    const fitting middle = {"", 1, 1, length, mass};
    int base = 0, chest = 0, head = 0;
    TRY(add_free_base(spec, "pelvis", pelvis, &base, error));
    for (int side = 1; side >= -1; side -= 2) {
        const fitting fit = {side > 0 ? "left_" : "right_", 1, side, length, mass};
        int foot = base;
        TRY(add_limb(spec, base, humanoid_leg, ROWS(humanoid_leg), fit, &foot, error));
        TRY(add_site(spec, foot, fit.prefix, "sole", kk_vec3_make(0.03 * length, side * 0.01 * length, -0.105 * length),
                     error));
    }
    TRY(add_limb(spec, base, humanoid_trunk, ROWS(humanoid_trunk), middle, &chest, error));
    TRY(add_limb(spec, chest, humanoid_neck, ROWS(humanoid_neck), middle, &head, error));
    TRY(add_site(spec, head, "", "eyes", kk_vec3_make(0.13 * length, 0, 0.1 * length), error));
    for (int side = 1; side >= -1; side -= 2) {
        const fitting fit = {side > 0 ? "left_" : "right_", 1, side, length, mass};
        int hand = chest;
        TRY(add_limb(spec, chest, humanoid_arm, ROWS(humanoid_arm), fit, &hand, error));
        TRY(add_site(spec, hand, fit.prefix, "palm", kk_vec3_make(0.03 * length, 0, -0.12 * length), error));
        if (grippers) {
            TRY(add_limb(spec, hand, humanoid_gripper, ROWS(humanoid_gripper), fit, &hand, error));
        }
    }
    return KK_OK;
}

kk_status robots_humanoid36(kk_spec *spec, kk_error *error) {
    return add_humanoid(spec, 1.0, 1.0, 0, error);
}

// the two grippers of 0.4 kg are scaled with the rest: 58.8 kg become 95
kk_status robots_humanoid38(kk_spec *spec, kk_error *error) {
    return add_humanoid(spec, 1.75 / 1.54, 95.0 / 58.8, 1, error);
}

// ---- chain

kk_status robots_chain(kk_spec *spec, int n, kk_error *error) {
    static const double rod[3] = {0.02, 0.1, 0};
    int parent = KK_WORLD;
    for (int i = 0; i < n; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "rod%d", i + 1);
        kk_body_def body = kk_body_def_default();
        body.name = name;
        body.parent = parent;
        body.joint.axis = unit_axis("xyz"[i % 3]);
        body.joint.placement.p = kk_vec3_make(0, 0, i == 0 ? 0.0 : -0.1);
        body.inertia = solid_inertia(ROD_Z, 0.2, rod, kk_vec3_make(0, 0, -0.05));
        TRY(kk_spec_add_body(spec, &body, &parent, error));
    }
    return KK_OK;
}

// ---- random forest

/// splitmix64: small, good enough for models, the same everywhere.
typedef struct dice {
    uint64_t state;
} dice;

static uint64_t dice_next(dice *d) {
    uint64_t z = (d->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double dice_uniform(dice *d, double low, double high) {
    return low + (high - low) * ((double)(dice_next(d) >> 11) * 0x1p-53);
}
static int dice_below(dice *d, int n) {
    return (int)(dice_next(d) % (uint64_t)n);
}
static kk_vec3 dice_vec3(dice *d, double reach) {
    const double x = dice_uniform(d, -reach, reach), y = dice_uniform(d, -reach, reach);
    return kk_vec3_make(x, y, dice_uniform(d, -reach, reach));
}
// a direction: a point of the cube that is not too near its middle
static kk_vec3 dice_direction(dice *d) {
    for (;;) {
        const kk_vec3 v = dice_vec3(d, 1.0);
        const double length = kk_vec3_norm(v);
        if (length > 0.3 && length < 1.0) {
            return kk_vec3_scale(v, 1.0 / length);
        }
    }
}
static kk_mat3 dice_rotation(dice *d) {
    const kk_vec3 axis = dice_direction(d);
    return kk_mat3_from_axis_angle(axis, dice_uniform(d, -PI, PI));
}
static kk_transform dice_transform(dice *d, double reach, int turned) {
    const kk_vec3 p = dice_vec3(d, reach);
    return kk_transform_make(turned ? dice_rotation(d) : kk_mat3_identity(), p);
}
// a box of random size, turned and moved: every moment and product of inertia present, the triangle inequality kept
static kk_inertia dice_inertia(dice *d) {
    const double x = dice_uniform(d, 0.1, 0.5), y = dice_uniform(d, 0.1, 0.5), z = dice_uniform(d, 0.1, 0.5);
    const double mass = dice_uniform(d, 0.5, 5.0);
    return kk_inertia_to(dice_transform(d, 0.2, 1), kk_inertia_solid_box(mass, x, y, z));
}
static kk_joint_type dice_joint_type(dice *d, unsigned mask) {
    for (;;) {
        const int type = dice_below(d, KK_JOINT_FREE + 1);
        if (mask & (1u << type)) {
            return (kk_joint_type)type;
        }
    }
}

static kk_joint_def dice_joint(dice *d, const robots_forest_def *def) {
    kk_joint_def joint = kk_joint_def_default();
    joint.type = dice_joint_type(d, def->joint_types);
    joint.placement = dice_transform(d, 0.5, def->turned);
    // axis and a second one at right angles
    if (def->aligned_axes) {
        const int first = dice_below(d, 3), second = (first + 1 + dice_below(d, 2)) % 3;
        const double sign = dice_below(d, 2) ? 1.0 : -1.0;
        joint.axis = kk_vec3_scale(unit_axis("xyz"[first]), sign);
        joint.axis2 = unit_axis("xyz"[second]);
    } else {
        const kk_mat3 R = dice_rotation(d);
        joint.axis = kk_mat3_column(R, 2);
        joint.axis2 = kk_mat3_column(R, 0);
    }
    joint.pitch = dice_uniform(d, -0.3, 0.3);
    for (int i = 0; i < KK_MAX_JOINT_DOFS; i++) {
        const double armature = dice_uniform(d, 0.01, 0.5);
        joint.dof[i].armature = def->armature ? armature : 0.0;
    }
    return joint;
}

robots_forest_def robots_forest_def_default(void) {
    robots_forest_def def = {12, 2, ROBOTS_EVERY_JOINT, 0, 1, 1, 1, 4};
    return def;
}

// half of the bodies prolong the branch grown last, so that forests are deep as well as bushy
static int dice_parent(dice *d, int roots, int made) {
    if (made < roots) {
        return KK_WORLD;
    }
    return dice_below(d, 2) ? made : 1 + dice_below(d, made);
}

kk_status robots_random_forest(kk_spec *spec, uint64_t seed, const robots_forest_def *def, kk_error *error) {
    dice d = {seed};
    const int first = kk_spec_body_count(spec);
    for (int i = 0; i < def->bodies; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "body%d", first + i);
        kk_body_def body = kk_body_def_default();
        const int parent = dice_parent(&d, def->roots, i);
        body.name = name;
        body.parent = parent == KK_WORLD ? KK_WORLD : first - 1 + parent;
        body.joint = dice_joint(&d, def);
        body.inertia = dice_inertia(&d);
        const kk_transform offset = dice_transform(&d, 0.3, def->turned);
        body.offset = def->offsets ? offset : kk_transform_identity();
        TRY(kk_spec_add_body(spec, &body, NULL, error));
    }
    for (int i = 0; i < def->frames; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "frame%d", kk_spec_frame_count(spec));
        kk_frame_def frame = kk_frame_def_default();
        frame.name = name;
        frame.body = first + dice_below(&d, def->bodies);
        frame.placement = dice_transform(&d, 0.3, 1);
        TRY(kk_spec_add_frame(spec, &frame, NULL, error));
    }
    return KK_OK;
}

// ---- by name

const robots_entry robots_table[] = {
    {"arm7", robots_arm7, "seven-axis arm, fixed base"},
    {"quadruped", robots_quadruped, "ANYmal of SimBenchmark, free base"},
    {"humanoid36", robots_humanoid36, "humanoid of 58 kg, free base and 30 hinges"},
    {"humanoid38", robots_humanoid38, "humanoid of 95 kg, free base and 32 hinges"},
    {NULL, NULL, NULL},
};

const robots_entry *robots_find(const char *name) {
    for (const robots_entry *entry = robots_table; entry->name; entry++) {
        if (strcmp(entry->name, name) == 0) {
            return entry;
        }
    }
    return NULL;
}
