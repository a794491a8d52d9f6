// Forces in the joints: action and reaction body by body, the floor wrench, and the part along the joint's own freedom.
#include "support/scene.h"

#include "dynamics/data.h"

#include <math.h>
#include <stdio.h>

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

// all at once is one by one
KK_TEST(joint_wrenches_of_all_bodies) {
    worst apart = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        double *tau = scene_take(&s, (size_t)s.nv), scale = 1;
        kk_force all[32];
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        kki_joint_wrenches(s.model, s.data, all);
        for (int b = 0; b < s.nbody; b++) {
            scale = fmax(scale, size_of(all[b]));
        }
        for (int b = 0; b < s.nbody; b++) {
            worst_compare_force(&apart, &s, all[b], kk_joint_wrench(s.model, s.data, b), scale);
        }
        scene_free(&s);
    }
    WORST_CHECK(apart, 1e-12);
}

// a mast of so many links that squares of their number would show: each bears what is above it
KK_TEST(fixed_chains_are_read_in_linear_time) {
    enum { LINKS = 20000 };
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_data *data = NULL;
    double q = 0, v = 0, a = 0, tau = 0;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    for (int i = 0, parent = KK_WORLD; i < LINKS; i++) {
        kk_body_def def = kk_body_def_default();
        char name[16];
        snprintf(name, sizeof name, "link%d", i);
        def.name = name;
        def.parent = parent;
        def.joint.type = i == 0 ? KK_JOINT_HINGE : KK_JOINT_FIXED;
        def.joint.axis = kk_vec3_make(1, 0, 0);
        def.inertia = kk_inertia_solid_box(0.5, 0.1, 0.1, 0.1);
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &def, &parent, NULL), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(model, NULL, &data), KK_OK);
    KK_CHECK_EQ_INT(kk_inverse_dynamics(model, data, &q, &v, &a, &tau), KK_OK);
    const double g = kk_vec3_norm(kk_model_gravity(model));
    for (int body = 1; body <= LINKS; body += LINKS / 20) {
        const double weight = 0.5 * g * (LINKS + 1 - body);
        KK_CHECK_NEAR(kk_vec3_norm(kk_joint_wrench(model, data, body).linear), weight, 1e-9 * weight);
    }
    kk_data_free(data);
    kk_model_free(model);
    kk_spec_free(spec);
}
