/// Forces inside the joints, read from what inverse dynamics left.
///
/// A body with a joint of its own carries the whole load of its node. A body B behind a fixed joint shares its node
/// with others, and its load is gathered again: what moves the bodies that are fixed to it, less what pushes them from
/// outside, plus the loads of the joints mounted on them,
///     F_B = Σ_c (I_c a_c + v_c ×* I_c v_c − external_c) + Σ_j F_j,
/// c fixed to B (B included), j a joint on one of the c,
/// so that action equals reaction body by body (Newton's third law is the invariant; tests/dynamics sums it).
#include "dynamics/data.h"

kk_transform kki_node_in_parent(const kk_model *model, const kk_data *data, int node) {
    const kki_node *b = &model->node[node];
    if (b->type != KKI_NODE_HINGE) {
        const kki_local_pose *x = (const kki_local_pose *)data->scratch.local_pose + node;
        return kk_transform_make(kki_mat3(x->R), kki_vec3(x->p));
    }
    const double s = data->scratch.sine[node], c = data->scratch.cosine[node];
    const kk_vec3 x = kki_vec3(b->R[0]), y = kki_vec3(b->R[1]);
    const kk_vec3 turned_x = kk_vec3_add(kk_vec3_scale(x, c), kk_vec3_scale(y, s));
    const kk_vec3 turned_y = kk_vec3_sub(kk_vec3_scale(y, c), kk_vec3_scale(x, s));
    return kk_transform_make(kk_mat3_from_columns(turned_x, turned_y, kki_vec3(b->R[2])), kki_vec3(b->p));
}

/// What moves one body as its node moves, less what pushes it from outside; in the node's frame about the node's
/// origin.
static kk_force own_load(const kk_model *m, const kk_data *d, int body) {
    const kki_local *s = kki_local_of(d, m->body[body].node);
    const kk_inertia I = kk_inertia_to(m->body[body].X_NB, m->body[body].inertia);
    const kk_vec3 w = kki_vec3(s->w), al = kki_vec3(s->al), c = I.com;
    const kk_vec3 turned = kk_vec3_add(kk_vec3_cross(al, c), kk_vec3_cross(w, kk_vec3_cross(w, c)));
    const kk_vec3 f = kk_vec3_scale(kk_vec3_add(kki_vec3(s->a), turned), I.mass);
    const kk_vec3 gyro = kk_vec3_cross(w, kk_sym3_mul_vec(I.moment, w));
    const kk_vec3 n = kk_vec3_add(kk_vec3_add(kk_sym3_mul_vec(I.moment, al), gyro), kk_vec3_cross(c, f));
    const kk_force moving = kk_force_make(n, f);
    return d->has_external ? kk_force_sub(moving, kk_force_to(m->body[body].X_NB, d->external[body])) : moving;
}

/// What a body adds to the load of one that it is fixed to, or mounted on by a joint; in the frame of the latter's node.
static kk_force share_of(const kk_model *m, const kk_data *d, int body) {
    const int joint = m->body[body].first_node;
    return joint < 0 ? own_load(m, d, body) : kk_force_to(kki_node_in_parent(m, d, joint), kki_node_load(d, joint));
}

/// The body behind `body` among those fixed to `root` and mounted on these, children first; −1 behind the last.
static int next_on(const kk_model *m, int root, int body) {
    const int is_mounted = body != root && m->body[body].first_node >= 0;
    int next = is_mounted ? -1 : m->body[body].first_child;
    for (; next < 0 && body != root; body = m->body[body].parent) {
        next = m->body[body].next_sibling;
    }
    return next;
}

/// The load of a body behind a fixed joint, in its node's frame.
static kk_force gathered_load(const kk_model *m, const kk_data *d, int root) {
    kk_force sum = own_load(m, d, root);
    for (int b = next_on(m, root, root); b >= 0; b = next_on(m, root, b)) {
        sum = kk_force_add(sum, share_of(m, d, b));
    }
    return sum;
}

static kk_force no_force(void) {
    return kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0));
}

kk_force kk_joint_wrench(const kk_model *model, const kk_data *data, int body) {
    if (!kki_fits(model, data) || !(body == KK_WORLD || kki_has_body(model, body))) {
        return kk_force_make(kki_nowhere(), kki_nowhere());
    }
    if (body == KK_WORLD) {
        return no_force();
    }
    const kki_body *b = &model->body[body];
    const kk_force F_N = b->first_node < 0 ? gathered_load(model, data, body) : kki_node_load(data, b->node);
    return kk_force_from(b->X_NB, F_N);
}

void kki_joint_wrenches(const kk_model *model, const kk_data *data, kk_force *wrench) {
    for (int b = 0; b < model->nbody; b++) {
        wrench[b] = no_force();
    }
    // bodies come after their parents: whatever hangs on one is there when its turn comes; in nodes' frames up to then
    for (int b = model->nbody - 1; b > KK_WORLD; b--) {
        const kki_body *x = &model->body[b];
        const int is_fixed = x->first_node < 0;
        const kk_force F_N =
            is_fixed ? kk_force_add(wrench[b], own_load(model, data, b)) : kki_node_load(data, x->node);
        wrench[x->parent] = kk_force_add(wrench[x->parent], is_fixed ? F_N : share_of(model, data, b));
        wrench[b] = kk_force_from(x->X_NB, F_N);
    }
    wrench[KK_WORLD] = no_force();
}

kk_force kk_floor_wrench(const kk_model *model, const kk_data *data) {
    if (!kki_fits(model, data)) {
        return kk_force_make(kki_nowhere(), kki_nowhere());
    }
    const kk_force load = kki_node_load(data, 0);
    // what pushes the world itself hangs on nothing
    return data->has_external ? kk_force_add(load, data->external[KK_WORLD]) : load;
}
