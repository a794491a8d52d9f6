/// Slider-cranks: a slider on a line through s along a, and a rod of length r from it to the crank's pin c.
///
/// With w = c − s and x = w · a the slider stands at  L = x − √(x² + r² − w²)  from s; where the rod is too short for the pin, at x. The force on the pin is
/// ∂L/∂w, its opposite acts at s, and the line feels the moment a × ∂L/∂a.
#include "simulate/crank.h"

#include <karakuri/elementary.h>

static kk_transform place_of(const kk_model *m, const kk_data *d, int frame, int *node) {
    const kki_frame *f = &m->frame[frame];
    const kki_body *b = &m->body[f->body];
    *node = b->node;
    return kk_transform_mul(kki_node_transform(d, b->node), kk_transform_mul(b->X_NB, f->X_BF));
}

/// Power of a wrench about a point of a node.
static double power_of(const kk_data *d, int node, kk_vec3 at, kk_force f) {
    const kki_rates *V = kki_rates_of(d, node);
    const kk_vec3 w = kki_vec3(V->w), arm = kk_vec3_sub(at, kki_vec3(kki_pose_of(d, node)->p));
    return kk_vec3_dot(f.angular, w) + kk_vec3_dot(f.linear, kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(w, arm)));
}

kki_crank kki_crank_measure(const kk_model *m, const kk_data *d, const kki_model_actuator *a) {
    kki_crank x;
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    const kk_transform slider = place_of(m, d, a->reference, &x.node[1]);
    const kk_vec3 axis = kk_mat3_column(slider.R, 2);
    x.at[0] = place_of(m, d, a->frame, &x.node[0]).p;
    x.at[1] = slider.p;
    const kk_vec3 way = kk_vec3_sub(x.at[0], x.at[1]);
    const double along = kk_vec3_dot(way, axis);
    const double square = along * along + a->rod_length * a->rod_length - kk_vec3_dot(way, way);
    const double root = square > 0 ? kk_sqrt(square) : 0, rate = square > 0 ? 1 / root : 0;
    x.length = along - root;
    const kk_vec3 across = kk_vec3_sub(kk_vec3_scale(axis, along), way);
    const kk_vec3 by_way = kk_vec3_sub(axis, kk_vec3_scale(across, rate));
    const kk_vec3 by_axis = kk_vec3_scale(way, 1 - along * rate);
    x.unit[0] = kk_force_make(none, by_way);
    x.unit[1] = kk_force_make(kk_vec3_cross(axis, by_axis), kk_vec3_scale(by_way, -1));
    x.rate = power_of(d, x.node[0], x.at[0], x.unit[0]) + power_of(d, x.node[1], x.at[1], x.unit[1]);
    return x;
}
