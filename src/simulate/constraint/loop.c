/// Loops: two frames of different links stay together, as a point, a hinge, a weld or a rod.
#include "model/warm.h"
#include "simulate/constraint/wrench.h"

static kk_transform loop_frame(const kk_data *d, const kki_model_loop *l, int end_of) {
    return kk_transform_mul(kki_node_transform(d, l->node[end_of]), end_of ? l->X_NB : l->X_NA);
}

/// Its origin alone, by columns as poses have them.
static kk_vec3 loop_end(const kk_data *d, const kki_model_loop *l, int end_of) {
    const kki_pose *x = kki_pose_of(d, l->node[end_of]);
    const double *a = x->R[0], *b = x->R[1], *c = x->R[2], *o = x->p;
    const kk_vec3 p = end_of ? l->X_NB.p : l->X_NA.p;
    const pair xy =
        ((pair){a[0], a[1]} * p.x + (pair){b[0], b[1]} * p.y + (pair){c[0], c[1]} * p.z) + (pair){o[0], o[1]};
    return kk_vec3_make(xy[0], xy[1], (a[2] * p.x + b[2] * p.y + c[2] * p.z) + o[2]);
}

static void loop_row(kki_constraint *c, double gap) {
    c->gap[c->nrow] = gap;
    c->npositions++;
    c->nrow++;
    c->nblock++;
}

/// A's axes in the world.
static triad loop_axes(const kk_data *data, const kki_model_loop *l) {
    const double(*R)[4] = kki_pose_of(data, l->node[0])->R, *m = l->X_NA.R.m;
    triad e;
    for (int c = 0; c < 3; c++) {
        e.c[c][0] = R[0][c] * (pair){m[0], m[1]} + R[1][c] * (pair){m[3], m[4]} + R[2][c] * (pair){m[6], m[7]};
        e.c[c][1] = R[0][c] * (pair){m[2], 0} + R[1][c] * (pair){m[5], 0} + R[2][c] * (pair){m[8], 0};
    }
    return e;
}

/// B's origin stays on A's: three forces along A's axes. The force on A acts where B is, so that both balance.
static void loop_point(kk_simulator *s, kki_constraint *c, const kki_model_loop *l) {
    const kk_vec3 B = loop_end(s->data, l, 1), d = kk_vec3_sub(B, loop_end(s->data, l, 0));
    const lever at = lever_of(s, l->node[1], l->node[0], B);
    const triad e = loop_axes(s->data, l);
    force_parts(s, c->nrow, &at, &e);
    const pair two = e.c[0][0] * d.x + e.c[1][0] * d.y + e.c[2][0] * d.z;
    const pair one = e.c[0][1] * d.x + e.c[1][1] * d.y + e.c[2][1] * d.z;
    loop_row(c, two[0]);
    loop_row(c, two[1]);
    loop_row(c, one[0]);
}

/// How B is turned from A. Hinges: what turns B's z onto A's; welds: the whole rotation.
static kk_vec3 turned_from(kk_transform A, kk_transform B, int count) {
    const kk_mat3 R_AB = kk_mat3_mul(kk_mat3_transpose(A.R), B.R);
    return count == 3 ? kk_quat_log(kk_quat_from_mat3(R_AB)) : kk_vec3_make(-R_AB.m[5], R_AB.m[2], 0);
}

/// Turns about `count` of A's axes are held: the rotation vector from A to B has no part along them.
static void loop_turns(kk_simulator *s, kki_constraint *c, const kki_model_loop *l, kk_transform A, kk_transform B,
                       int count) {
    const kk_vec3 theta = turned_from(A, B, count);
    for (int k = 0; k < count; k++) {
        moment_part(s, c->nrow, l->node[1], l->node[0], kk_mat3_column(A.R, k));
        loop_row(c, kk_vec3_get(theta, k));
    }
}

static void loop_rod(kk_simulator *s, kki_constraint *c, const kki_model_loop *l, kk_vec3 A, kk_vec3 B) {
    const kk_vec3 d = kk_vec3_sub(B, A);
    const double length = kk_vec3_norm(d);
    const kk_vec3 e = length > 0 ? kk_vec3_scale(d, 1 / length) : kk_vec3_make(0, 0, 1);
    kki_row_part *p = kki_constraint_part(s, 0, l->node[1], l->node[0]);
    put(p->wi, kk_vec3_cross(kk_vec3_sub(B, origin(s, l->node[1])), e), e, 1);
    put(p->wj, kk_vec3_cross(kk_vec3_sub(A, origin(s, l->node[0])), e), e, -1);
    loop_row(c, length - l->distance);
}

static void add(const kk_model *m, kk_simulator *s, int i) {
    const kki_model_loop *l = &m->loop[i];
    if (!kki_loop_is_on(l, s->constraints.loop_switch[i])) {
        return;
    }
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_LOOP, i);
    if (l->type == KK_LOOP_DISTANCE) {
        loop_rod(s, c, l, loop_end(s->data, l, 0), loop_end(s->data, l, 1));
    } else {
        loop_point(s, c, l);
    }
    if (l->type != KK_LOOP_DISTANCE && l->type != KK_LOOP_POINT) {
        loop_turns(s, c, l, loop_frame(s->data, l, 0), loop_frame(s->data, l, 1), l->type == KK_LOOP_AXIS ? 2 : 3);
    }
    c->dof[0] = kki_last_dof(m, l->node[0]);
    c->dof[1] = kki_last_dof(m, l->node[1]);
    kki_constraint_end(s, c);
}

static void assemble(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < m->nloop; i++) {
        add(m, s, i);
    }
}

// ---- gaps

/// How far a loop is open: not less than any of its rigid rows' gaps. Poses alone are needed.
static double opening_of(const kk_data *d, const kki_model_loop *l) {
    if (l->type == KK_LOOP_POINT) {
        return l->stiffness < __builtin_inf() ? 0 : kk_vec3_norm(kk_vec3_sub(loop_end(d, l, 1), loop_end(d, l, 0)));
    }
    const kk_transform A = loop_frame(d, l, 0), B = loop_frame(d, l, 1);
    const double distance = kk_vec3_norm(kk_vec3_sub(B.p, A.p)) - (l->type == KK_LOOP_DISTANCE ? l->distance : 0);
    const double apart = l->stiffness < __builtin_inf() ? 0 : __builtin_fabs(distance);
    if (l->type == KK_LOOP_DISTANCE || l->angular_stiffness < __builtin_inf()) {
        return apart;
    }
    const double turned = kk_vec3_norm(turned_from(A, B, l->type == KK_LOOP_AXIS ? 2 : 3));
    return apart > turned ? apart : turned;
}

static double opening(const kk_model *m, const kk_simulator *s, const kk_data *poses) {
    double widest = 0;
    for (int i = 0; i < m->nloop; i++) {
        const kki_model_loop *l = &m->loop[i];
        const double gap = kki_loop_is_on(l, s->constraints.loop_switch[i]) ? opening_of(poses, l) : 0;
        widest = gap > widest ? gap : widest;
    }
    return widest;
}

static void gaps(const kk_model *m, const kk_simulator *s, const kk_data *poses, int item, double gap[KKI_MOST_ROWS]) {
    (void)s;
    const kki_model_loop *l = &m->loop[item];
    const kk_transform A = loop_frame(poses, l, 0), B = loop_frame(poses, l, 1);
    const kk_vec3 d = kk_vec3_sub(B.p, A.p);
    if (l->type == KK_LOOP_DISTANCE) {
        gap[0] = kk_vec3_norm(d) - l->distance;
        return;
    }
    const kk_vec3 along = kk_mat3_tmul_vec(A.R, d);
    memcpy(gap, &along.x, 3 * sizeof *gap);
    if (l->type != KK_LOOP_POINT) {
        const kk_vec3 theta = turned_from(A, B, l->type == KK_LOOP_AXIS ? 2 : 3);
        memcpy(gap + 3, &theta.x, 3 * sizeof *gap);
    }
}

// ---- law

static int slot(const kki_warm_layout *w, const kki_constraint *c) {
    return w->first_loop + 6 * c->item;
}

/// Soft rows are only told from rigid ones here: their mobility is known later (reflect.c).
static void law_of(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    const kki_model_loop *l = &m->loop[c->item];
    kki_equality_law(m, s, c, warm);
    for (int r = 0; r < c->nrow; r++) {
        s->solution.compliance[c->row + r] = (r < 3 ? l->stiffness : l->angular_stiffness) < __builtin_inf() ? 1 : 0;
    }
}

// ---- what comes of it

static double norm_of(const double *lambda, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
        sum += lambda[k] * lambda[k];
    }
    return kk_sqrt(sum);
}

/// A loop that bore more than it can is off from the next step on.
static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const kki_model_loop *l = &m->loop[c->item];
    (void)rate;
    const int forces = c->nrow < 3 ? c->nrow : 3;
    const double *lambda = s->solution.lambda + c->row;
    if (l->break_force == __builtin_inf() && l->break_moment == __builtin_inf()) {
        return;
    }
    if (norm_of(lambda, forces) > s->h * l->break_force ||
        norm_of(lambda + forces, c->nrow - forces) > s->h * l->break_moment) {
        s->constraints.loop_switch[c->item] = KKI_SWITCH_OFF;
        s->report.broken++;
    }
}

static void bodies(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int body[2]) {
    (void)s;
    body[0] = m->loop[c->item].body[0];
    body[1] = m->loop[c->item].body[1];
}

const kki_constraint_type kki_constraint_loop = {.name = "loop",
                                                 .kind = KKI_CLASS_CLOSURE,
                                                 .assemble = assemble,
                                                 .law = law_of,
                                                 .slot = slot,
                                                 .report = report,
                                                 .opening = opening,
                                                 .gaps = gaps,
                                                 .bodies = bodies};
