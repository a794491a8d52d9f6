/// Overlap: contacts of bodies that overlap deeply, as dampers of one row.
///
/// Links that start inside each other, or between two things that overlap, have contacts that contradict each other. As rigid contacts they brace the links
/// without bound: every velocity is zero whatever the impulses are, those reach 1e9 N, the solver climbs its whole ladder in every step, and nothing leaves the jam.
/// What overlaps by more than its motion in the step explains is therefore a damper along the normal, u + r λ ≥ 0, λ ≥ 0, with r a share of the row's own element of
/// G and not less than that of the robot's mass, and all other contacts between the same two nodes are, too. A damper takes energy and gives none, its impulse has a bound, and rows that
/// contradict each other have one answer. The position pass takes the overlap back over as many steps as it needs.
#include "model/warm.h"
#include "simulate/constraint/wrench.h"
#include "simulate/island.h"

/// Overlap, m, from which a contact is such a damper; the position pass takes back more than this in a step. Links of one robot that overlap by less than
/// that, and did not move there, are jammed by their joints: what is rigid between them braces them.
static const double DEEP = 5e-3, DEEP_WITHIN = 1e-4;
/// Compliance as a share of the row's own element of G, or of that of the whole mass: under its own weight g a body sinks by this share of g h².
static const double EASE = 1e-2;

double kki_parting_speed(const kk_simulator *s, const kki_contact *k) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const kki_rates *V = kki_rates_of(s->data, k->node[side]);
        const kk_vec3 arm = kk_vec3_sub(k->point, kki_vec3(kki_pose_of(s->data, k->node[side])->p));
        const kk_vec3 u = kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(kki_vec3(V->w), arm));
        sum += k->node[side] == 0 ? 0 : side ? kk_vec3_dot(u, k->normal) : -kk_vec3_dot(u, k->normal);
    }
    return sum;
}

// ---- who overlaps

/// Springs give way by themselves, and what bounces or is drawn has a law of its own to keep.
static int may_ease(const kki_contact_law *law) {
    return !(law->stiffness < __builtin_inf()) && law->adhesion == 0 && law->restitution == 0;
}

static double depth_of(const kk_model *m, const kki_contact *k) {
    return kki_is_within_tree(m, k) ? DEEP_WITHIN : DEEP;
}

/// What met in this step has overlap that its motion explains.
static int is_deep(const kk_model *m, const kk_simulator *s, const kki_contact *k) {
    const double deep = depth_of(m, k);
    return k->gap < -deep && may_ease(&m->law[k->law]) &&
           -k->gap - s->h * __builtin_fabs(kki_parting_speed(s, k)) > deep &&
           !(s->fast.nstruck > 0 && kki_struck_pair(s, k->shape[0], k->shape[1]));
}

static int is_listed(const kki_contacts *x, const kki_contact *k) {
    for (int i = 0; i < x->ndeep; i++) {
        if (x->deep[i][0] == k->node[0] && x->deep[i][1] == k->node[1]) {
            return 1;
        }
    }
    return 0;
}

void kki_list_deep_pairs(const kk_model *m, kk_simulator *s) {
    kki_contacts *x = &s->contacts;
    x->ndeep = 0;
    for (int i = 0; i < x->count && x->ndeep < KKI_DEEP_PAIRS && !s->paper; i++) {
        const kki_contact *k = &x->list[i];
        if (k->gap < -DEEP_WITHIN && is_deep(m, s, k) && !is_listed(x, k)) {
            x->deep[x->ndeep][0] = k->node[0];
            x->deep[x->ndeep++][1] = k->node[1];
        }
    }
}

int kki_is_overlap(const kk_model *m, const kk_simulator *s, const kki_contact *k) {
    return s->contacts.ndeep > 0 && may_ease(&m->law[k->law]) && is_listed(&s->contacts, k);
}

// ---- rows

static void add(const kk_model *m, kk_simulator *s, int i) {
    const kki_contact *k = &s->contacts.list[i];
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_OVERLAP, i);
    const int a = k->node[0], b = k->node[1];
    const lever at = lever_of(s, b, a, k->point);
    kki_row_part *p = kki_constraint_part(s, 0, b, a);
    put(p->wi, kk_vec3_cross(at.arm_i, k->normal), k->normal, b > 0);
    put(p->wj, kk_vec3_cross(at.arm_j, k->normal), k->normal, a > 0 ? -1 : 0);
    c->nrow = c->nblock = c->npositions = 1;
    c->gap[0] = k->gap;
    c->dof[0] = kki_last_dof(m, a);
    c->dof[1] = kki_last_dof(m, b);
    kki_constraint_end(s, c);
}

static void assemble(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < s->contacts.count && s->contacts.ndeep > 0; i++) {
        if (!kki_free_bodies_have_contact(s, i) && kki_is_overlap(m, s, &s->contacts.list[i])) {
            add(m, s, i);
        }
    }
}

/// Its compliance is made where the row's mobility is known.
static void law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm) {
    const kki_contact *k = &s->contacts.list[c->item];
    const double start = kk_vec3_dot(k->impulse, k->normal) / s->h;
    (void)warm;
    kki_stop_law(m, s, c, &start);
    s->solution.compliance[c->row] = 1;
}

/// 1/kg; of a tree whose joints are locked, which no point of a free one falls short of. 0 for the world.
static double least_mobility(const kk_model *m, int node) {
    const int tree = node > 0 ? m->node_tree[node] : -1;
    double mass = 0;
    for (int d = tree < 0 ? 0 : m->tree_first_dof[tree]; tree >= 0 && d < m->tree_first_dof[tree + 1]; d++) {
        mass += d == m->tree_first_dof[tree] || m->dof_node[d] != m->dof_node[d - 1] ? m->node[m->dof_node[d]].mass : 0;
    }
    return mass > 0 ? 1 / mass : 0;
}

/// Where the normal runs through the links' own joints nothing moves along it, and its element of G is rounding: without a least compliance the impulse
/// would be that of a wedge without friction, 1e20 N s.
void kki_island_ease(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c) {
    const kki_contact *k = &s->contacts.list[c->item];
    const double a = least_mobility(m, k->node[0]), b = least_mobility(m, k->node[1]), least = a > b ? a : b;
    double own = 0;
    kki_rows_own(s, I, c->row - I->first_row, 1, &own);
    s->solution.compliance[c->row] = EASE * (own > least ? own : least);
}

// ---- what comes of it

static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    kki_contact *k = &s->contacts.list[c->item];
    const double lambda = s->solution.lambda[c->row], u = s->solution.u[c->row] - s->solution.bias[c->row];
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    (void)m;
    k->impulse = kk_vec3_scale(k->normal, lambda);
    k->kept = kk_vec3_scale(k->normal, s->solution.kept[c->row] * rate);
    k->swing = k->friction = 0;
    k->velocity = kk_vec3_make(u - s->solution.compliance[c->row] * lambda, 0, 0);
    if (!s->traits.has_plain_contacts) {
        k->moment = k->kept_moment = none;
    }
}

static void bodies(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int body[2]) {
    kki_constraint_contact.bodies(m, s, c, body);
}

const kki_constraint_type kki_constraint_overlap = {
    .name = "overlap", .kind = KKI_CLASS_STOP, .assemble = assemble, .law = law, .report = report, .bodies = bodies};
