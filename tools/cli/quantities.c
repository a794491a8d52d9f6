// The quantities of `karakuri compute`; one row of the table, one function for columns, one for a state.
#include "quantities.h"

#include <stdlib.h>
#include <string.h>

#include "suggest.h"

// ---- columns

static void add_parts(column_list *list, const char *name, const char *const *parts, const char *const *units,
                      int count) {
    cli_text text = {0};
    for (int i = 0; i < count; i++) {
        text.size = 0;
        text_format(&text, "%s.%s", name, parts[i]);
        columns_add(list, text_string(&text), units[i]);
    }
    text_free(&text);
}

static const char *const motion_parts[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
static const char *const force_parts[] = {"nx", "ny", "nz", "fx", "fy", "fz"};

static void tau_columns(const instant *s, const quantity *x, column_list *list) {
    (void)x;
    columns_of_joints(s->model, COLUMN_TAU, "tau", list);
}

/// bias, gravity and passive forces: hip.bias
static void force_columns(const instant *s, const quantity *x, column_list *list) {
    columns_of_joints(s->model, COLUMN_TAU, x->kind->name, list);
}

static void acceleration_columns(const instant *s, const quantity *x, column_list *list) {
    (void)x;
    columns_of_joints(s->model, COLUMN_A, "a", list);
}

static void power_columns(const instant *s, const quantity *x, column_list *list) {
    (void)x;
    columns_of_joints(s->model, COLUMN_POWER, "power", list);
    columns_add(list, "power.total", "W");
}

static void point_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const parts[] = {"x", "y", "z"}, *const units[] = {"m", "m", "m"};
    (void)s;
    add_parts(list, x->kind->name, parts, units, 3);
}

static void com_velocity_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const parts[] = {"vx", "vy", "vz"}, *const units[] = {"m/s", "m/s", "m/s"};
    (void)s, (void)x;
    add_parts(list, "com", parts, units, 3);
}

static void energy_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const parts[] = {"kinetic", "potential", "total"}, *const units[] = {"J", "J", "J"};
    (void)s, (void)x;
    add_parts(list, "energy", parts, units, 3);
}

static void momentum_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const parts[] = {"lx", "ly", "lz", "px", "py", "pz"};
    static const char *const units[] = {"N m s", "N m s", "N m s", "N s", "N s", "N s"};
    (void)s, (void)x;
    add_parts(list, "momentum", parts, units, 6);
}

static void floor_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const units[] = {"N m", "N m", "N m", "N", "N", "N"};
    (void)s, (void)x;
    add_parts(list, "floor", force_parts, units, 6);
}

static void wrench_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const units[] = {"N m", "N m", "N m", "N", "N", "N"};
    cli_text name = {0};
    (void)s;
    text_format(&name, "%s.wrench", x->argument);
    add_parts(list, text_string(&name), force_parts, units, 6);
    text_free(&name);
}

static void pose_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const parts[] = {"qw", "qx", "qy", "qz", "x", "y", "z"};
    static const char *const units[] = {"", "", "", "", "m", "m", "m"};
    (void)s;
    add_parts(list, x->argument, parts, units, 7);
}

static void velocity_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const units[] = {"rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s"};
    (void)s;
    add_parts(list, x->argument, motion_parts, units, 6);
}

static void frame_acceleration_columns(const instant *s, const quantity *x, column_list *list) {
    static const char *const parts[] = {"dwx", "dwy", "dwz", "ax", "ay", "az"};
    static const char *const units[] = {"rad/s^2", "rad/s^2", "rad/s^2", "m/s^2", "m/s^2", "m/s^2"};
    (void)s;
    add_parts(list, x->argument, parts, units, 6);
}

/// Names of all degrees of freedom in the order of v: "hip", "base.wx".
static column_list dof_names(const kk_model *model) {
    column_list names = {0};
    columns_of_joints(model, COLUMN_V, "", &names);
    return names;
}

static void jacobian_columns(const instant *s, const quantity *x, column_list *list) {
    column_list dofs = dof_names(s->model);
    cli_text name = {0};
    for (int row = 0; row < 6; row++) {
        for (int i = 0; i < dofs.count; i++) {
            name.size = 0;
            text_format(&name, "%s.J.%s:%s", x->argument, motion_parts[row], dofs.item[i].name);
            columns_add(list, text_string(&name), "");
        }
    }
    text_free(&name);
    columns_free(&dofs);
}

static void inertia_columns(const instant *s, const quantity *x, column_list *list) {
    (void)x;
    column_list dofs = dof_names(s->model);
    cli_text name = {0};
    for (int i = 0; i < dofs.count; i++) {
        for (int k = i; k < dofs.count; k++) {
            name.size = 0;
            text_format(&name, "M.%s:%s", dofs.item[i].name, dofs.item[k].name);
            columns_add(list, text_string(&name), "");
        }
    }
    text_free(&name);
    columns_free(&dofs);
}

// ---- one state

static void put_vector(double *out, kk_vec3 v) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static void put_motion(double *out, kk_motion m) {
    put_vector(out, m.angular);
    put_vector(out + 3, m.linear);
}

static void put_force(double *out, kk_force f) {
    put_vector(out, f.angular);
    put_vector(out + 3, f.linear);
}

static kk_status compute_rnea(const instant *s, const quantity *x, double *out) {
    (void)x;
    kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, out);
    return KK_OK;
}

static kk_status compute_aba(const instant *s, const quantity *x, double *out) {
    (void)x;
    if (kk_model_ncoupling(s->model) > 0) {
        return kk_forward_dynamics_coupled(s->model, s->data, s->q, s->v, s->tau, out);
    }
    kk_forward_dynamics(s->model, s->data, s->q, s->v, s->tau, out);
    return KK_OK;
}

static kk_status compute_crba(const instant *s, const quantity *x, double *out) {
    (void)x;
    const int nv = kk_model_nv(s->model);
    const kk_status status = kk_inertia_matrix(s->model, s->data, s->q, s->scratch);
    for (int i = 0; i < nv && status == KK_OK; i++) {
        for (int k = i; k < nv; k++) {
            *out++ = s->scratch[i * nv + k];
        }
    }
    return status;
}

static kk_status compute_bias(const instant *s, const quantity *x, double *out) {
    (void)x;
    kk_bias_force(s->model, s->data, s->q, s->v, out);
    return KK_OK;
}

static kk_status compute_gravity(const instant *s, const quantity *x, double *out) {
    (void)x;
    kk_gravity_force(s->model, s->data, s->q, out);
    return KK_OK;
}

static kk_status compute_passive(const instant *s, const quantity *x, double *out) {
    (void)x;
    kk_passive_force(s->model, s->data, s->q, s->v, out);
    return KK_OK;
}

static kk_status compute_power(const instant *s, const quantity *x, double *out) {
    const int nv = kk_model_nv(s->model);
    compute_rnea(s, x, out);
    out[nv] = 0;
    for (int i = 0; i < nv; i++) {
        out[i] *= s->v[i];
        out[nv] += out[i];
    }
    return KK_OK;
}

static kk_status compute_com(const instant *s, const quantity *x, double *out) {
    (void)x;
    put_vector(out, kk_center_of_mass(s->model, s->data, s->q));
    return KK_OK;
}

static kk_status compute_com_velocity(const instant *s, const quantity *x, double *out) {
    (void)x;
    const kk_force h = kk_centroidal_momentum(s->model, s->data, s->q, s->v);
    put_vector(out, kk_vec3_scale(h.linear, 1 / kk_model_mass(s->model)));
    return KK_OK;
}

/// Where the floor's moment has no horizontal part: n − p × f = (0, 0, ·) at the floor's height.
static kk_status compute_zmp(const instant *s, const quantity *x, double *out) {
    (void)x;
    kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, s->scratch);
    kk_force w = kk_floor_wrench(s->model, s->data);
    const kk_vec3 g = kk_model_gravity(s->model);
    const double weight = kk_model_mass(s->model) * kk_sqrt(kk_vec3_dot(g, g));
    if (w.linear.z * w.linear.z < 1e-18 * weight * weight) { // rounding is no force
        w.linear.z = 0.0 / 0.0;
    }
    out[0] = (s->floor * w.linear.x - w.angular.y) / w.linear.z;
    out[1] = (s->floor * w.linear.y + w.angular.x) / w.linear.z;
    out[2] = s->floor;
    return KK_OK;
}

static kk_status compute_floor(const instant *s, const quantity *x, double *out) {
    (void)x;
    kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, s->scratch);
    put_force(out, kk_floor_wrench(s->model, s->data));
    return KK_OK;
}

static kk_status compute_wrench(const instant *s, const quantity *x, double *out) {
    kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, s->scratch);
    put_force(out, kk_joint_wrench(s->model, s->data, x->body));
    return KK_OK;
}

static kk_status compute_energy(const instant *s, const quantity *x, double *out) {
    (void)x;
    out[0] = kk_kinetic_energy(s->model, s->data, s->q, s->v);
    out[1] = kk_potential_energy(s->model, s->data, s->q);
    out[2] = out[0] + out[1];
    return KK_OK;
}

static kk_status compute_momentum(const instant *s, const quantity *x, double *out) {
    (void)x;
    put_force(out, kk_centroidal_momentum(s->model, s->data, s->q, s->v));
    return KK_OK;
}

static kk_status compute_pose(const instant *s, const quantity *x, double *out) {
    kk_kinematics(s->model, s->data, s->q);
    const kk_transform pose =
        x->frame >= 0 ? kk_frame_pose(s->model, s->data, x->frame) : kk_body_pose(s->model, s->data, x->body);
    const kk_quat q = kk_quat_from_mat3(pose.R);
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
    put_vector(out + 4, pose.p);
    return KK_OK;
}

static kk_status compute_velocity(const instant *s, const quantity *x, double *out) {
    kk_kinematics_velocity(s->model, s->data, s->q, s->v);
    put_motion(out, x->frame >= 0 ? kk_frame_velocity(s->model, s->data, x->frame, s->reference)
                                  : kk_body_velocity(s->model, s->data, x->body, s->reference));
    return KK_OK;
}

static kk_status compute_acceleration(const instant *s, const quantity *x, double *out) {
    kk_kinematics_acceleration(s->model, s->data, s->q, s->v, s->a);
    put_motion(out, x->frame >= 0 ? kk_frame_classical_acceleration(s->model, s->data, x->frame, s->reference)
                                  : kk_body_classical_acceleration(s->model, s->data, x->body, s->reference));
    return KK_OK;
}

static kk_status compute_jacobian(const instant *s, const quantity *x, double *out) {
    kk_jacobians(s->model, s->data, s->q);
    if (x->frame >= 0) {
        kk_frame_jacobian(s->model, s->data, x->frame, s->reference, out);
    } else {
        kk_body_jacobian(s->model, s->data, x->body, s->reference, out);
    }
    return KK_OK;
}

// ---- the table

enum { QV = NEEDS_Q | NEEDS_V, QVA = NEEDS_Q | NEEDS_V | NEEDS_A, QVT = NEEDS_Q | NEEDS_V | NEEDS_TAU };

#define KIND(word, argument_name, usage_text, about_text, needs_mask, matrix, columns_call, compute_call) \
    { word, argument_name, usage_text, about_text, needs_mask, matrix, columns_call, compute_call }

// clang-format off
static const quantity_kind kinds[] = {
    KIND("rnea", NULL, "rnea", "inverse dynamics: JOINT.tau from q, v, a", QVA, false, tau_columns, compute_rnea),
    KIND("aba", NULL, "aba", "forward dynamics: JOINT.a from q, v, tau; couplings are held", QVT, false, acceleration_columns, compute_aba),
    KIND("crba", NULL, "crba", "inertia matrix, its upper triangle: M.JOINT:JOINT", NEEDS_Q, true, inertia_columns, compute_crba),
    KIND("bias", NULL, "bias", "Coriolis, centrifugal and gravity forces: JOINT.bias", QV, false, force_columns, compute_bias),
    KIND("gravity", NULL, "gravity", "gravity forces: JOINT.gravity", NEEDS_Q, false, force_columns, compute_gravity),
    KIND("passive", NULL, "passive", "springs and dampers: JOINT.passive", QV, false, force_columns, compute_passive),
    KIND("power", NULL, "power", "JOINT.power = tau v with the tau of rnea, and power.total", QVA, false, power_columns, compute_power),
    KIND("com", NULL, "com", "center of mass: com.x, .y, .z", NEEDS_Q, false, point_columns, compute_com),
    KIND("com_velocity", NULL, "com_velocity", "its velocity: com.vx, .vy, .vz", QV, false, com_velocity_columns, compute_com_velocity),
    KIND("zmp", NULL, "zmp", "zero-moment point on the floor (--floor-height): zmp.x, .y, .z", QVA, false, point_columns, compute_zmp),
    KIND("floor", NULL, "floor", "what the world does to the robot, about the world's origin: floor.nx … .fz", QVA, false, floor_columns, compute_floor),
    KIND("energy", NULL, "energy", "energy.kinetic, .potential, .total", QV, false, energy_columns, compute_energy),
    KIND("momentum", NULL, "momentum", "about the center of mass: momentum.lx … .pz", QV, false, momentum_columns, compute_momentum),
    KIND("kinematics", "FRAME", "kinematics:FRAME", "pose of a frame or body: FRAME.qw … .qz, .x, .y, .z", NEEDS_Q, false, pose_columns, compute_pose),
    KIND("velocity", "FRAME", "velocity:FRAME", "FRAME.wx … .vz, in the axes of --reference", QV, false, velocity_columns, compute_velocity),
    KIND("acceleration", "FRAME", "acceleration:FRAME", "as an observer measures it: FRAME.dwx … .az", QVA, false, frame_acceleration_columns, compute_acceleration),
    KIND("jacobian", "FRAME", "jacobian:FRAME", "FRAME.J.wx:JOINT … FRAME.J.vz:JOINT", NEEDS_Q, false, jacobian_columns, compute_jacobian),
    KIND("wrench", "JOINT", "wrench:JOINT", "all six components through a joint, in its body's frame: JOINT.wrench.nx … .fz", QVA, false, wrench_columns, compute_wrench),
};

const char *const quantity_names[] = {"rnea", "aba", "crba", "bias", "gravity", "passive", "power", "com", "com_velocity", "zmp", "floor",
                                      "energy", "momentum", "kinematics", "velocity", "acceleration", "jacobian", "wrench", NULL};
// clang-format on

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };
_Static_assert(sizeof quantity_names / sizeof *quantity_names == KIND_COUNT + 1,
               "every quantity has its name for completion");

cli_term quantity_term(int index) {
    return index < KIND_COUNT ? (cli_term){kinds[index].usage, kinds[index].about} : (cli_term){NULL, NULL};
}

// ---- the words of --what

static int fail_kind(cli *c, const char *word) {
    suggestion near = suggest_begin(word);
    for (int i = 0; i < KIND_COUNT; i++) {
        suggest_word(&near, kinds[i].name);
    }
    return cli_fail(c, CLI_EXIT_USAGE, "--what: there is no quantity '%s'%s%s%s", word,
                    near.best ? " — did you mean '" : "",
                    near.best ? near.best : " — 'karakuri help compute' lists them", near.best ? "'?" : "");
}

static const quantity_kind *find_kind(const char *word) {
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, word) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static int fail_name(cli *c, const kk_model *m, const quantity *x) {
    const bool is_joint = strcmp(x->kind->argument, "JOINT") == 0;
    suggestion near = suggest_begin(x->argument);
    for (int i = 1; i < kk_model_nbody(m); i++) {
        suggest_word(&near, is_joint ? kk_model_joint(m, i).name : kk_model_body_name(m, i));
    }
    for (int i = 0; i < kk_model_nframe(m) && !is_joint; i++) {
        suggest_word(&near, kk_model_frame_name(m, i));
    }
    return cli_fail(c, CLI_EXIT_INPUT, "--what %s: the model has no %s '%s'%s%s%s", x->kind->name,
                    is_joint ? "joint" : "frame or body", x->argument, near.best ? " — did you mean '" : "",
                    near.best ? near.best : " — 'karakuri info' lists them", near.best ? "'?" : "");
}

static int resolve(cli *c, const kk_model *m, quantity *x) {
    const bool is_joint = strcmp(x->kind->argument, "JOINT") == 0;
    x->frame = is_joint ? -1 : kk_model_find_frame(m, x->argument);
    x->body = is_joint ? kk_model_find_joint(m, x->argument) : kk_model_find_body(m, x->argument);
    return x->frame < 0 && x->body < 0 ? fail_name(c, m, x) : 0;
}

static int parse_word(cli *c, const kk_model *m, char *word, quantity *x) {
    char *colon = strchr(word, ':');
    if (colon) {
        *colon = 0;
    }
    *x = (quantity){.kind = find_kind(word), .argument = colon ? colon + 1 : NULL, .body = -1, .frame = -1};
    if (!x->kind) {
        return fail_kind(c, word);
    }
    if (x->kind->argument && (!colon || !colon[1])) {
        return cli_fail(c, CLI_EXIT_USAGE, "--what: %s needs a name: %s", word, x->kind->usage);
    }
    if (!x->kind->argument && colon) {
        return cli_fail(c, CLI_EXIT_USAGE, "--what: %s takes no name, and ':%s' was given", word, colon + 1);
    }
    return colon ? resolve(c, m, x) : 0;
}

static int check_once(cli *c, const quantity_list *list, const quantity *x) {
    for (int i = 0; i < list->count; i++) {
        const quantity *y = &list->item[i];
        if (x->kind == y->kind && (!x->argument || strcmp(x->argument, y->argument) == 0)) {
            return cli_fail(c, CLI_EXIT_USAGE, "--what: '%s' stands twice", x->kind->name);
        }
    }
    return 0;
}

int quantities_parse(cli *c, const kk_model *model, const char *what, quantity_list *list) {
    *list = (quantity_list){.words = cli_copy(what)};
    int code = 0;
    for (char *word = list->words; word && !code;) {
        char *comma = strchr(word, ',');
        if (comma) {
            *comma = 0;
        }
        list->item = cli_reallocate(list->item, (size_t)list->count + 1, sizeof *list->item);
        code = parse_word(c, model, word, &list->item[list->count]);
        code = code ? code : check_once(c, list, &list->item[list->count]);
        if (!code) {
            list->needs |= list->item[list->count].kind->needs;
            list->needs_matrix = list->needs_matrix || list->item[list->count].kind->needs_matrix;
            list->count++;
        }
        word = comma ? comma + 1 : NULL;
    }
    return code;
}

void quantities_free(quantity_list *list) {
    free(list->item);
    free(list->words);
    *list = (quantity_list){0};
}
