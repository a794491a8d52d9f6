// Forces in the joints: action and reaction body by body, the floor wrench, and the part along the joint's own freedom.
#include "support/scene.h"

#include <math.h>

static kk_force in_world(const scene *s, int body, kk_force F_B) {
    return kk_force_to(kk_body_pose(s->model, s->data, body), F_B);
}

static double size_of(kk_force F) {
    return kk_vec3_norm(F.angular) + kk_vec3_norm(F.linear);
}

/// Joint wrenches in world axes about the world's origin, and what each body needs.
typedef struct forces {
    kk_force joint[32], load[32], floor;
    double scale; // the largest of them
} forces;

static forces forces_of(scene *s, int with_external, double *tau) {
    forces f = {.scale = 1};
    kk_force local[32];
    if (with_external) {
        kk_inverse_dynamics_external(s->model, s->data, s->q, s->v, s->a, s->external, tau);
    } else {
        kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, tau);
    }
    for (int b = 1; b < s->nbody; b++) {
        local[b] = kk_joint_wrench(s->model, s->data, b);
    }
    f.floor = kk_floor_wrench(s->model, s->data);
    kk_kinematics_acceleration(s->model, s->data, s->q, s->v, s->a);
    for (int b = 1; b < s->nbody; b++) {
        f.joint[b] = in_world(s, b, local[b]);
        f.load[b] = scene_body_load(s, b);
        f.load[b] = with_external ? kk_force_sub(f.load[b], scene_body_external(s, b)) : f.load[b];
        f.scale = fmax(f.scale, fmax(size_of(f.joint[b]), size_of(f.load[b])));
    }
    return f;
}

// own joint minus the children's joints moves the body, fixed bodies included; roots together are the floor
KK_TEST(action_is_reaction) {
    worst bodies = {0}, floor = {0}, whole = {0};
    for (int i = 0; i < 2 * scene_count(); i++) {
        scene s = scene_forest((uint64_t)(i / 2));
        const forces f = forces_of(&s, i % 2, scene_take(&s, (size_t)s.nv));
        kk_force left[32] = {{{0, 0, 0}, {0, 0, 0}}}, all = left[0];
        for (int b = 1; b < s.nbody; b++) {
            const int parent = kk_model_body_parent(s.model, b);
            left[b] = kk_force_add(left[b], f.joint[b]);
            left[parent] = kk_force_sub(left[parent], f.joint[b]);
            all = kk_force_add(all, f.load[b]);
        }
        for (int b = 1; b < s.nbody; b++) {
            worst_compare_force(&bodies, &s, left[b], f.load[b], f.scale);
        }
        const kk_force zero = {{0, 0, 0}, {0, 0, 0}};
        worst_compare_force(&floor, &s, f.floor, kk_force_sub(zero, left[0]), f.scale);
        worst_compare_force(&whole, &s, f.floor, all, f.scale * s.nbody);
        scene_free(&s);
    }
    WORST_CHECK(bodies, 1e-11);
    WORST_CHECK(floor, 1e-11);
    WORST_CHECK(whole, 1e-11);
}

// along the joint's own freedom the wrench is the torque less what the armature takes
KK_TEST(wrench_along_the_freedom_is_the_torque) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        double *tau = scene_take(&s, (size_t)s.nv);
        const forces f = forces_of(&s, i % 2, tau);
        kk_motion V[32];
        for (int b = 1; b < s.nbody; b++) {
            const kk_joint_info joint = kk_model_joint(s.model, b);
            for (int k = joint.v_index; k < joint.v_index + joint.nv; k++) {
                scene_unit_velocities(&s, s.q, k, V);
                const kk_motion relative = kk_motion_sub(V[b], V[kk_model_body_parent(s.model, b)]);
                const double along = kk_motion_dot(relative, f.joint[b]);
                const double expected = tau[k] - kk_model_dof(s.model, k).armature * s.a[k];
                worst_compare(&w, &s, &along, &expected, 1, f.scale);
            }
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}
