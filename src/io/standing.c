/// What the options ask for beyond the file: a base, a floor, servos, feet on the ground.
///
/// Gains of servos that have none. The load of a degree of freedom is the inertia about its axis (the mass along it), all
/// joints at zero, of whichever side of the joint is heavier: what hangs on it, or, where the base is free, all the rest
/// of the robot, as a standing leg has to carry it. With the natural frequency ω = 2π · 4 Hz and critical damping
///     kp = J ω²,   kd = 2 J ω,   kv = J ω.
/// A pendulum of length l then sags by at most g / (l ω²), which is 1.6 cm/l. Servos are solved implicitly, so that no
/// gain is too high for the time step. Forces stay within the joint's effort limit.
#include "io/standing.h"

#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/name_table.h"
#include "io/text.h"
#include "model/joint.h"

static const double FREQUENCY = 25.132741228718345; // 2π · 4 Hz

/// Everything at rest: q = 0.
typedef struct rest {
    const kk_spec *spec;
    kk_transform *X_WB; ///< [nbody]
    kk_inertia *behind; ///< [nbody] of the body and all behind it, in the world
    int *root;          ///< [nbody] the body of its tree that hangs on the world
} rest;

static kk_inertia add_inertia(kk_inertia a, kk_inertia b) {
    return a.mass + b.mass > 0 ? kk_inertia_add(a, b) : a;
}

static void fill_rest(rest *r) {
    const kk_spec *s = r->spec;
    r->X_WB[KK_WORLD] = kk_transform_identity();
    r->root[KK_WORLD] = KK_WORLD;
    for (int i = 0; i < s->nbody; i++) {
        const kk_body_def *b = &s->body[i];
        if (i != KK_WORLD) {
            r->X_WB[i] = kk_transform_mul(kk_transform_mul(r->X_WB[b->parent], b->joint.placement), b->offset);
            r->root[i] = b->parent == KK_WORLD ? i : r->root[b->parent];
        }
        r->behind[i] = kk_inertia_to(r->X_WB[i], b->inertia);
    }
    for (int i = s->nbody - 1; i > 0; i--) {
        // what hangs on the world does not weigh on each other
        if (s->body[i].parent != KK_WORLD) {
            r->behind[s->body[i].parent] = add_inertia(r->behind[s->body[i].parent], r->behind[i]);
        }
    }
}

static void free_rest(const kki_loader *l, rest *r) {
    const size_t n = (size_t)l->spec->nbody;
    kki_release_array(&l->allocator, r->X_WB, n, sizeof *r->X_WB);
    kki_release_array(&l->allocator, r->behind, n, sizeof *r->behind);
    kki_release_array(&l->allocator, r->root, n, sizeof *r->root);
}

static kk_status no_memory(kki_loader *l) {
    return kki_diagnostics_add(l->diagnostics, &(kki_finding){.severity = KKI_ERROR,
                                                              .status = KK_OUT_OF_MEMORY,
                                                              .file = l->path,
                                                              .text = "no memory to make the robot stand",
                                                              .remedy = ""});
}

static kk_status make_rest(kki_loader *l, rest *r) {
    const size_t n = (size_t)l->spec->nbody;
    *r = (rest){.spec = l->spec,
                .X_WB = kki_allocate_array(&l->allocator, n, sizeof *r->X_WB),
                .behind = kki_allocate_array(&l->allocator, n, sizeof *r->behind),
                .root = kki_allocate_array(&l->allocator, n, sizeof *r->root)};
    if (!r->X_WB || !r->behind || !r->root) {
        free_rest(l, r);
        return no_memory(l);
    }
    fill_rest(r);
    return KK_OK;
}

static kk_status keep(kki_loader *l, kk_status status, const kk_error *error) {
    if (status != KK_OK) {
        kki_diagnostics_add_error(l->diagnostics, error);
    }
    return status;
}

// ---- the base

/// Takes `count` numbers away from the `*total` of a keyframe's, which the spec owns.
static void cut_out(const double *numbers, int *total, int first, int count) {
    double *own = (double *)(uintptr_t)numbers;
    if (own && first + count <= *total) {
        memmove(own + first, own + first + count, (size_t)(*total - first - count) * sizeof *own);
        *total -= count;
    }
}

/// A free joint that becomes fixed leaves the keyframes, which would no longer fit.
static void fix_joint(kk_spec *s, int body) {
    const kki_joint_type *type = kki_joint_type_of(s->body[body].joint.type);
    int q = 0, v = 0;
    for (int i = 1; i < body; i++) {
        q += kki_joint_type_of(s->body[i].joint.type)->nq;
        v += kki_joint_type_of(s->body[i].joint.type)->nv;
    }
    for (int i = 0; i < s->nkeyframe; i++) {
        cut_out(s->keyframe[i].q, &s->keyframe[i].q_count, q, type->nq);
        cut_out(s->keyframe[i].v, &s->keyframe[i].v_count, v, type->nv);
    }
    s->body[body].joint.type = KK_JOINT_FIXED;
}

/// Joints to the world: a free one becomes fixed, or what is fixed and has mass becomes free.
static void set_base(kki_loader *l, const rest *r) {
    kk_spec *s = l->spec;
    const kk_base base = l->options->base;
    for (int i = 1; i < s->nbody; i++) {
        kk_joint_def *joint = &s->body[i].joint;
        if (s->body[i].parent != KK_WORLD) {
            continue;
        }
        if (base == KK_BASE_FIXED && joint->type == KK_JOINT_FREE) {
            fix_joint(s, i);
        } else if (base == KK_BASE_FREE && joint->type == KK_JOINT_FIXED && r->behind[i].mass > 0) {
            joint->type = KK_JOINT_FREE;
        }
    }
}

// ---- servos

/// The axis of a degree of freedom in the world and whether it turns; false for those that no servo drives.
static bool axis_of(const rest *r, int body, int dof, kk_vec3 *axis, kk_vec3 *point, bool *turns) {
    const kk_body_def *b = &r->spec->body[body];
    const kk_joint_def *j = &b->joint;
    kk_vec3 local = j->axis;
    *turns = true;
    switch (j->type) {
    case KK_JOINT_HINGE:
    case KK_JOINT_SCREW: break;
    case KK_JOINT_SLIDE: *turns = false; break;
    case KK_JOINT_CYLINDRICAL: *turns = dof == 0; break;
    case KK_JOINT_UNIVERSAL: local = dof == 0 ? j->axis : j->axis2; break;
    default: return false;
    }
    const kk_transform X_WJ = kk_transform_mul(r->X_WB[body], kk_transform_inverse(b->offset));
    *axis = kk_mat3_mul_vec(X_WJ.R, kki_unit(local));
    *point = X_WJ.p;
    return true;
}

static double about(const kk_inertia *I, kk_vec3 axis, kk_vec3 point) {
    const kk_vec3 arm = kk_vec3_cross(kk_vec3_sub(I->com, point), axis);
    return kk_vec3_dot(axis, kk_sym3_mul_vec(I->moment, axis)) + I->mass * kk_vec3_dot(arm, arm);
}

/// The load of the heavier side.
static double load_of(const rest *r, int body, int dof) {
    kk_vec3 axis, point;
    bool turns;
    if (!axis_of(r, body, dof, &axis, &point, &turns)) {
        return 0;
    }
    const kk_dof_def *d = &r->spec->body[body].joint.dof[dof];
    const double armature = d->armature + d->rotor_inertia * d->gear_ratio * d->gear_ratio;
    const int root = r->root[body];
    const bool is_free = r->spec->body[root].joint.type == KK_JOINT_FREE;
    const kk_inertia *own = &r->behind[body], *whole = &r->behind[root];
    const double behind = turns ? about(own, axis, point) : own->mass;
    const double before = !is_free ? 0 : (turns ? about(whole, axis, point) : whole->mass) - behind;
    return (behind > before ? behind : before) + armature;
}

static void set_gain(const rest *r, int body, kk_actuator_def *a) {
    // along the transmission: q = length / gear
    const double gear = a->gear != 0 ? a->gear : 1, J = load_of(r, body, a->dof) / (gear * gear);
    a->gain = a->type == KK_ACTUATOR_POSITION ? J * FREQUENCY * FREQUENCY : J * FREQUENCY;
    a->bias[0] = 0;
    a->bias[1] = a->type == KK_ACTUATOR_POSITION ? -a->gain : 0;
    a->bias[2] = a->type == KK_ACTUATOR_POSITION ? -2 * J * FREQUENCY : -a->gain;
}

/// Joints by name: the body they belong to.
static kk_status index_joints(kki_loader *l, kki_name_table *joints) {
    kk_status status = KK_OK;
    for (int i = 1; i < l->spec->nbody && status == KK_OK; i++) {
        const char *name = l->spec->body[i].joint.name;
        status = name && name[0] ? kki_name_table_set(joints, name, i) : KK_OK;
    }
    return status ? no_memory(l) : KK_OK;
}

static bool needs_gain(const kk_actuator_def *a) {
    return a->transmission == KK_TRANSMISSION_JOINT && a->gain == 0 && a->target &&
           (a->type == KK_ACTUATOR_POSITION || a->type == KK_ACTUATOR_VELOCITY);
}

static void fill_gains(kki_loader *l, const rest *r, const kki_name_table *joints) {
    for (int i = 0; i < l->spec->nactuator; i++) {
        kk_actuator_def *a = &l->spec->actuator[i];
        const int32_t body = needs_gain(a) ? kki_name_table_find(joints, a->target) : -1;
        if (body >= 0 && a->dof < KK_MAX_JOINT_DOFS) {
            set_gain(r, body, a);
        }
    }
}

/// Marks the joints that something drives already, or that follow another.
static void mark_driven(const kki_loader *l, const kki_name_table *joints, uint8_t *driven) {
    const kk_spec *s = l->spec;
    for (int i = 0; i < s->nactuator; i++) {
        const kk_actuator_def *a = &s->actuator[i];
        const int32_t body =
            a->transmission == KK_TRANSMISSION_JOINT && a->target ? kki_name_table_find(joints, a->target) : -1;
        if (body >= 0 && a->dof < KK_MAX_JOINT_DOFS) {
            driven[body] |= (uint8_t)(1 << a->dof);
        }
    }
    for (int i = 0; i < s->ncoupling; i++) {
        const kk_coupling_def *c = &s->coupling[i];
        const int32_t body = c->follower ? kki_name_table_find(joints, c->follower) : -1;
        if (body >= 0 && c->follower_dof < KK_MAX_JOINT_DOFS) {
            driven[body] |= (uint8_t)(1 << c->follower_dof);
        }
    }
}

static kk_status add_servo(kki_loader *l, const rest *r, int body, int dof, int degrees) {
    char name[KKI_NAME_SIZE];
    kk_error error = {.status = KK_OK};
    const kk_body_def *b = &l->spec->body[body];
    const kk_dof_def *d = &b->joint.dof[dof];
    kk_actuator_def a = kk_actuator_def_default();
    const int length = kki_whole_length(b->joint.name, KKI_MOST_NAME);
    if (degrees > 1) {
        kki_print(name, sizeof name, "%.*s_servo_%d", length, b->joint.name, dof);
    } else {
        kki_print(name, sizeof name, "%.*s_servo", length, b->joint.name);
    }
    a.name = name;
    a.type = KK_ACTUATOR_POSITION;
    a.target = b->joint.name;
    a.dof = dof;
    a.control_lower = d->lower;
    a.control_upper = d->upper;
    a.force_lower = -d->effort_limit;
    a.force_upper = d->effort_limit;
    a.origin = b->joint.origin;
    set_gain(r, body, &a);
    return keep(l, kk_spec_add_actuator(l->spec, &a, NULL, &error), &error);
}

static kk_status add_servos(kki_loader *l, const rest *r, const kki_name_table *joints) {
    const size_t count = (size_t)l->spec->nbody;
    uint8_t *driven = kki_allocate_array_zeroed(&l->allocator, count, sizeof *driven);
    if (!driven) {
        return no_memory(l);
    }
    mark_driven(l, joints, driven);
    kk_status status = KK_OK;
    for (int i = 1; i < l->spec->nbody && status == KK_OK; i++) {
        const kk_joint_def *joint = &l->spec->body[i].joint;
        const int degrees = kki_joint_type_of(joint->type)->nv;
        kk_vec3 axis, point;
        bool turns;
        for (int k = 0; k < degrees && status == KK_OK; k++) {
            const bool is_wanted = joint->name && joint->name[0] && !(driven[i] & (1 << k));
            if (is_wanted && axis_of(r, i, k, &axis, &point, &turns)) {
                status = add_servo(l, r, i, k, degrees);
            }
        }
    }
    kki_release_array(&l->allocator, driven, count, sizeof *driven);
    return status;
}

/// The coordinate of a spec's order that an actuator holds; -1: none.
static int held_coordinate(const kk_spec *s, const kk_actuator_def *a, const kki_name_table *joints) {
    const int32_t body = a->target ? kki_name_table_find(joints, a->target) : -1;
    int q = 0;
    for (int i = 1; i < body; i++) {
        q += kki_joint_type_of(s->body[i].joint.type)->nq;
    }
    return body > 0 ? q + a->dof : -1;
}

/// Keyframes that name the controls of the actuators so far: new servos hold the keyframe's pose.
static kk_status extend_keyframes(kki_loader *l, const kki_name_table *joints, int before) {
    kk_spec *s = l->spec;
    const int count = s->nactuator;
    kk_error error = {.status = KK_OK};
    double *control = count > before ? kki_allocate_array(&l->allocator, (size_t)count, sizeof *control) : NULL;
    kk_status status = count > before && !control ? no_memory(l) : KK_OK;
    for (int i = 0; i < s->nkeyframe && control && status == KK_OK; i++) {
        kk_keyframe_def *key = &s->keyframe[i];
        if (key->control && key->control_count != before) {
            continue;
        }
        for (int a = 0; a < before; a++) {
            control[a] = key->control ? key->control[a] : 0;
        }
        for (int a = before; a < count; a++) {
            const int q = held_coordinate(s, &s->actuator[a], joints);
            control[a] = q >= 0 && key->q && q < key->q_count ? key->q[q] : 0;
        }
        key->control = control;
        key->control_count = count;
        status = keep(l, kki_spec_own_doubles(s, &key->control, count, &error), &error);
    }
    kki_release_array(&l->allocator, control, (size_t)count, sizeof *control);
    return status;
}

static kk_status set_servos(kki_loader *l, const rest *r) {
    const int before = l->spec->nactuator;
    kki_name_table joints;
    kki_name_table_create(&joints, &l->allocator);
    kk_status status = index_joints(l, &joints);
    if (status == KK_OK) {
        fill_gains(l, r, &joints);
        status = l->options->add_actuators ? add_servos(l, r, &joints) : KK_OK;
        status = status ? status : extend_keyframes(l, &joints, before);
    }
    kki_name_table_destroy(&joints);
    return status;
}

// ---- the floor

static bool is_floor(const kk_shape_def *shape) {
    return shape->body == KK_WORLD && shape->purpose & KK_SHAPE_COLLIDES &&
           (shape->type == KK_SHAPE_PLANE || shape->type == KK_SHAPE_HEIGHT_FIELD);
}

static kk_status add_floor(kki_loader *l) {
    kk_error error = {.status = KK_OK};
    kk_shape_def floor = kk_shape_def_default();
    bool is_taken = false;
    for (int i = 0; i < l->spec->nshape; i++) {
        const char *name = l->spec->shape[i].name;
        if (is_floor(&l->spec->shape[i])) {
            return KK_OK;
        }
        is_taken = is_taken || (name && strcmp(name, "floor") == 0);
    }
    floor.name = is_taken ? NULL : "floor";
    floor.type = KK_SHAPE_PLANE;
    // it touches whatever touches anything
    floor.group = floor.mask = UINT32_MAX;
    return keep(l, kk_spec_add_shape(l->spec, &floor, NULL, &error), &error);
}

// ---- feet on the ground

bool kki_shape_box(const kk_spec *spec, const kk_shape_def *shape, kk_vec3 *center, kk_vec3 *half) {
    const double *s = shape->size;
    kk_vec3 low = {0, 0, 0}, high = {0, 0, 0};
    *center = kk_vec3_make(0, 0, 0);
    switch (shape->type) {
    case KK_SHAPE_SPHERE: *half = kk_vec3_make(s[0], s[0], s[0]); return true;
    case KK_SHAPE_CAPSULE: *half = kk_vec3_make(s[0], s[0], s[0] + 0.5 * s[1]); return true;
    case KK_SHAPE_CYLINDER:
    case KK_SHAPE_CONE: *half = kk_vec3_make(s[0], s[0], 0.5 * s[1]); return true;
    case KK_SHAPE_ELLIPSOID: *half = kk_vec3_make(s[0], s[1], s[2]); return true;
    case KK_SHAPE_BOX: *half = kk_vec3_make(0.5 * s[0], 0.5 * s[1], 0.5 * s[2]); return true;
    case KK_SHAPE_HULL:
    case KK_SHAPE_MESH: break;
    default: return false;
    }
    const kk_mesh_def *mesh = shape->mesh >= 0 && shape->mesh < spec->nmesh ? &spec->mesh[shape->mesh] : NULL;
    for (int i = 0; mesh && i < mesh->vertex_count; i++) {
        const kk_vec3 p = mesh->vertex[i];
        low =
            i == 0 ? p : kk_vec3_make(p.x < low.x ? p.x : low.x, p.y < low.y ? p.y : low.y, p.z < low.z ? p.z : low.z);
        high = i == 0 ? p
                      : kk_vec3_make(p.x > high.x ? p.x : high.x, p.y > high.y ? p.y : high.y,
                                     p.z > high.z ? p.z : high.z);
    }
    *center = kk_vec3_scale(kk_vec3_add(low, high), 0.5);
    *half = kk_vec3_scale(kk_vec3_sub(high, low), 0.5);
    return mesh && mesh->vertex_count > 0;
}

/// The lowest z of a shape; `n` is the world's z in the shape's axes.
static double lowest(const kk_spec *spec, const kk_shape_def *shape, kk_transform X_WS) {
    const kk_vec3 n = kk_vec3_make(X_WS.R.m[6], X_WS.R.m[7], X_WS.R.m[8]);
    const double *s = shape->size, across = kk_hypot(n.x, n.y), up = __builtin_fabs(n.z);
    double reach = 0;
    switch (shape->type) {
    case KK_SHAPE_SPHERE: reach = s[0]; break;
    case KK_SHAPE_CAPSULE: reach = s[0] + 0.5 * s[1] * up; break;
    case KK_SHAPE_CYLINDER: reach = s[0] * across + 0.5 * s[1] * up; break;
    case KK_SHAPE_CONE:
        reach = -0.5 * s[1] * n.z; // the tip, or the rim of the base
        reach = s[0] * across + 0.5 * s[1] * n.z > reach ? s[0] * across + 0.5 * s[1] * n.z : reach;
        break;
    case KK_SHAPE_ELLIPSOID: reach = kk_hypot(s[0] * n.x, kk_hypot(s[1] * n.y, s[2] * n.z)); break;
    case KK_SHAPE_BOX: reach = 0.5 * (s[0] * __builtin_fabs(n.x) + s[1] * __builtin_fabs(n.y) + s[2] * up); break;
    case KK_SHAPE_HULL:
    case KK_SHAPE_MESH:
        for (int i = 0; shape->mesh >= 0 && i < spec->mesh[shape->mesh].vertex_count; i++) {
            const double depth = -kk_vec3_dot(n, spec->mesh[shape->mesh].vertex[i]);
            reach = i == 0 || depth > reach ? depth : reach;
        }
        break;
    default: return __builtin_inf();
    }
    return X_WS.p.z - reach - shape->margin;
}

/// Each free base so high that the lowest point of its tree is at z = 0.
static kk_status place_on_floor(kki_loader *l, const rest *r) {
    kk_spec *s = l->spec;
    double *low = kki_allocate_array(&l->allocator, (size_t)s->nbody, sizeof *low);
    if (!low) {
        return no_memory(l);
    }
    for (int i = 0; i < s->nbody; i++) {
        low[i] = __builtin_inf();
    }
    for (int i = 0; i < s->nshape; i++) {
        const kk_shape_def *shape = &s->shape[i];
        const int root = r->root[shape->body];
        if (shape->purpose & KK_SHAPE_COLLIDES) {
            const double z = lowest(s, shape, kk_transform_mul(r->X_WB[shape->body], shape->placement));
            low[root] = z < low[root] ? z : low[root];
        }
    }
    for (int i = 1; i < s->nbody; i++) {
        if (s->body[i].parent == KK_WORLD && s->body[i].joint.type == KK_JOINT_FREE && low[i] < __builtin_inf()) {
            s->body[i].joint.placement.p.z -= low[i];
        }
    }
    kki_release_array(&l->allocator, low, (size_t)s->nbody, sizeof *low);
    return KK_OK;
}

// ---- the story

kk_status kki_stand(kki_loader *loader) {
    const kk_load_options *o = loader->options;
    rest r;
    if (loader->diagnostics->has_error) {
        return KK_OK;
    }
    kk_status status = make_rest(loader, &r);
    if (status != KK_OK) {
        return status;
    }
    if (o->base != KK_BASE_AS_FILE) {
        set_base(loader, &r);
    }
    status = set_servos(loader, &r);
    status = status || !o->place_on_floor ? status : place_on_floor(loader, &r);
    status = status || !o->add_floor ? status : add_floor(loader);
    free_rest(loader, &r);
    return status || !o->clean_collisions ? status : kki_clean_collisions(loader);
}
