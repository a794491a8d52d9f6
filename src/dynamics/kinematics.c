/// Forward kinematics: where every body is, how fast it moves, how it accelerates.
///
/// The kernels work on nodes; a body rides on its node at a constant place. With d from the node's origin to the point asked for,
///     u_B = u + ω × d,   a_B = a + α × d + ω × (ω × d)   (classical),
/// and the spatial acceleration is the classical one minus ω × u.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_kinematics(const kk_model *model, kk_data *data, const double *q) {
    if (kki_is_missing(model, data, q)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->kinematics(model, &data->scratch, q, 1);
    return KK_OK;
}

kk_status kk_kinematics_velocity(const kk_model *model, kk_data *data, const double *q, const double *v) {
    if (kki_is_missing(model, data, q, v)) {
        return KK_INVALID_ARGUMENT;
    }
    return kk_kinematics_acceleration(model, data, q, v, data->zero);
}

kk_status kk_kinematics_acceleration(const kk_model *model, kk_data *data, const double *q, const double *v,
                                     const double *a) {
    if (kki_is_missing(model, data, q, v, a)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->kinematics(model, &data->scratch, q, 1);
    data->kernels->rates(model, &data->scratch, v, a);
    return KK_OK;
}

// ---- a place fixed on a node

typedef struct place {
    int node;
    kk_transform X_WF;
} place;

static place place_on(const kk_data *d, int node, kk_transform X_NF) {
    return (place){node, kk_transform_mul(kki_node_transform(d, node), X_NF)};
}

static place no_place(void) {
    const kk_vec3 none = kki_nowhere();
    return (place){0, kk_transform_make(kk_mat3_from_columns(none, none, none), none)};
}

static place body_place(const kk_model *m, const kk_data *d, int body) {
    return kki_fits(m, d) && kki_has_body(m, body) ? place_on(d, m->body[body].node, m->body[body].X_NB) : no_place();
}

static place frame_place(const kk_model *m, const kk_data *d, int frame) {
    if (!kki_fits(m, d) || !kki_has_frame(m, frame)) {
        return no_place();
    }
    const kki_body *body = &m->body[m->frame[frame].body];
    return place_on(d, body->node, kk_transform_mul(body->X_NB, m->frame[frame].X_BF));
}

/// From world axes about the frame's origin to the reference asked for.
static kk_motion refer(kk_transform X_WF, kk_motion aligned, kk_reference reference) {
    switch (reference) {
    case KK_LOCAL:
        return kk_motion_make(kk_mat3_tmul_vec(X_WF.R, aligned.angular), kk_mat3_tmul_vec(X_WF.R, aligned.linear));
    case KK_WORLD_ORIGIN:
        return kk_motion_make(aligned.angular, kk_vec3_add(aligned.linear, kk_vec3_cross(X_WF.p, aligned.angular)));
    case KK_WORLD_ALIGNED: break;
    }
    return aligned;
}

/// Velocity of the place in world axes about its own origin.
static kk_motion aligned_velocity(const kk_data *d, place at) {
    const kki_rates *s = kki_rates_of(d, at.node);
    const kk_vec3 lever = kk_vec3_sub(at.X_WF.p, kki_vec3(kki_pose_of(d, at.node)->p)), w = kki_vec3(s->w);
    return kk_motion_make(w, kk_vec3_add(kki_vec3(s->u), kk_vec3_cross(w, lever)));
}

static kk_motion aligned_classical_acceleration(const kk_data *d, place at) {
    const kki_rates *s = kki_rates_of(d, at.node);
    const kk_vec3 lever = kk_vec3_sub(at.X_WF.p, kki_vec3(kki_pose_of(d, at.node)->p)), w = kki_vec3(s->w),
                  al = kki_vec3(s->al);
    const kk_vec3 turned = kk_vec3_add(kk_vec3_cross(al, lever), kk_vec3_cross(w, kk_vec3_cross(w, lever)));
    return kk_motion_make(al, kk_vec3_add(kki_vec3(s->a), turned));
}

static kk_motion velocity(const kk_data *d, place at, kk_reference reference) {
    return refer(at.X_WF, aligned_velocity(d, at), reference);
}

static kk_motion acceleration(const kk_data *d, place at, kk_reference reference) {
    const kk_motion v = aligned_velocity(d, at), a = aligned_classical_acceleration(d, at);
    const kk_vec3 spatial = kk_vec3_sub(a.linear, kk_vec3_cross(v.angular, v.linear));
    return refer(at.X_WF, kk_motion_make(a.angular, spatial), reference);
}

static kk_motion classical_acceleration(const kk_data *d, place at, kk_reference reference) {
    const kk_motion a = aligned_classical_acceleration(d, at);
    // a classical acceleration belongs to its point: only the axes can change
    return reference == KK_LOCAL ? refer(at.X_WF, a, KK_LOCAL) : a;
}

// ---- readers

kk_transform kk_body_pose(const kk_model *model, const kk_data *data, int body) {
    return body_place(model, data, body).X_WF;
}
kk_transform kk_frame_pose(const kk_model *model, const kk_data *data, int frame) {
    return frame_place(model, data, frame).X_WF;
}

kk_motion kk_body_velocity(const kk_model *model, const kk_data *data, int body, kk_reference reference) {
    return velocity(data, body_place(model, data, body), reference);
}
kk_motion kk_frame_velocity(const kk_model *model, const kk_data *data, int frame, kk_reference reference) {
    return velocity(data, frame_place(model, data, frame), reference);
}
kk_motion kk_body_acceleration(const kk_model *model, const kk_data *data, int body, kk_reference reference) {
    return acceleration(data, body_place(model, data, body), reference);
}
kk_motion kk_frame_acceleration(const kk_model *model, const kk_data *data, int frame, kk_reference reference) {
    return acceleration(data, frame_place(model, data, frame), reference);
}
kk_motion kk_body_classical_acceleration(const kk_model *model, const kk_data *data, int body, kk_reference reference) {
    return classical_acceleration(data, body_place(model, data, body), reference);
}
kk_motion kk_frame_classical_acceleration(const kk_model *model, const kk_data *data, int frame,
                                          kk_reference reference) {
    return classical_acceleration(data, frame_place(model, data, frame), reference);
}
