// Walking in simulation; see walker.h.
#include "walker.h"

#include <stdlib.h>
#include <string.h>

#include "suggest.h"
#include "walker_senses.h"

static double larger(double a, double b) {
    return a > b ? a : b;
}
static double smaller(double a, double b) {
    return a < b ? a : b;
}
static double magnitude(double a) {
    return a < 0 ? -a : a;
}

// ---- plans

void walker_nineteen(double width, kk_footstep *steps) {
    // clang-format off
    static const kk_stride strides[19] = {
        {0.10, 0, 0}, {0.15, 0, 0}, {0.15, 0, 0}, {0.15, 0, 0},             // forward
        {0.10, 0, 0.15}, {0.10, 0, 0.20}, {0.05, 0, 0.20}, {0.05, 0, 0.20}, // to the left
        {0, 0, 0}, {-0.08, 0, 0}, {-0.10, 0, 0}, {-0.10, 0, 0}, {-0.08, 0, 0}, // backward
        {0, 0, -0.15}, {0.10, 0, -0.20}, {0.12, 0, -0.20},                  // to the right
        {0.12, 0, 0}, {0.10, 0, 0}, {0, 0, 0},
    };
    // clang-format on
    kk_footsteps_from_strides(strides, 19, KK_LEFT, width, steps);
}

static int fail_plan(cli *c, const char *path, const kk_table *table, const char *text) {
    kk_error error = {.status = KK_NOT_FOUND, .line = kk_table_header_line(table)};
    snprintf(error.file, sizeof error.file, "%s", path);
    snprintf(error.text, sizeof error.text, "%s", text);
    return cli_fail_error(c, &error);
}

/// A column of the table as numbers, 0 where there is none.
static double cell(const kk_table *table, size_t row, const char *name) {
    const int column = kk_table_find_column(table, name);
    return column < 0 ? 0 : kk_table_row(table, row)[column];
}

static void take_strides(const kk_table *table, double width, walker_plan *plan) {
    kk_stride *strides = cli_allocate((size_t)plan->count + 1, sizeof *strides);
    for (int i = 0; i < plan->count; i++) {
        const size_t row = (size_t)i;
        strides[i] = (kk_stride){cell(table, row, "forward"), cell(table, row, "sideways"), cell(table, row, "turn")};
    }
    kk_footsteps_from_strides(strides, plan->count, (int)cell(table, 0, "foot") ? KK_RIGHT : KK_LEFT, width,
                              plan->step);
    free(strides);
}

static bool is_one_of(const char *name, const char *const *list) {
    while (*list && strcmp(name, *list) != 0) {
        list++;
    }
    return *list != NULL;
}

/// A column misspelt would be a step of 0 m.
static int check_columns(cli *c, const char *path, const kk_table *table, const char *const *known) {
    for (int i = 0; i < kk_table_column_count(table); i++) {
        const char *name = kk_table_column_name(table, i);
        if (!is_one_of(name, known)) {
            suggestion near = suggest_begin(name);
            for (const char *const *k = known; *k; k++) {
                suggest_word(&near, *k);
            }
            char text[KK_ERROR_TEXT_SIZE];
            snprintf(text, sizeof text, "a plan has no column '%s'%s%s%s", name, near.best ? " — did you mean '" : "",
                     near.best ? near.best : " — remove it", near.best ? "'?" : "");
            return fail_plan(c, path, table, text);
        }
    }
    return 0;
}

static int check_rows(cli *c, const char *path, const kk_table *table) {
    for (size_t i = 0; i < kk_table_row_count(table); i++) {
        const double foot = cell(table, i, "foot");
        char text[KK_ERROR_TEXT_SIZE];
        if (foot != 0 && foot != 1) {
            snprintf(text, sizeof text, "row %zu: foot is neither 0 (left) nor 1 (right)", i + 1);
            return fail_plan(c, path, table, text);
        }
        if (cell(table, i, "duration") < 0) {
            snprintf(text, sizeof text, "row %zu: a step cannot take less than no time — give duration in s, or 0",
                     i + 1);
            return fail_plan(c, path, table, text);
        }
    }
    return 0;
}

int walker_read_plan(cli *c, const char *path, double width, walker_plan *plan) {
    kk_error error = {0};
    kk_table *table = NULL;
    *plan = (walker_plan){0};
    error.status = kk_table_read_file(path, NULL, NULL, &table, &error);
    if (error.status) {
        return cli_fail_error(c, &error);
    }
    static const char *const of_strides[] = {"forward", "sideways", "turn", "foot", "duration", NULL},
                             *const of_soles[] = {"foot", "x", "y", "yaw", "duration", NULL};
    const bool is_strides = kk_table_find_column(table, "forward") >= 0;
    int code = 0;
    plan->count = (int)kk_table_row_count(table);
    plan->step = cli_allocate((size_t)plan->count + 1, sizeof *plan->step);
    if (plan->count == 0) {
        code = fail_plan(c, path, table, "there are no footsteps — add rows");
    } else if (is_strides) {
        code = check_columns(c, path, table, of_strides);
    } else if (kk_table_find_column(table, "foot") < 0 || kk_table_find_column(table, "x") < 0) {
        code = fail_plan(c, path, table,
                         "a plan has the columns forward, sideways, turn, or foot (0 left, 1 right), x, y, yaw");
    } else {
        code = check_columns(c, path, table, of_soles);
    }
    code = code ? code : check_rows(c, path, table);
    if (!code && is_strides) {
        take_strides(table, width, plan);
    }
    for (int i = 0; i < plan->count && !code; i++) {
        const size_t row = (size_t)i;
        if (!is_strides) {
            plan->step[i] = (kk_footstep){.foot = (kk_foot)(int)cell(table, row, "foot"),
                                          .x = cell(table, row, "x"),
                                          .y = cell(table, row, "y"),
                                          .yaw = cell(table, row, "yaw")};
        }
        plan->step[i].duration = cell(table, row, "duration");
    }
    kk_table_free(table);
    if (code) {
        walker_free_plan(plan);
    }
    return code;
}

void walker_free_plan(walker_plan *plan) {
    free(plan->step);
    *plan = (walker_plan){0};
}

// ---- the pattern

kk_status walker_pattern(const kk_model *m, const walker_options *o, const kk_footstep *steps, int count,
                         kk_walk **walk, kk_error *error) {
    static const char *const usual[2] = {"left_sole", "right_sole"};
    kk_walk_options w = o->walk;
    *walk = NULL;
    for (int i = 0; i < 2; i++) {
        const char *name = o->sole[i] ? o->sole[i] : usual[i];
        w.sole[i] = kk_model_find_frame(m, name);
        if (w.sole[i] < 0) {
            snprintf(error->text, sizeof error->text,
                     "the model has no frame '%s' — name those of the soles, --left FRAME --right FRAME", name);
            return error->status = KK_NOT_FOUND;
        }
    }
    const int key = o->keyframe ? kk_model_find_keyframe(m, o->keyframe) : kk_model_nkeyframe(m) > 0 ? 0 : -1;
    if (o->keyframe && key < 0) {
        snprintf(error->text, sizeof error->text, "the model has no keyframe '%s'", o->keyframe);
        return error->status = KK_NOT_FOUND;
    }
    w.posture = key >= 0 ? kk_model_keyframe(m, key).q : NULL;
    return kk_walk_create(m, &w, steps, count, NULL, walk, error);
}

// ---- the simulation

enum { PARTS = 16 };

typedef struct walker {
    const kk_model *model;
    const walker_options *o;
    kk_walk *walk;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    kk_stabilizer *stabilizer;
    walker_senses *senses;        ///< NULL: the stabilizer knows the state
    int foot[2];                  ///< bodies of the soles
    int part[2][PARTS], parts[2]; ///< these and what hangs on them: toes
    int nq, nv;
    double dt;
    double *q, *v, *control; ///< what the servos follow
    double *q0, *v0, *a, *tau;
    kk_contact *contact;
    double margin_sum, zmp_sum;
    long within, steps;
    walker_result *r;
} walker;

/// The body of a sole and all behind it.
static void find_parts(walker *w, int foot) {
    w->parts[foot] = 0;
    for (int b = w->foot[foot]; b < kk_model_nbody(w->model) && w->parts[foot] < PARTS; b++) {
        int p = b;
        while (p > w->foot[foot]) {
            p = kk_model_body_parent(w->model, p);
        }
        if (p == w->foot[foot]) {
            w->part[foot][w->parts[foot]++] = b;
        }
    }
}

/// Of a ZMP within the soles that are on the floor; after kinematics. @param bears  the feet that count
static double margin_of(const walker *w, kk_vec3 zmp, const bool bears[2]) {
    enum { POINTS = 128 };
    kk_vec3 points[POINTS];
    int count = 0;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < w->parts[i] && bears[i]; k++) {
            count += kk_support_points(w->model, w->data, w->part[i][k], 0, 0.005, points + count, POINTS - count);
        }
    }
    return kk_polygon_margin(points, kk_polygon_hull(points, count), zmp);
}

/// The least margin of the pattern's own ZMP within the feet that bear in it.
static double planned_margin(const walker *w) {
    double least = 1e300;
    for (int i = 0; i < kk_walk_frame_count(w->walk); i++) {
        const kk_walk_frame f = kk_walk_frame_at(w->walk, i);
        const bool bears[2] = {f.load[0] > 0, f.load[1] > 0};
        kk_kinematics(w->model, w->data, f.q);
        least = smaller(least, margin_of(w, f.zmp, bears));
    }
    return least;
}

static kk_status make_ready(walker *w, const kk_footstep *steps, int count, kk_error *error) {
    const kk_model *m = w->model;
    kk_status status = walker_pattern(m, w->o, steps, count, &w->walk, error);
    status = status ? status : kk_state_create(m, NULL, &w->state);
    status = status ? status : kk_data_create(m, NULL, &w->data);
    const kk_step_options options = {.solver = w->o->solver, .timestep = w->dt, .tolerance = w->o->tolerance};
    status = status ? status : kk_simulator_create(m, &options, NULL, &w->simulator, error);
    if (!status && w->o->is_stabilized) {
        status = kk_stabilizer_create(m, w->walk, &w->o->stabilizer, NULL, &w->stabilizer);
    }
    if (!status && w->o->is_observed) {
        status = walker_senses_create(m, w->o, w->dt, &w->senses, error);
    }
    if (status) {
        return status;
    }
    double **const arrays[] = {&w->q, &w->v, &w->control, &w->q0, &w->v0, &w->a, &w->tau};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = cli_allocate((size_t)w->nq + (size_t)kk_model_nactuator(m) + 1, sizeof **arrays[i]);
    }
    w->contact = cli_allocate(256, sizeof *w->contact);
    static const char *const usual[2] = {"left_sole", "right_sole"};
    for (int i = 0; i < 2; i++) {
        const char *name = w->o->sole[i] ? w->o->sole[i] : usual[i];
        w->foot[i] = kk_model_frame_body(m, kk_model_find_frame(m, name));
        find_parts(w, i);
    }
    memcpy(kk_state_q(w->state), kk_walk_frame_at(w->walk, 0).q, (size_t)w->nq * sizeof(double));
    if (w->senses) {
        walker_senses_start(w->senses, w->state);
    }
    w->r->planned_error = kk_walk_zmp_error(w->walk);
    w->r->planned_margin = planned_margin(w);
    return KK_OK;
}

static void free_walker(walker *w) {
    double *const arrays[] = {w->q, w->v, w->control, w->q0, w->v0, w->a, w->tau};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    free(w->contact);
    walker_senses_free(w->senses);
    kk_stabilizer_free(w->stabilizer);
    kk_simulator_free(w->simulator);
    kk_data_free(w->data);
    kk_state_free(w->state);
    kk_walk_free(w->walk);
}

static kk_force floor_on(const walker *w, int foot) {
    kk_force sum = kk_simulator_contact_wrench(w->simulator, w->foot[foot], -1);
    for (int i = 1; i < w->parts[foot]; i++) {
        sum = kk_force_add(sum, kk_simulator_contact_wrench(w->simulator, w->part[foot][i], -1));
    }
    return sum;
}

/// Position servos with the rate as well: f = kp (q_d − q) + kd (v_d − v), as a target q_d + kd/kp v_d.
static void command(walker *w) {
    for (int i = 0; i < kk_model_nactuator(w->model); i++) {
        const kk_actuator_info a = kk_model_actuator(w->model, i);
        const kk_joint_info j = kk_model_joint(w->model, a.joint);
        w->control[i] = w->q[j.q_index] + (a.bias[1] < 0 ? a.bias[2] / a.bias[1] : 0) * w->v[j.v_index];
    }
}

static kk_status follow(walker *w, double time, bool has_force, kk_stabilizer_output *out) {
    const double weight = -kk_model_gravity(w->model).z * kk_model_mass(w->model);
    kk_status status = KK_OK;
    if (w->stabilizer) {
        kk_stabilizer_input in = {.q = kk_state_q_const(w->state), .v = kk_state_v_const(w->state)};
        for (int i = 0; i < 2; i++) {
            // before the first step nothing was measured: half the weight in the middle of each sole
            const kk_force rest = kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, weight / 2));
            in.floor[i] = has_force ? floor_on(w, i) : kk_force_to(kk_walk_frame_at(w->walk, 0).sole[i], rest);
        }
        if (w->senses) {
            walker_senses_read(w->senses, w->state, has_force ? w->simulator : NULL, in.floor, w->r, &in);
        }
        status = kk_stabilizer_step(w->stabilizer, time, &in, w->q, w->v, out);
    } else {
        kk_walk_sample(w->walk, time, w->q, w->v);
    }
    command(w);
    return status;
}

// ---- what is measured

/// The ZMP by inverse dynamics of the step from (q, v): the middle is h/2 further, the base's velocity staying what it is in the world; there the mean acceleration of
/// the step holds, with Coriolis forces of the velocity that the simulator tells (docs/maths/step.md, Forces that can be read).
static kk_vec3 inverse_zmp(walker *w) {
    const kk_model *m = w->model;
    const kk_joint_info base = kk_model_joint(m, 1);
    double *q = w->q0, *v = w->v0, h = w->dt;
    memcpy(w->a, kk_simulator_acceleration(w->simulator), (size_t)w->nv * sizeof *w->a);
    for (int b = 2; b < kk_model_nbody(m); b++) {
        const kk_joint_info j = kk_model_joint(m, b);
        for (int k = 0; k < j.nv && j.nv == j.nq; k++) {
            q[j.q_index + k] += 0.5 * h * v[j.v_index + k];
        }
    }
    double *x = q + base.q_index, *u = v + base.v_index;
    const kk_quat turn = {x[0], x[1], x[2], x[3]};
    const kk_vec3 spin = kk_vec3_make(u[0], u[1], u[2]), speed = kk_vec3_make(u[3], u[4], u[5]);
    const kk_quat half = kk_quat_exp(kk_vec3_scale(spin, 0.5 * h));
    const kk_vec3 way = kk_vec3_scale(kk_mat3_mul_vec(kk_quat_to_mat3(turn), speed), 0.5 * h);
    const kk_quat next = kk_quat_normalize(kk_quat_mul(turn, half));
    x[0] = next.w, x[1] = next.x, x[2] = next.y, x[3] = next.z;
    memcpy(v, kk_simulator_velocity(w->simulator), (size_t)w->nv * sizeof *v);
    const kk_vec3 across = kk_vec3_cross(kk_vec3_make(u[0], u[1], u[2]), kk_vec3_make(u[3], u[4], u[5]));
    for (int k = 0; k < 3; k++) {
        x[4 + k] += kk_vec3_get(way, k);
        w->a[base.v_index + 3 + k] -= kk_vec3_get(across, k);
    }
    kk_inverse_dynamics(m, w->data, q, v, w->a, w->tau);
    return kk_zero_moment_point(kk_floor_wrench(m, w->data), 0);
}

static void take_efforts(walker *w) {
    const double *force = kk_simulator_force(w->simulator, KK_FORCE_ACTUATOR), *v = kk_state_v_const(w->state);
    w->r->efforts = 0;
    for (int i = 0; i < kk_model_nactuator(w->model) && i < WALKER_JOINTS; i++) {
        const kk_actuator_info a = kk_model_actuator(w->model, i);
        walker_effort *e = &w->r->effort[w->r->efforts++];
        e->joint = kk_model_joint(w->model, a.joint).name;
        e->torque = larger(e->torque, magnitude(force[a.v_index]));
        e->power = larger(e->power, magnitude(force[a.v_index] * v[a.v_index]));
    }
}

static void measure(walker *w, int step, const kk_stabilizer_output *out) {
    walker_result *r = w->r;
    const kk_report report = *kk_simulator_report(w->simulator);
    walker_moment at = {.time = kk_state_time(w->state), .stabilizer = *out, .contact = w->contact};
    at.plan = kk_walk_frame_at(w->walk, (int)(at.time / kk_walk_timestep(w->walk) + 0.5));
    at.zmp = kk_zero_moment_point(kk_simulator_floor_wrench(w->simulator, w->model), 0);
    at.zmp_inverse = inverse_zmp(w);
    for (int i = 0; i < 2; i++) {
        at.force[i] = floor_on(w, i).linear.z;
    }
    kk_kinematics(w->model, w->data, kk_state_q_const(w->state));
    const kk_transform X = kk_body_pose(w->model, w->data, 1);
    at.tilt = kk_acos(smaller(1, larger(-1, X.R.m[8])));
    static const bool both[2] = {true, true};
    at.margin = margin_of(w, at.zmp, both);
    at.com = kk_center_of_mass(w->model, w->data, kk_state_q_const(w->state));
    at.contacts = report.contacts < 256 ? report.contacts : 256;
    for (int i = 0; i < at.contacts; i++) {
        w->contact[i] = kk_simulator_contacts(w->simulator)[i];
    }
    r->residual = larger(r->residual, report.residual);
    r->uncertified += report.quality != KK_STEP_CERTIFIED || report.hit_iteration_limit;
    r->contacts = report.contacts > r->contacts ? report.contacts : r->contacts;
    r->tilt = larger(r->tilt, at.tilt);
    if (at.zmp.x == at.zmp.x && at.margin > -1e9) {
        r->zmp_gap = larger(r->zmp_gap, kk_hypot(at.zmp.x - at.zmp_inverse.x, at.zmp.y - at.zmp_inverse.y));
        r->margin_least = w->steps == 0 ? at.margin : smaller(r->margin_least, at.margin);
        w->zmp_sum += kk_hypot(at.zmp.x - at.plan.zmp.x, at.zmp.y - at.plan.zmp.y);
        w->margin_sum += at.margin;
        w->within += at.margin >= 0.005;
        w->steps++;
    }
    take_efforts(w);
    if (w->o->watch) {
        w->o->watch(w->o->user, &at);
    }
    // on its way down: lying robots are not interesting
    r->fell = at.tilt > 0.8 || at.com.z < 0.6 * at.plan.com.z;
    r->fall_time = r->fell ? at.time : 0;
    (void)step;
}

static void conclude(walker *w) {
    walker_result *r = w->r;
    const double n = w->steps > 0 ? (double)w->steps : 1;
    r->margin_mean = w->margin_sum / n;
    r->zmp_error = w->zmp_sum / n;
    r->share_within = (double)w->within / n;
    const kk_walk_frame last = kk_walk_frame_at(w->walk, kk_walk_frame_count(w->walk) - 1);
    const kk_vec3 c = kk_center_of_mass(w->model, w->data, kk_state_q_const(w->state));
    r->place_error = kk_hypot(c.x - last.com.x, c.y - last.com.y);
    r->duration = kk_state_time(w->state);
    if (w->senses) {
        walker_senses_conclude(w->senses, r);
    }
}

kk_status walker_run(const cli *c, const kk_model *model, const walker_options *o, const kk_footstep *steps, int count,
                     walker_result *result, kk_error *error) {
    walker w = {.model = model, .o = o, .nq = kk_model_nq(model), .nv = kk_model_nv(model), .r = result};
    cli_progress progress = {0};
    w.dt = o->timestep > 0 ? o->timestep : kk_model_options(model).timestep;
    *result = (walker_result){0};
    kk_status status = make_ready(&w, steps, count, error);
    const double length = status ? 0 : kk_walk_timestep(w.walk) * (kk_walk_frame_count(w.walk) - 1);
    const int total = (int)(length / w.dt + 0.5);
    cli_catch_interrupts();
    for (int i = 0; i < total && !status && !result->fell && !cli_is_interrupted(); i++) {
        kk_stabilizer_output out = {0};
        memcpy(w.q0, kk_state_q_const(w.state), (size_t)w.nq * sizeof *w.q0);
        memcpy(w.v0, kk_state_v_const(w.state), (size_t)w.nv * sizeof *w.v0);
        const double start = cli_now();
        // a robot that is falling may ask for what legs cannot do: it goes on with the last posture
        (void)follow(&w, (i + 1) * w.dt, i > 0, &out);
        const kk_input input = {.control = w.control};
        status = kk_step(model, w.state, w.simulator, &input, error);
        result->wall += cli_now() - start;
        if (!status) {
            measure(&w, i, &out);
        }
        if (o->shows_progress && i % 16 == 0) {
            cli_progress_show(c, &progress, "walking", (size_t)i, (size_t)total);
        }
    }
    if (o->shows_progress) {
        cli_progress_show(c, &progress, "walking", (size_t)total, (size_t)total);
    }
    if (!status) {
        conclude(&w);
    }
    free_walker(&w);
    return status;
}
