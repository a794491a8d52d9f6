// What rows of the second exam share.
#include "motion.h"

void motion_begin(scene *s, exam *e, double gravity) {
    scene_begin(s, e, gravity);
    s->is_default_mode = true;
}

void motion_end(scene *s, long *uncertified) {
    *uncertified += s->uncertified;
    scene_end(s);
}

void motion_note_steps(exam *e, long uncertified) {
    exam_at_most(e, "steps degraded, held or refused", (double)uncertified, 0);
}

void motion_at_most(exam *e, const char *subject, const char *what, double value, double bar) {
    char name[EXAM_TEXT];
    snprintf(name, sizeof name, "%s: %s", subject, what);
    exam_at_most(e, name, value, bar);
}

/// The turn that takes z to a direction.
static kk_mat3 turn_to(kk_vec3 direction) {
    const kk_vec3 z = kk_vec3_scale(direction, 1 / kk_vec3_norm(direction));
    const kk_vec3 aside = exam_abs(z.x) < 0.9 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 1, 0);
    const kk_vec3 across = kk_vec3_cross(z, aside), x = kk_vec3_scale(across, 1 / kk_vec3_norm(across));
    return kk_mat3_from_columns(x, kk_vec3_cross(z, x), z);
}

int motion_bar(scene *s, int parent, kk_joint_type type, kk_vec3 axis, kk_vec3 at, kk_vec3 along, double mass,
               double width) {
    const kk_inertia upright = kk_inertia_solid_box(mass, width, width, kk_vec3_norm(along));
    const kk_transform placed = kk_transform_make(turn_to(along), kk_vec3_scale(along, 0.5));
    return scene_jointed(s, parent, type, axis, at, kk_inertia_to(placed, upright));
}

void motion_strip(scene *s) {
    for (int i = 1; !s->is_broken && i < kk_spec_body_count(s->spec); i++) {
        for (int k = 0; k < KK_MAX_JOINT_DOFS; k++) {
            kk_spec_body(s->spec, i)->joint.dof[k] = kk_dof_def_default();
        }
    }
    for (int i = 0; !s->is_broken && i < kk_spec_shape_count(s->spec); i++) {
        kk_spec_shape(s->spec, i)->purpose &= ~KK_SHAPE_COLLIDES;
    }
}

double motion_kinetic(scene *s) {
    return s->is_broken ? 0 : kk_kinetic_energy(s->model, s->data, kk_state_q(s->state), kk_state_v(s->state));
}

double motion_energy(scene *s) {
    double sum = scene_energy(s);
    for (int i = 1; !s->is_broken && i < kk_model_nbody(s->model); i++) {
        const kk_joint_info joint = kk_model_joint(s->model, i);
        if (joint.nq == 1 && joint.nv == 1) {
            const kk_dof_def dof = kk_model_dof(s->model, joint.v_index);
            const double stretch = kk_state_q(s->state)[joint.q_index] - dof.rest;
            sum += 0.5 * dof.stiffness * stretch * stretch;
        }
    }
    return sum;
}

int motion_nv(const scene *s) {
    return s->is_broken ? 0 : kk_model_nv(s->model);
}

void motion_fling(scene *s, kk_random *random, double most) {
    for (int k = 0; k < motion_nv(s); k++) {
        kk_state_v(s->state)[k] = kk_random_next_between(random, -most, most);
    }
}
