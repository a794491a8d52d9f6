/// S1's step: what touches (L1), forces of springs and hinges, where that would lead (L0), constraint forces, motion.
#include "papers/kuroda.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"

/// L0 is looked at again with the constraint forces found, so many times.
enum { ROUNDS = 8 };
/// Springs of L1 and L0 together that there is room for with each contact.
enum { SPRINGS_A_CONTACT = 5 };
/// Share of the depth by which a limit may be broken behind that.
static const double ENOUGH = 0.05;

static kuroda *own(const kk_simulator *s) {
    return s->paper_data;
}

// ---- room

static void place(kki_layout *layout, const kk_model *m, kuroda *K) {
    const size_t springs = (size_t)K->most_springs + 1;
    KKI_LAYOUT_ARRAY(layout, K->body, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, K->solid, (size_t)m->ncollider);
    KKI_LAYOUT_ARRAY(layout, K->hinge, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, K->spring, springs);
    KKI_LAYOUT_ARRAY(layout, K->memory, KURODA_WARM_SIZE * springs);
    KKI_LAYOUT_ARRAY(layout, K->unknown, 3 * springs);
    KKI_LAYOUT_ARRAY(layout, K->slope, 3 * springs);
    KKI_LAYOUT_ARRAY(layout, K->trial, 3 * springs);
    KKI_LAYOUT_ARRAY(layout, K->stretch, springs);
    KKI_LAYOUT_ARRAY(layout, K->back, springs);
}

static kk_status allocate(const kk_model *m, kk_simulator *s, kk_error *error) {
    const int remembered = s->contacts.max;
    // of L1 there is room for as many as contacts; of L0 fast bodies may have many, for once
    kuroda header = {.model = m, .s = s, .most_touching = 4 * m->nnode + remembered};
    header.most_springs = header.most_touching + (SPRINGS_A_CONTACT - 1) * remembered + 256;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, m, &header);
    kuroda *K = kki_allocate_zeroed(&s->allocator, layout.size);
    if (!K) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the springs of the solver \"kuroda\"");
    }
    header.size = layout.size;
    *K = header;
    layout = kki_layout_over(K);
    kki_layout_take(&layout, 1, sizeof *K);
    place(&layout, m, K);
    s->paper_data = K;
    return KK_OK;
}

/// Depth that springs may give: as asked for, or 5 cm, but no more than a quarter of the thinnest shape.
static double default_depth(const kk_model *m) {
    double depth = 0.05;
    for (int i = 0; i < m->ncollider; i++) {
        const kki_aabb *box = &m->shape[m->collider[i]].box;
        const kk_vec3 size = kk_vec3_sub(box->upper, box->lower);
        for (int k = 0; k < 3; k++) {
            depth = 0.25 * kk_vec3_get(size, k) < depth ? 0.25 * kk_vec3_get(size, k) : depth;
        }
    }
    return depth;
}

static void destroy(kk_simulator *s) {
    kuroda *K = own(s);
    if (K) {
        for (int i = 0; i < K->nsolid; i++) {
            kki_kuroda_free_solid(K, &K->solid[i]);
        }
        kki_release(&s->allocator, K, K->size);
        s->paper_data = NULL;
    }
}

static kk_status create(const kk_model *m, kk_simulator *s, kk_error *error) {
    kk_status status = kki_paper_check_materials(m, KK_SOLVER_KURODA, error);
    status = status ? status : kki_kuroda_check_bodies(m, error);
    status = status ? status : allocate(m, s, error);
    if (status != KK_OK) {
        return status;
    }
    kuroda *K = own(s);
    const double g = kk_vec3_norm(kki_vec3(m->gravity));
    K->depth = s->options.paper.spring_depth > 0 ? s->options.paper.spring_depth : default_depth(m);
    K->gravity = g > 0 ? g : 9.8;
    kki_kuroda_fill_bodies(K);
    kki_kuroda_make_hinges(K);
    for (int i = 0; i < m->ncollider && status == KK_OK; i++) {
        K->nsolid++; // also one that is made in part is freed
        status = kki_kuroda_make_solid(K, m->collider[i], &K->solid[i], error);
    }
    return status;
}

/// Under the weight of its body a spring gives by half of what it may, unless that is too stiff for the step (3.2: k Δt²/m well below 4).
void kki_kuroda_default_spring(const kuroda *K, double mass, double *k, double *c) {
    const double dt = K->s->h, soft = 2 * mass * K->gravity / K->depth, stiffest = 0.25 * mass / (dt * dt);
    *k = soft < stiffest ? soft : stiffest;
    *c = 0.1 * __builtin_sqrt(*k * mass);
}

// ---- forces from outside

static void push_from_outside(kuroda *K) {
    const kk_model *m = K->model;
    const kk_vec3 g = kki_vec3(m->gravity);
    for (int i = 1; i < m->nnode; i++) {
        kuroda_body *b = &K->body[i];
        const kk_force f = K->s->readout.outside[i];
        const kk_vec3 arm = kk_mat3_mul_vec(b->turn, kk_vec3_scale(b->com, -1)); // the node's origin
        b->force = kk_vec3_add(b->force, kk_vec3_scale(g, b->mass));
        b->torque = kk_vec3_add(b->torque, f.angular);
        kki_kuroda_add_force(b, arm, f.linear);
        if (m->node[i].type == KKI_NODE_FREE) {
            const double *tau = K->s->forces.tau + m->node[i].v_index;
            b->torque = kk_vec3_add(b->torque, kk_mat3_mul_vec(b->turn, kk_vec3_make(tau[0], tau[1], tau[2])));
            kki_kuroda_add_force(b, arm, kk_mat3_mul_vec(b->turn, kk_vec3_make(tau[3], tau[4], tau[5])));
        }
    }
}

// ---- readers and the judge

static void list_contact(kuroda *K, const kuroda_spring *s) {
    kk_simulator *sim = K->s;
    const int is_first = K->model->shape[s->shape[0]].node == s->body[0]; // body[0] is that of the first shape
    const kk_vec3 n = is_first ? s->normal : kk_vec3_scale(s->normal, -1);
    const kk_vec3 p0 = kki_kuroda_end(K, s, 0), p1 = kki_kuroda_end(K, s, 1);
    kki_contact *c = &sim->contacts.list[sim->contacts.count++];
    *c = (kki_contact){.shape = {s->shape[0], s->shape[1]}, .law = s->law, .normal = n, .pair = -1};
    c->node[0] = K->model->shape[s->shape[0]].node;
    c->node[1] = K->model->shape[s->shape[1]].node;
    c->position = is_first ? p0 : p1;
    c->point = p1;
    c->gap = kk_vec3_dot(s->normal, kk_vec3_sub(p1, p0));
    const kk_vec3 e = __builtin_fabs(n.x) < 0.6 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 1, 0);
    const kk_vec3 t = kk_vec3_sub(e, kk_vec3_scale(n, kk_vec3_dot(n, e)));
    c->tangent[0] = kk_vec3_scale(t, 1 / kk_vec3_norm(t));
    c->tangent[1] = kk_vec3_cross(n, c->tangent[0]);
    c->impulse = kk_vec3_scale(kk_vec3_add(s->force, s->held), is_first ? sim->h : -sim->h);
}

/// Impulses of the springs as if they were those of rigid contacts.
static kk_status judge(kuroda *K, const kk_state *state, int descents) {
    kk_simulator *s = K->s;
    const kk_model *m = K->model;
    s->data->kernels->kick_factor(m, &s->data->scratch, s->forces.diagonal, s->forces.tau, s->motion.v, s->kick.E,
                                  s->kick.y);
    kk_status status = kki_constrain(m, s);
    s->constraints.count = s->contacts.count;
    status = status ? status : kki_paper_divide(m, s, state, NULL);
    if (status != KK_OK) {
        s->constraints.count = s->islands.count = 0; // too many for the judge
        return kki_room_status(s);
    }
    for (int k = 0; k < m->nv; k++) {
        s->kick.y_free[k] = s->kick.y[k] + s->h * s->kick.E[k];
    }
    for (int i = 0; i < s->islands.count; i++) {
        const kki_island *I = &s->islands.list[i];
        kki_rows_build(m, s, I);
        kki_island_gather(m, s, I, s->kick.y, I->scratch->y_end);
        kki_rows_velocity(s, I, I->scratch->y_end, s->solution.u0 + I->first_row);
        kki_island_gather(m, s, I, s->kick.y_free, I->scratch->y_end);
        kki_rows_velocity(s, I, I->scratch->y_end, s->solution.g + I->first_row);
        for (int c = 0; c < I->nconstraint; c++) {
            const kki_constraint *x = &s->constraints.list[s->constraints.order[I->first_constraint + c]];
            const kki_contact *k = &s->contacts.list[x->item];
            double *lambda = s->solution.lambda + x->row;
            lambda[0] = kk_vec3_dot(k->impulse, k->normal);
            lambda[1] = kk_vec3_dot(k->impulse, k->tangent[0]);
            lambda[2] = kk_vec3_dot(k->impulse, k->tangent[1]);
            s->solution.bias[x->row] = s->solution.compliance[x->row] = 0;
        }
        const kki_problem problem = kki_island_problem(s, I, 0);
        kki_paper_judge(m, s, I, &problem, 0);
    }
    s->report.sweeps += descents;
    return KK_OK;
}

// ---- the step

static void note_motion(kuroda *K, const kk_state *state) {
    kk_simulator *s = K->s;
    const double *before = kk_state_v_const(state);
    for (int k = 0; k < K->model->nv; k++) {
        s->motion.v_before[k] = before[k];
        s->motion.v_after[k] = s->motion.v[k];
        s->motion.acceleration[k] = (s->motion.v[k] - before[k]) / s->h;
    }
}

/// Constraint forces, until L0 finds nothing more that would be too deep.
static kk_status keep_limits(kuroda *K, int *descents) {
    kki_kuroda_accelerate(K);
    for (int round = 0; round < ROUNDS; round++) {
        kki_kuroda_foresee(K);
        const double worst = kki_kuroda_bend(K);
        if (kki_kuroda_foresee_depth(K) == 0 && round > 0 && worst <= ENOUGH * K->depth) {
            break;
        }
        if (K->nspring > K->most_springs) {
            const int most = K->s->contacts.max;
            kki_room_ask(most + (K->nspring - K->most_springs) / SPRINGS_A_CONTACT + 1, most,
                         &K->s->lacking.room.contacts);
            return KK_LIMIT_EXCEEDED;
        }
        *descents += kki_kuroda_constrain(K);
    }
    return KK_OK;
}

/// The options may have changed how far springs give.
static kk_status adopt_depth(kuroda *K, kk_error *error) {
    const double depth =
        K->s->options.paper.spring_depth > 0 ? K->s->options.paper.spring_depth : default_depth(K->model);
    kk_status status = KK_OK;
    const int has_changed = depth != K->depth;
    K->depth = depth;
    for (int i = 0; i < K->nsolid && has_changed && status == KK_OK; i++) {
        status = kki_kuroda_shrink(K, &K->solid[i], error);
    }
    K->depth = status == KK_OK ? depth : 0; // not adopted: the next step tries again
    return status;
}

static void note_hinges(kuroda *K) {
    for (int i = 0; i < K->nhinge; i++) {
        K->s->forces.by_source[KK_FORCE_FRICTION][K->hinge[i].dof] = K->hinge[i].friction;
        K->s->forces.by_source[KK_FORCE_LIMIT][K->hinge[i].dof] = K->hinge[i].limit;
    }
}

static kk_status step(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input,
                      kk_error *error) {
    kuroda *K = own(s);
    s->data->kernels->kick_prepare(m, &s->data->scratch, s->motion.q, s->motion.v, s->motion.v);
    kk_status status = kki_paper_forces(m, s, input, s->h, error);
    status = status ? status : adopt_depth(K, error);
    if (status != KK_OK) {
        return status;
    }
    // what touches
    kki_kuroda_load(K, state);
    status = kki_kuroda_touch(K);
    if (status != KK_OK) {
        return status;
    }
    // forces
    push_from_outside(K);
    kki_kuroda_hinge_angles(K);
    kki_kuroda_hinge_forces(K, s->forces.tau);
    kki_kuroda_contact_forces(K, state);
    // where that leads, and what must not be
    int descents = 0;
    status = keep_limits(K, &descents);
    if (status != KK_OK) {
        return status;
    }
    kki_room_ask(K->nspring - K->first_contact, s->contacts.max, &s->lacking.room.contacts);
    if (kki_room_is_lacking(s)) {
        return KK_LIMIT_EXCEEDED;
    }
    for (int i = K->first_contact; i < K->nspring; i++) {
        list_contact(K, &K->spring[i]);
    }
    status = judge(K, state, descents);
    if (status != KK_OK) {
        return status;
    }
    // move
    kki_kuroda_move(K);
    kki_kuroda_hinge_rest(K);
    memset(s->warm_start.value, 0, (size_t)s->warm_start.layout.size * sizeof *s->warm_start.value);
    kki_kuroda_remember(K);
    kki_kuroda_store(K);
    note_motion(K, state);
    s->rk4.is_used = 1;
    kki_finish(m, s);
    note_hinges(K);
    return KK_OK;
}

const kki_paper kki_paper_kuroda = {.create = create, .destroy = destroy, .step = step};
