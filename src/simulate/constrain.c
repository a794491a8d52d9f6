/// What must not happen: every constraint of the step as rows on nodes, with its law and its position error.
///
/// A row is a wrench on one node and the opposite one on another (contacts, loops), or on a node and its parent along a
/// joint's axis (limits, dry friction, couplings): a unit force on a degree of freedom is a unit wrench along its axis on
/// its node with the opposite on the node's parent.
#include <string.h>

#include "simulate/simulator.h"
#include "simulate/tendons.h"

/// Made anew wherever it is called.
#define QUICK static inline __attribute__((always_inline))

// ---- lists with room that is checked before they are begun

static kki_constraint *begin(kk_simulator *s, kki_constraint_kind kind, int item) {
    kki_constraint *c = &s->constraints.list[s->constraints.count];
    c->kind = (int32_t)kind; // member by member: whole, it would be zeroed by a slow string instruction
    c->item = item;
    c->side = c->nrow = c->nblock = c->npositions = c->sticks = c->gives = 0;
    c->first_part = s->constraints.nparts;
    c->dof[0] = c->dof[1] = -1;
    c->gap[0] = 0;
    return c;
}

static void end(kk_simulator *s, kki_constraint *c) {
    c->nparts = s->constraints.nparts - c->first_part;
    s->constraints.count++;
}

/// Its wrenches are the caller's to fill.
static kki_row_part *add_part(kk_simulator *s, int row, int i, int j) {
    kki_row_part *p = &s->constraints.part[s->constraints.nparts++];
    p->row = row;
    p->i = i;
    p->j = j;
    p->dof = -1;
    return p;
}

// ---- wrenches

static inline void put(double w[6], kk_vec3 n, kk_vec3 f, double sign) {
    w[0] = sign * n.x;
    w[1] = sign * n.y;
    w[2] = sign * n.z;
    w[3] = sign * f.x;
    w[4] = sign * f.y;
    w[5] = sign * f.z;
}

static kk_vec3 origin(const kk_simulator *s, int node) {
    return kki_vec3(kki_pose_of(s->data, node)->p);
}

static double size_of(kk_vec3 a) {
    return __builtin_fabs(a.x) + __builtin_fabs(a.y) + __builtin_fabs(a.z);
}

/// Where forces act: the point from the origins of both nodes, and what of a moment is but rounding of the point's coordinates.
typedef struct lever {
    int i, j;
    kk_vec3 arm_i, arm_j;
    double rounding;
} lever;

static lever lever_of(const kk_simulator *s, int i, int j, kk_vec3 point) {
    return (lever){i, j, kk_vec3_sub(point, origin(s, i)), kk_vec3_sub(point, origin(s, j)), 1e-15 * size_of(point)};
}

/// Three directions side by side, two and one of them, component by component: what acts at one point is found for all three at once.
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_bits __attribute__((vector_size(16)));
typedef struct triad {
    pair c[3][2];
} triad;

static inline triad triad_of(kk_vec3 a, kk_vec3 b, kk_vec3 c) {
    return (triad){{{{a.x, b.x}, {c.x, 0}}, {{a.y, b.y}, {c.y, 0}}, {{a.z, b.z}, {c.z, 0}}}};
}

static inline pair size_of_pair(pair a) {
    return (pair)((pair_bits)a & INT64_MAX);
}

/// One side of forces along d: arm × d, or nothing where that is rounding (a ball that is pushed at its center does not turn; what is no number stays
/// none), and d itself. What the world feels nobody asks. @param part  three of them    @param w  of the first the side's wrench
static inline void put_forces(kki_row_part *part, double *w, int node, kk_vec3 arm, const triad *d, double rounding,
                              double sign) {
    enum { NEXT = sizeof *part / sizeof *w };
    for (int r = 0; r < 3 && node == 0; r++) {
        memset(w + r * NEXT, 0, sizeof part->wi);
    }
    for (int h = 0; h < 2 && node != 0; h++) {
        const pair x = d->c[0][h], y = d->c[1][h], z = d->c[2][h];
        const pair nx = arm.y * z - arm.z * y, ny = arm.z * x - arm.x * z, nz = arm.x * y - arm.y * x;
        const pair size = size_of_pair(nx) + size_of_pair(ny) + size_of_pair(nz);
        const pair_bits felt = ~(pair_bits)(size <= rounding);
        const pair all[6] = {
            (pair)((pair_bits)nx & felt), (pair)((pair_bits)ny & felt), (pair)((pair_bits)nz & felt), x, y, z};
        for (int k = 0; k < 6; k++) {
            const pair a = all[k] * sign;
            w[2 * h * NEXT + k] = a[0];
            if (h == 0) {
                w[NEXT + k] = a[1];
            }
        }
    }
}

/// Forces along three directions: on node i, and their opposites on node j.
QUICK void force_parts(kk_simulator *s, int row, const lever *at, const triad *d) {
    kki_row_part *p = &s->constraints.part[s->constraints.nparts];
    for (int r = 0; r < 3; r++) {
        add_part(s, row + r, at->i, at->j);
    }
    put_forces(p, p->wi, at->i, at->arm_i, d, at->rounding, 1);
    put_forces(p, p->wj, at->j, at->arm_j, d, at->rounding, -1);
}

/// A moment about d: on node i, and its opposite on node j.
static void moment_part(kk_simulator *s, int row, int i, int j, kk_vec3 d) {
    kki_row_part *p = add_part(s, row, i, j);
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    put(p->wi, d, none, 1);
    put(p->wj, d, none, -1);
}

/// The axis of a degree of freedom in world axes, and whether it slides.
static kk_vec3 dof_axis(const kk_model *m, const kk_simulator *s, int dof, int *slides) {
    const int node = m->dof_node[dof], k = dof - m->node[node].v_index;
    const kki_pose *x = kki_pose_of(s->data, node);
    const int type = m->node[node].type;
    *slides = type == KKI_NODE_SLIDE || (type == KKI_NODE_FREE && k >= 3);
    const int many = type == KKI_NODE_BALL || type == KKI_NODE_FREE;
    return kki_vec3(x->R[many ? k % 3 : 2]);
}

/// `scale` times a unit force on a degree of freedom.
static void dof_part(const kk_model *m, kk_simulator *s, int row, int dof, double scale) {
    const int node = m->dof_node[dof];
    int slides = 0;
    const kk_vec3 z = dof_axis(m, s, dof, &slides), none = kk_vec3_make(0, 0, 0);
    kki_row_part *p = add_part(s, row, node, m->node[node].parent);
    p->dof = m->node_nv[node] == 1 ? dof : -1;
    if (slides) {
        put(p->wi, none, z, scale);
        put(p->wj, kk_vec3_cross(kki_vec3(kki_pose_of(s->data, node)->r), z), z, -scale);
    } else {
        put(p->wi, z, none, scale);
        put(p->wj, z, none, -scale);
    }
}

int kki_last_dof(const kk_model *m, int node) {
    return node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1;
}

// ---- for tendons.c

kki_constraint *kki_begin_constraint(kk_simulator *s, int kind, int item) {
    return begin(s, (kki_constraint_kind)kind, item);
}

void kki_end_constraint(kk_simulator *s, kki_constraint *c) {
    end(s, c);
}

void kki_add_dof_part(const kk_model *m, kk_simulator *s, int dof, double scale) {
    dof_part(m, s, 0, dof, scale);
}

void kki_add_line_part(kk_simulator *s, const int node[2], const kk_vec3 at[2], kk_vec3 force) {
    kki_row_part *p = add_part(s, 0, node[1], node[0]);
    put(p->wi, kk_vec3_cross(kk_vec3_sub(at[1], origin(s, node[1])), force), force, 1);
    put(p->wj, kk_vec3_cross(kk_vec3_sub(at[0], origin(s, node[0])), force), force, -1);
}

// ---- contacts

static void constrain_contact(const kk_model *m, kk_simulator *s, int i) {
    const kki_contact *k = &s->contacts.list[i];
    const kki_contact_law *law = &m->law[k->law];
    kki_constraint *c = begin(s, KKI_ON_CONTACT, i);
    const int a = k->node[0], b = k->node[1];
    const lever at = lever_of(s, b, a, k->point);
    const triad d = triad_of(k->normal, k->tangent[0], kk_vec3_scale(k->tangent[1], law->ratio));
    force_parts(s, 0, &at, &d);
    c->nrow = 3;
    c->nblock = 1;
    if (law->torsion > 0) {
        moment_part(s, c->nrow, b, a, k->normal);
        c->nrow += 1;
        c->nblock += 1;
    }
    if (law->rolling > 0) {
        moment_part(s, c->nrow, b, a, k->tangent[0]);
        moment_part(s, c->nrow + 1, b, a, k->tangent[1]);
        c->nrow += 2;
        c->nblock += 1;
    }
    c->gap[0] = k->gap;
    c->npositions = 1;
    c->dof[0] = kki_last_dof(m, a);
    c->dof[1] = kki_last_dof(m, b);
    end(s, c);
}

// ---- joints

static void constrain_limit(const kk_model *m, kk_simulator *s, int dof, int side, double gap) {
    kki_constraint *c = begin(s, KKI_ON_LIMIT, dof);
    c->side = side;
    c->nrow = c->nblock = 1;
    c->gap[0] = gap;
    c->npositions = 1;
    c->dof[0] = dof;
    dof_part(m, s, 0, dof, side ? -1 : 1);
    end(s, c);
}

/// Limits that the rest of the step could reach.
static void constrain_limits(const kk_model *m, kk_simulator *s) {
    const double *q = s->motion.q, *v = s->motion.v, h = s->h;
    for (const kki_limited *d = s->constraints.limited, *last = d + s->constraints.nlimited; d < last; d++) {
        const double below = q[d->q] - d->lower, above = d->upper - q[d->q];
        const double reach = 0.01 + 2 * h * __builtin_fabs(v[d->dof]);
        if (below < reach) {
            constrain_limit(m, s, d->dof, 0, below);
        }
        if (above < reach) {
            constrain_limit(m, s, d->dof, 1, above);
        }
    }
}

int kki_list_limited(const kk_model *model, kki_limited *list) {
    int count = 0;
    for (int i = 1; i < model->nnode; i++) {
        const kki_node *n = &model->node[i];
        const kk_dof_def *d = &model->dof[n->v_index];
        if (model->node_nv[i] == 1 && (d->lower > -__builtin_inf() || d->upper < __builtin_inf())) {
            list[count++] = (kki_limited){n->v_index, n->q_index, d->lower, d->upper};
        }
    }
    return count;
}

static void constrain_friction(const kk_model *m, kk_simulator *s, int dof) {
    if (m->dof[dof].friction <= 0 || s->forces.saturated[dof] != 0) {
        return;
    }
    kki_constrain_dof(m, s, KKI_ON_JOINT_FRICTION, dof, dof, 1);
}

kki_constraint *kki_constrain_dof(const kk_model *model, kk_simulator *s, kki_constraint_kind kind, int item, int dof,
                                  double scale) {
    kki_constraint *c = begin(s, kind, item);
    c->nrow = c->nblock = 1;
    c->dof[0] = dof;
    dof_part(model, s, 0, dof, scale);
    end(s, c);
    return c;
}

/// A servo beyond its limits: its own joint, as far as the limits go. A weak one would ask for speeds that nothing has, r λ with r many times what its
/// joint gives way by, and all that touches would be judged by them; so the row is divided by what the two are to each other. 1/D is what the last kick has found.
static void constrain_motor(const kk_model *m, kk_simulator *s, int actuator) {
    const kki_model_actuator *a = &m->actuator[actuator];
    const double own = 1 / kki_pivot_of(s->data, a->v_index)->inverse_D;
    const double weight = own / -(s->h * a->gear * a->gear * s->forces.wanted[actuator].slope);
    kki_constraint *c = begin(s, KKI_ON_MOTOR, actuator);
    c->nrow = c->nblock = 1;
    c->dof[0] = a->v_index;
    c->weight = weight > 1 ? weight : 1;
    dof_part(m, s, 0, a->v_index, 1 / c->weight);
    end(s, c);
}

/// Few are, and mostly none.
static void constrain_motors(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < m->nactuator; i++) {
        const int8_t *next = memchr(s->forces.servo_mode + i, KKI_SERVO_ROW, (size_t)(m->nactuator - i));
        if (!next) {
            return;
        }
        i = (int)(next - s->forces.servo_mode);
        constrain_motor(m, s, i);
    }
}

static double coupling_gap(const kk_simulator *s, const kki_coupling *k) {
    return s->motion.q[k->follower_q] - k->ratio * s->motion.q[k->leader_q] - k->offset;
}

static void constrain_coupling(const kk_model *m, kk_simulator *s, int i) {
    const kki_coupling *k = &m->coupling[i];
    kki_constraint *c = begin(s, KKI_ON_COUPLING, i);
    c->nrow = c->nblock = 1;
    c->gap[0] = coupling_gap(s, k);
    c->npositions = 1;
    c->dof[0] = k->follower_v;
    c->dof[1] = k->leader_v;
    dof_part(m, s, 0, k->follower_v, 1);
    dof_part(m, s, 0, k->leader_v, -k->ratio);
    end(s, c);
}

// ---- loops

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
    kki_row_part *p = add_part(s, 0, l->node[1], l->node[0]);
    put(p->wi, kk_vec3_cross(kk_vec3_sub(B, origin(s, l->node[1])), e), e, 1);
    put(p->wj, kk_vec3_cross(kk_vec3_sub(A, origin(s, l->node[0])), e), e, -1);
    loop_row(c, length - l->distance);
}

static void constrain_loop(const kk_model *m, kk_simulator *s, int i) {
    const kki_model_loop *l = &m->loop[i];
    if (!kki_loop_is_on(l, s->constraints.loop_switch[i])) {
        return;
    }
    kki_constraint *c = begin(s, KKI_ON_LOOP, i);
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
    end(s, c);
}

// ---- all

static void add_loops(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < m->ncoupling; i++) {
        constrain_coupling(m, s, i);
    }
    for (int i = 0; i < m->nloop; i++) {
        constrain_loop(m, s, i);
    }
}

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

double kki_widest_opening(const kk_model *model, const kk_simulator *s, const kk_data *poses) {
    double widest = 0;
    for (int i = 0; i < model->ncoupling; i++) {
        const double gap = __builtin_fabs(coupling_gap(s, &model->coupling[i]));
        widest = gap > widest ? gap : widest;
    }
    for (int i = 0; i < model->nloop; i++) {
        const kki_model_loop *l = &model->loop[i];
        const double gap = kki_loop_is_on(l, s->constraints.loop_switch[i]) ? opening_of(poses, l) : 0;
        widest = gap > widest ? gap : widest;
    }
    return widest;
}

void kki_loop_gaps(const kk_model *model, const kk_data *poses, int loop, double gap[6]) {
    const kki_model_loop *l = &model->loop[loop];
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

double kki_coupling_gap(const kk_model *model, const kk_simulator *s, int coupling) {
    return coupling_gap(s, &model->coupling[coupling]);
}

void kki_constrain_loops(const kk_model *model, kk_simulator *s) {
    s->constraints.count = s->constraints.nparts = 0;
    add_loops(model, s);
}

kk_status kki_constrain(const kk_model *model, kk_simulator *s) {
    const int may_rub = s->traits.has_dry_friction ||
                        model->options.integrator == KK_INTEGRATOR_RK4; // which has no joints that slide on
    s->constraints.count = s->constraints.nparts = 0;
    kki_free_bodies_choose(model, s);
    if (!kki_room_is_lacking(s)) { // else it is not known yet who is loose
        kki_room_ask(s->contacts.count - s->free_bodies.npoint, s->room.held, &s->lacking.room.held);
    }
    if (kki_room_is_lacking(s)) {
        return KK_LIMIT_EXCEEDED;
    }
    for (int i = 0; i < s->contacts.count && s->free_bodies.npoint < s->contacts.count; i++) {
        if (!kki_free_bodies_have_contact(s, i)) {
            constrain_contact(model, s, i);
        }
    }
    if (!s->free_bodies.is_everything) { // which have neither limits nor friction in their joints
        constrain_limits(model, s);
        for (int i = 0; i < model->nv && may_rub; i++) {
            constrain_friction(model, s, i);
        }
    }
    kki_constrain_tendons(model, s);
    constrain_motors(model, s);
    add_loops(model, s);
    return KK_OK;
}
