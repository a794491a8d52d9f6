// Rows 22, 23: robots on their feet. What the step reports of its forces against inverse dynamics of the same step.
#include <stdlib.h>
#include <string.h>

#include "../../../models/robots.h"
#include "rows.h"
#include "scene.h"

static const double STEP = 1e-3;

// ---- robots with servos

static void add_servos(scene *s, double gain, double damping) {
    for (int i = 1; !s->is_broken && i < kk_spec_body_count(s->spec); i++) {
        const kk_body_def *body = kk_spec_body_const(s->spec, i);
        if (body->joint.type != KK_JOINT_HINGE) {
            continue;
        }
        char joint[96];
        snprintf(joint, sizeof joint, "%s_joint", body->name);
        kk_actuator_def servo = kk_actuator_def_default();
        servo.type = KK_ACTUATOR_POSITION;
        servo.target = joint;
        servo.gain = gain;
        servo.bias[1] = -gain;
        servo.bias[2] = -damping;
        kk_error error = {0};
        if (kk_spec_add_actuator(s->spec, &servo, NULL, &error) != KK_OK) {
            scene_break(s, error.text);
        }
    }
}

static int body_named(const scene *s, const char *name) {
    for (int i = 1; !s->is_broken && i < kk_spec_body_count(s->spec); i++) {
        if (strcmp(kk_spec_body_const(s->spec, i)->name, name) == 0) {
            return i;
        }
    }
    return 0;
}

/// Target of the joint of a body. Servos were added in the order of the bodies, hinges only.
static void aim(scene *s, const char *name, double angle) {
    int servo = 0;
    for (int i = 1; !s->is_broken && i < kk_spec_body_count(s->spec); i++) {
        const kk_body_def *body = kk_spec_body_const(s->spec, i);
        if (body->joint.type == KK_JOINT_HINGE) {
            if (strcmp(body->name, name) == 0) {
                s->control[servo] = angle;
                return;
            }
            servo++;
        }
    }
}

/// Smoothly from 0 to 1 as t goes from 0 to 1.
static double ease(double t) {
    return t <= 0 ? 0 : t >= 1 ? 1 : t * t * t * (10 - t * (15 - 6 * t));
}

// ---- inverse dynamics of a step

/// A step's middle, as the integrator sees it: positions half a step on, velocities in the axes of there, and the mean acceleration.
typedef struct middle {
    double *q, *v, *a;
    double *start;      ///< velocities of the start in those axes; v are those that its Coriolis forces are of
    kk_force *external; ///< what contacts do to bodies, in their frames
} middle;

static middle middle_create(const scene *s) {
    middle m = {0};
    if (!s->is_broken) {
        const size_t nv = (size_t)kk_model_nv(s->model);
        m.q = cli_allocate((size_t)kk_model_nq(s->model), sizeof *m.q);
        m.v = cli_allocate(nv, sizeof *m.v);
        m.start = cli_allocate(nv, sizeof *m.start);
        m.a = cli_allocate(nv, sizeof *m.a);
        m.external = cli_allocate((size_t)kk_model_nbody(s->model), sizeof *m.external);
    }
    return m;
}

static void middle_free(middle *m) {
    free(m->q);
    free(m->v);
    free(m->start);
    free(m->a);
    free(m->external);
}

static kk_vec3 load3(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store3(double *x, kk_vec3 a) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

/// Before the step: half a step on, the free root's origin on a straight line.
static void middle_begin(scene *s, middle *m) {
    const int nv = kk_model_nv(s->model);
    const double *q = kk_state_q(s->state), *v = kk_state_v(s->state);
    memcpy(m->v, v, (size_t)nv * sizeof *v);
    for (int k = 0; k < nv; k++) {
        m->a[k] = 0.5 * STEP * v[k];
    }
    kk_integrate(s->model, q, m->a, m->q);
    const kk_quat R = {q[0], q[1], q[2], q[3]}, turned = kk_quat_exp(kk_vec3_scale(load3(v), 0.5 * STEP));
    const kk_vec3 u = kk_mat3_mul_vec(kk_quat_to_mat3(R), load3(v + 3));
    store3(m->q + 4, kk_vec3_add(load3(q + 4), kk_vec3_scale(u, 0.5 * STEP)));
    store3(m->v, kk_mat3_tmul_vec(kk_quat_to_mat3(turned), load3(v)));
    store3(m->v + 3, kk_mat3_tmul_vec(kk_quat_to_mat3(turned), load3(v + 3)));
}

/// Behind it: mean acceleration, as the rate of the velocity's components in the root's axes, and forces of contacts on bodies.
static void middle_end(scene *s, middle *m) {
    const int nbody = kk_model_nbody(s->model);
    memcpy(m->a, kk_simulator_acceleration(s->simulator), (size_t)kk_model_nv(s->model) * sizeof *m->a);
    memcpy(m->start, m->v, (size_t)kk_model_nv(s->model) * sizeof *m->v);
    memcpy(m->v, kk_simulator_velocity(s->simulator), (size_t)kk_model_nv(s->model) * sizeof *m->v);
    store3(m->a + 3, kk_vec3_sub(load3(m->a + 3), kk_vec3_cross(load3(m->v), load3(m->v + 3))));
    kk_kinematics(s->model, s->data, m->q);
    for (int i = 1; i < nbody; i++) {
        m->external[i] =
            kk_force_from(kk_body_pose(s->model, s->data, i), kk_simulator_contact_wrench(s->simulator, i, -1));
    }
}

static kk_force total_contact(const scene *s) {
    kk_force sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < kk_simulator_ncontact(s->simulator); i++) {
        const kk_contact c = kk_simulator_contacts(s->simulator)[i];
        const kk_vec3 f = c.body[0] == KK_WORLD ? c.force : kk_vec3_neg(c.force);
        sum.linear = kk_vec3_add(sum.linear, f);
        sum.angular = kk_vec3_add(sum.angular, kk_vec3_cross(c.position, f));
    }
    return sum;
}

/// Where a wrench has no horizontal moment, on the floor.
static kk_vec3 zmp_of(kk_force f) {
    return kk_vec3_make(-f.angular.y / f.linear.z, f.angular.x / f.linear.z, 0);
}

// ---- 22

static void add_foot(scene *s, const char *name, double side, int material) {
    kk_shape_def foot = scene_shape_def(KK_SHAPE_BOX, body_named(s, name), 0.24, 0.12, 0.06, material);
    foot.placement.p = kk_vec3_make(0.03, side * 0.01, -0.075);
    scene_shape(s, &foot);
}

/// Weight to the left, right foot up and down, weight to the right, left foot up and down, back.
static void step_targets(scene *s, double t) {
    const double sway = 0.115 * (ease(t) - 2 * ease(t - 3) + ease(t - 6));
    const double right = ease(2 * (t - 1.2)) - ease(2 * (t - 2.2)), left = ease(2 * (t - 4.2)) - ease(2 * (t - 5.2));
    const char *const side[] = {"left_", "right_"};
    for (int i = 0; i < 2; i++) {
        const double lift = 0.35 * (i ? right : left);
        const char *const joints[] = {"hip_roll", "foot", "thigh", "shin", "ankle_pitch"};
        const double angles[] = {-sway, sway, -0.1 - lift, 0.2 + 2 * lift, -0.1 - lift};
        for (int k = 0; k < 5; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s%s", side[i], joints[k]);
            aim(s, name, angles[k]);
        }
    }
}

/// The humanoid on slightly bent knees.
static void stand_humanoid(exam *e, scene *s) {
    kk_error error = {0};
    scene_begin(s, e, 9.81);
    if (!s->is_broken && robots_humanoid36(s->spec, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    const int material = scene_material(s, 0.8, 0);
    scene_floor(s, material);
    add_foot(s, "left_foot", 1, material);
    add_foot(s, "right_foot", -1, material);
    add_servos(s, 5000, 150);
    scene_ready_dt(s, STEP);
    step_targets(s, 0);
    for (int i = 1; !s->is_broken && i < kk_model_nbody(s->model); i++) {
        const kk_joint_info joint = kk_model_joint(s->model, i);
        const char *name = kk_model_body_name(s->model, i);
        const double bend = strstr(name, "thigh") || strstr(name, "ankle") ? -0.1 : strstr(name, "shin") ? 0.2 : 0;
        kk_state_q(s->state)[joint.q_index] = joint.type == KK_JOINT_HINGE ? bend : kk_state_q(s->state)[joint.q_index];
    }
    scene_place(s, 1, 0, 0, 0.6 * kk_cos(0.1) + 0.105);
}

static void run_humanoid(exam *e) {
    scene s;
    stand_humanoid(e, &s);
    middle m = middle_create(&s);
    const int panel = exam_plot(e, "center of pressure and zero-moment point", "time [s]", "y [m]", false);
    const double weight = s.is_broken ? 0 : kk_model_mass(s.model) * 9.81, stand = 5;
    double moving = 0, force = 0, still = 0, still_force = 0,
           *tau = s.is_broken ? NULL : cli_allocate((size_t)kk_model_nv(s.model), sizeof *tau);
    int lifted = 0, fell = 0;
    while (!s.is_broken && scene_time(&s) < stand + 8) {
        step_targets(&s, scene_time(&s) - stand);
        middle_begin(&s, &m);
        if (!scene_step(&s)) {
            break;
        }
        middle_end(&s, &m);
        kk_inverse_dynamics(s.model, s.data, m.q, m.v, m.a, tau);
        const kk_force floor = kk_floor_wrench(s.model, s.data), contact = total_contact(&s);
        const kk_vec3 zmp = zmp_of(floor), cop = zmp_of(contact);
        const double apart = kk_hypot(zmp.x - cop.x, zmp.y - cop.y);
        const double sum = kk_vec3_norm(kk_vec3_sub(floor.linear, contact.linear));
        lifted += kk_simulator_ncontact(s.simulator) <= 4;
        fell |= scene_q(&s, 1)[6] < 0.5;
        if (scene_time(&s) > stand) {
            moving = exam_max(moving, apart);
            force = exam_max(force, sum);
        } else if (scene_time(&s) > stand - 0.1) {
            still = exam_max(still, apart);
            still_force = exam_max(still_force, exam_abs(contact.linear.z - weight) / weight);
        }
        exam_point(e, panel, "center of pressure", scene_time(&s), cop.y);
        exam_point(e, panel, "zero-moment point", scene_time(&s), zmp.y);
    }
    exam_at_most(e, "standing: sum of forces against the weight, relative", still_force, 1e-9);
    exam_at_most(e, "standing: center of pressure - ZMP, m", still, 1e-9);
    exam_at_most(e, "stepping: center of pressure - ZMP, m", s.is_broken ? 1 : moving, 1e-6);
    exam_at_most(e, "stepping: sum of forces - inverse dynamics, N", s.is_broken ? 1 : force, 1e-6);
    exam_at_least(e, "stepping: steps on one foot", lifted, 500);
    exam_at_most(e, "stepping: fell", fell, 0);
    exam_at_most(e, "worst residual, m/s", s.residual, 1e-9);
    free(tau);
    middle_free(&m);
    scene_end(&s);
}

// ---- 23

static const char *const legs[] = {"LF_", "RH_", "RF_", "LH_"};

/// One leg after the other is lifted and put down, the trunk leaning away from it first.
static void crawl_targets(scene *s, double t) {
    const int turn = (int)kk_floor(t / 1.5);
    const double phase = t - 1.5 * turn, away = ease(2 * phase) - ease(2 * (phase - 1));
    const double lift = ease(4 * (phase - 0.5)) - ease(4 * (phase - 0.75));
    const int lifted = turn % 4;
    const double fore = lifted % 2 ? -1 : 1, side = lifted == 0 || lifted == 3 ? 1 : -1;
    for (int i = 0; i < 4; i++) {
        const double hind = i % 2 ? -1 : 1, up = i == lifted && t > 0 ? lift : 0;
        char name[32];
        snprintf(name, sizeof name, "%ship", legs[i]);
        aim(s, name, t > 0 ? 0.12 * side * away : 0);
        snprintf(name, sizeof name, "%sthigh", legs[i]);
        aim(s, name, hind * (0.6 + 0.2 * up) + (t > 0 ? 0.12 * fore * away : 0));
        snprintf(name, sizeof name, "%sshank", legs[i]);
        aim(s, name, hind * (-1.1 - 0.4 * up));
    }
}

static void build_quadruped(scene *s) {
    kk_error error = {0};
    if (!s->is_broken && robots_quadruped(s->spec, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    const int material = scene_material(s, 0.8, 0);
    scene_floor(s, material);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "%sfoot", legs[i]);
        const kk_shape_def foot = scene_shape_def(KK_SHAPE_SPHERE, body_named(s, name), 0.03, 0, 0, material);
        scene_shape(s, &foot);
    }
    add_servos(s, 1000, 30);
}

/// Worst difference between the wrenches the step reports at the joints and those of inverse dynamics.
static double wrench_error(scene *s, const kk_force *reported) {
    double worst = 0;
    for (int i = 2; i < kk_model_nbody(s->model); i++) {
        const kk_force d = kk_force_sub(reported[i], kk_joint_wrench(s->model, s->data, i));
        worst = exam_max(worst, exam_max(kk_vec3_norm(d.linear), kk_vec3_norm(d.angular)));
    }
    return worst;
}

static double torque_error(scene *s, const double *tau) {
    double worst = 0;
    for (int k = 6; k < kk_model_nv(s->model); k++) {
        double sum = 0;
        for (int source = 0; source < KK_FORCE_SOURCE_COUNT; source++) {
            sum += source == KK_FORCE_CONTACT ? 0 : kk_simulator_force(s->simulator, (kk_force_source)source)[k];
        }
        worst = exam_max(worst, exam_abs(sum - tau[k]));
    }
    return worst;
}

/// Rate of the kinetic energy less the power of all sources, of gravity and of the Coriolis forces, at the step's mean velocity.
/// @param still  what nothing but gravity and Coriolis forces asks of the joints
static double power_left(scene *s, const middle *m, const double *still) {
    const kk_report r = *kk_simulator_report(s->simulator);
    const double *a = kk_simulator_acceleration(s->simulator);
    double power = 0;
    for (int k = 0; k < kk_model_nv(s->model); k++) {
        double sum = -still[k];
        for (int source = 0; source < KK_FORCE_SOURCE_COUNT; source++) {
            sum += kk_simulator_force(s->simulator, (kk_force_source)source)[k];
        }
        power += sum * (m->start[k] + 0.5 * STEP * a[k]);
    }
    return (r.kinetic_after - r.kinetic_before) / STEP - power;
}

static void run_crawl(exam *e) {
    scene s;
    scene_begin(&s, e, 9.81);
    build_quadruped(&s);
    scene_ready_dt(&s, STEP);
    crawl_targets(&s, -1);
    for (int i = 0; !s.is_broken && i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "%sthigh", legs[i]);
        scene_q(&s, kk_model_find_body(s.model, name))[0] = i % 2 ? -0.6 : 0.6;
        snprintf(name, sizeof name, "%sshank", legs[i]);
        scene_q(&s, kk_model_find_body(s.model, name))[0] = i % 2 ? 1.1 : -1.1;
    }
    scene_place(&s, 1, 0, 0, 0.25 * kk_cos(0.6) + 0.31 * kk_cos(0.5) + 0.031);
    middle m = middle_create(&s);
    double torque = 0, wrench = 0, power = 0,
           *tau = s.is_broken ? NULL : cli_allocate((size_t)kk_model_nv(s.model), sizeof *tau);
    const int panel = exam_plot(e, "errors", "time [s]", "N m, N, W", true);
    while (!s.is_broken && scene_time(&s) < 8) {
        crawl_targets(&s, scene_time(&s) - 1);
        middle_begin(&s, &m);
        if (!scene_step(&s)) {
            break;
        }
        middle_end(&s, &m);
        kk_inverse_dynamics_external(s.model, s.data, m.q, m.v, m.a, m.external, tau);
        const double t = torque_error(&s, tau), w = wrench_error(&s, kk_simulator_joint_wrenches(s.simulator));
        // the root's velocity stays as it is in the world, so its own turn is no acceleration
        memset(m.a, 0, (size_t)kk_model_nv(s.model) * sizeof *m.a);
        store3(m.a + 3, kk_vec3_neg(kk_vec3_cross(load3(m.v), load3(m.v + 3))));
        kk_inverse_dynamics(s.model, s.data, m.q, m.v, m.a, tau);
        const double p = exam_abs(power_left(&s, &m, tau));
        torque = exam_max(torque, t);
        wrench = exam_max(wrench, w);
        power = exam_max(power, p);
        exam_point(e, panel, "torque", scene_time(&s), t);
        exam_point(e, panel, "wrench", scene_time(&s), w);
        exam_point(e, panel, "power", scene_time(&s), p);
    }
    exam_at_most(e, "joint torque - inverse dynamics, N m", s.is_broken ? 1 : torque, 1e-9);
    exam_at_most(e, "6-axis joint force - inverse dynamics, N, N m", s.is_broken ? 1 : wrench, 1e-9);
    exam_at_most(e, "power balance, W", s.is_broken ? 1 : power, 1e-6);
    exam_at_most(e, "worst residual, m/s", s.residual, 1e-9);
    free(tau);
    middle_free(&m);
    scene_end(&s);
}

const exam_row exam_rows_robots[] = {
    {22, "humanoid standing and stepping", "sum of forces = weight; center of pressure = ZMP of inverse dynamics", "",
     true, run_humanoid},
    {23, "quadruped crawling", "torque and 6-axis force against inverse dynamics, power balance",
     "ODE tells moments about centers of mass, 4 N m apart", true, run_crawl},
    {0, NULL, NULL, NULL, false, NULL},
};
