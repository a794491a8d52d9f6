/// S1 5.4 to 5.6: where contact springs are set, which way they push, and whether they slide or stick.
///
/// Sliding springs are set anew in every step, so that they lie along the normal, and friction (5.9) opposes the motion; sticking ones keep both
/// ends (anchors) and draw them together. A spring begins to stick where the way of its point turns back, ν(t)·ν(t + Δt) < 0, or
/// is below ε; it begins to slide where (5.16) says that its tangential pull is beyond static friction.
#include "papers/kuroda.h"

#include "base/float_bits.h"

/// ε of 5.6, m a step. The thesis compares parameters of triangles and edges; here their way in meters, so that it does not depend on their size.
static const double STILL = 1e-5;
/// Rounding of the products of unit vectors in (5.7).
static const double ROUNDING = 1e-9;

// ---- springs

static kuroda_spring *add(kuroda *K) {
    // one place more than there is room for: counts on, and the step says so
    kuroda_spring *s = &K->spring[K->nspring < K->most_springs ? K->nspring : K->most_springs];
    K->nspring++;
    *s = (kuroda_spring){.length = 0};
    return s;
}

static kk_vec3 in_body(const kuroda *K, int body, kk_vec3 p) {
    const kuroda_body *b = &K->body[body];
    return kk_mat3_tmul_vec(b->turn, kk_vec3_sub(p, b->x));
}

/// Stiffness and damping: the material's, the options', or so that a spring gives by half of what it may under a body's weight.
static void harden(const kuroda *K, kuroda_spring *s) {
    const kki_contact_law *law = &K->model->law[s->law];
    const double a = K->body[s->body[0]].mass, b = K->body[s->body[1]].mass;
    const kk_step_options *o = &K->s->options;
    if (law->stiffness < __builtin_inf()) {
        s->k = law->stiffness;
        s->c = law->damping;
        return;
    }
    kki_kuroda_default_spring(K, a > 0 && (a < b || b == 0) ? a : b, &s->k, &s->c);
    s->k = o->paper.spring_stiffness > 0 ? o->paper.spring_stiffness : s->k;
    s->c = o->paper.spring_damping > 0 ? o->paper.spring_damping : s->c;
}

/// @param on  body whose face or edge pushes    @param away  the way it pushes the other
static kuroda_spring *set(kuroda *K, int on, kk_vec3 p0, int other, kk_vec3 p1, kk_vec3 away) {
    kuroda_spring *s = add(K);
    s->body[0] = on;
    s->body[1] = other;
    s->arm[0] = in_body(K, on, p0);
    s->arm[1] = in_body(K, other, p1);
    s->normal = away;
    s->w = K->depth;
    return s;
}

static void name(const kuroda *K, kuroda_spring *s, int kind, int variant, const kuroda_solid *a, int fa,
                 const kuroda_solid *b, int fb) {
    const int swap = a->shape > b->shape;
    s->kind = kind;
    s->variant = variant;
    s->shape[swap] = a->shape;
    s->shape[!swap] = b->shape;
    s->feature[swap] = fa;
    s->feature[!swap] = fb;
    kki_model_pair_may_touch(K->model, a->shape, b->shape, &s->law);
    harden(K, s);
}

static kk_vec3 face_normal(const kuroda *K, const kuroda_solid *x, int face) {
    const kk_mat3 R = kk_mat3_mul(K->body[x->body].turn, x->X_CS.R);
    return kk_mat3_mul_vec(R, x->surface->normal[face]);
}

// ---- 5.4.1: a vertex and a face

/// A vertex over the line between two faces of one plane has one spring.
static int has_twin(const kuroda *K, const kuroda_solid *A, int vertex, const kuroda_solid *B, int face, int first) {
    const int swap = A->shape > B->shape;
    for (int i = first; i < K->nspring && i < K->most_springs; i++) {
        const kuroda_spring *s = &K->spring[i];
        if (s->kind == KURODA_VERTEX_FACE && s->shape[swap] == A->shape && s->shape[!swap] == B->shape &&
            s->body[1] == A->body && s->feature[swap] == vertex &&
            B->surface->region[s->feature[!swap]] == B->surface->region[face]) {
            return 1;
        }
    }
    return 0;
}

static kuroda_spring *set_vertex(kuroda *K, kuroda_solid *A, int vertex, kuroda_solid *B, int face, double *depth) {
    const kk_vec3 n = face_normal(K, B, face), p = A->full[vertex];
    *depth = -kk_vec3_dot(n, kk_vec3_sub(p, B->full[B->surface->face[face].vertex[0]]));
    const kk_vec3 foot = kk_vec3_add(p, kk_vec3_scale(n, *depth)); // (5.3)
    kuroda_spring *s = set(K, B->body, foot, A->body, p, n);
    name(K, s, KURODA_VERTEX_FACE, 0, A, vertex, B, face);
    s->place = s->arm[0];
    return s;
}

void kki_kuroda_touch_vertex(kuroda *K, kuroda_solid *of_vertex, int vertex, kuroda_solid *of_face, int face) {
    double depth = 0;
    if (!has_twin(K, of_vertex, vertex, of_face, face, K->first_contact)) {
        set_vertex(K, of_vertex, vertex, of_face, face, &depth);
        K->nspring -= !(depth > 0);
    }
}

void kki_kuroda_bound_vertex(kuroda *K, kuroda_solid *of_vertex, int vertex, kuroda_solid *of_face, int face) {
    double depth = 0;
    if (!has_twin(K, of_vertex, vertex, of_face, face, K->first_contact)) {
        set_vertex(K, of_vertex, vertex, of_face, face, &depth)->is_bound = 1;
    }
}

// ---- 5.4.2: two edges

typedef struct edge_pair {
    kuroda_solid *solid[2];
    int32_t edge[2];
    kk_vec3 a[2], b[2]; ///< ends of the whole edges at t
    kk_vec3 p[2];       ///< p'_e0, p'_e1
    double share[2];    ///< α, β of (5.11), (5.12)
    kk_vec3 push[2];    ///< n_e0, n_e1: the way the other edge is pushed
} edge_pair;

static int face_beside(const edge_pair *x, int i, int side) {
    return x->solid[i]->surface->edge[x->edge[i]].face[side];
}

/// Nearest points of the two lines, within the edges; false for parallel edges.
static int find_points(edge_pair *x) {
    const kk_vec3 u = kk_vec3_sub(x->b[0], x->a[0]), v = kk_vec3_sub(x->b[1], x->a[1]);
    const kk_vec3 w = kk_vec3_sub(x->a[1], x->a[0]);
    const double uu = kk_vec3_dot(u, u), vv = kk_vec3_dot(v, v), uv = kk_vec3_dot(u, v), det = uu * vv - uv * uv;
    if (!(det > 1e-12 * uu * vv)) {
        return 0;
    }
    x->share[0] = (kk_vec3_dot(u, w) * vv - kk_vec3_dot(v, w) * uv) / det;
    x->share[1] = (kk_vec3_dot(u, w) * uv - kk_vec3_dot(v, w) * uu) / det;
    for (int i = 0; i < 2; i++) {
        const double t = x->share[i] < 0 ? 0 : x->share[i] > 1 ? 1 : x->share[i];
        x->share[i] = t;
        x->p[i] = kk_vec3_add(x->a[i], kk_vec3_scale(i ? v : u, t));
    }
    return 1;
}

/// (5.4-5.6): away from where the other edge has come to.
static void find_pushes(edge_pair *x) {
    const kk_vec3 cross = kk_vec3_cross(kk_vec3_sub(x->b[0], x->a[0]), kk_vec3_sub(x->b[1], x->a[1]));
    const kk_vec3 n = kk_vec3_scale(cross, 1 / kk_vec3_norm(cross)), l = kk_vec3_sub(x->p[1], x->p[0]);
    x->push[0] = kk_vec3_dot(l, n) >= 0 ? kk_vec3_scale(n, -1) : n;
    x->push[1] = kk_vec3_scale(x->push[0], -1);
}

/// (5.7): q_i, whether the push lies between the normals of the faces beside the edge. The surface's first face runs along the edge, which makes it
/// the thesis's second.
static int is_between(const kuroda *K, const edge_pair *x, int i) {
    const int f0 = face_beside(x, i, 0), f1 = face_beside(x, i, 1);
    if (f0 < 0 || f1 < 0) {
        return 0;
    }
    kk_vec3 e = kk_vec3_sub(x->b[i], x->a[i]);
    e = kk_vec3_scale(e, 1 / kk_vec3_norm(e));
    const double first = kk_vec3_dot(kk_vec3_cross(x->push[i], face_normal(K, x->solid[i], f0)), e);
    const double second = kk_vec3_dot(kk_vec3_cross(x->push[i], face_normal(K, x->solid[i], f1)), e);
    const int is_outward = kk_vec3_dot(x->push[i], face_normal(K, x->solid[i], f0)) > -0.5 ||
                           kk_vec3_dot(x->push[i], face_normal(K, x->solid[i], f1)) > -0.5;
    return first <= ROUNDING && second >= -ROUNDING && is_outward;
}

static void name_edges(kuroda *K, kuroda_spring *s, const edge_pair *x, int variant) {
    name(K, s, KURODA_EDGE_EDGE, variant, x->solid[0], x->edge[0], x->solid[1], x->edge[1]);
    s->place = kk_vec3_make(x->share[0] * kk_vec3_norm(kk_vec3_sub(x->b[0], x->a[0])),
                            x->share[1] * kk_vec3_norm(kk_vec3_sub(x->b[1], x->a[1])), 0);
}

/// A face beside edge i pushes the point of the other edge; false where that is not behind it, or too far.
static int push_by_plane(kuroda *K, const edge_pair *x, int i, int face) {
    const kk_vec3 n = face_normal(K, x->solid[i], face), p = x->p[!i];
    const double depth = -kk_vec3_dot(n, kk_vec3_sub(p, x->a[i]));
    if (!(depth > 0 && depth <= 1.5 * K->depth)) {
        return 0;
    }
    kuroda_spring *s = set(K, x->solid[i]->body, kk_vec3_add(p, kk_vec3_scale(n, depth)), x->solid[!i]->body, p, n);
    name_edges(K, s, x, i ? KURODA_ON_FACE_OF_1 : KURODA_ON_FACE_OF_0);
    return 1;
}

/// q_i is false: of the faces beside edge i the one that is further from the push found, which would be against the motion; where it
/// has nothing to push, the other one.
static void push_by_face(kuroda *K, const edge_pair *x, int i) {
    const int f0 = face_beside(x, i, 0), f1 = face_beside(x, i, 1);
    const int a = f0 < 0 ? f1 : f0, b = f1 < 0 ? f0 : f1;
    const double at_a = kk_vec3_dot(face_normal(K, x->solid[i], a), x->push[i]);
    const double at_b = kk_vec3_dot(face_normal(K, x->solid[i], b), x->push[i]);
    push_by_plane(K, x, i, at_a <= at_b ? a : b);
}

/// (5.8): q'_i, whether the point of edge i is near an end of the other; which one.
static int is_near_end(const kuroda *K, const edge_pair *x, int i, int *vertex) {
    const double sigma = K->depth; // the thesis does not say
    const double a = kk_vec3_norm(kk_vec3_sub(x->p[i], x->a[!i])), b = kk_vec3_norm(kk_vec3_sub(x->p[i], x->b[!i]));
    *vertex = x->solid[!i]->surface->edge[x->edge[!i]].vertex[a <= b ? 0 : 1];
    return a <= sigma || b <= sigma;
}

static kk_vec3 vertex_normal(const kuroda *K, const kuroda_solid *x, int vertex) {
    const kk_vec3 n = x->surface->vertex_normal[vertex];
    const double length = kk_vec3_norm(n);
    const kk_mat3 R = kk_mat3_mul(K->body[x->body].turn, x->X_CS.R);
    return kk_mat3_mul_vec(R, kk_vec3_scale(n, length > 0 ? 1 / length : 0));
}

static void push_by_faces(kuroda *K, const edge_pair *x) {
    int v1, v0;
    const int near0 = is_near_end(K, x, 0, &v1), near1 = is_near_end(K, x, 1, &v0);
    if (near0 && near1) {
        const double at1 = kk_vec3_dot(x->push[0], vertex_normal(K, x->solid[1], v1));
        const double at0 = kk_vec3_dot(x->push[1], vertex_normal(K, x->solid[0], v0));
        push_by_face(K, x, at1 < at0 ? 0 : 1);
    } else if (near0 || near1) {
        push_by_face(K, x, near0 ? 0 : 1);
    } else {
        push_by_face(K, x, 0);
        push_by_face(K, x, 1);
    }
}

static edge_pair pair_of(kuroda_solid *a, int e0, kuroda_solid *b, int e1) {
    const int32_t *i = a->surface->edge[e0].vertex, *j = b->surface->edge[e1].vertex;
    return (edge_pair){
        .solid = {a, b}, .edge = {e0, e1}, .a = {a->full[i[0]], b->full[j[0]]}, .b = {a->full[i[1]], b->full[j[1]]}};
}

void kki_kuroda_touch_edges(kuroda *K, kuroda_solid *a, int e0, kuroda_solid *b, int e1) {
    edge_pair x = pair_of(a, e0, b, e1);
    if (!find_points(&x)) {
        return;
    }
    find_pushes(&x);
    const int q0 = is_between(K, &x, 0), q1 = is_between(K, &x, 1);
    if (q0 && q1) {
        if (kk_vec3_norm(kk_vec3_sub(x.p[1], x.p[0])) <= 1.5 * K->depth) {
            name_edges(K, set(K, a->body, x.p[0], b->body, x.p[1], x.push[0]), &x, KURODA_ON_EDGES);
        }
    } else if (q0 || q1) {
        push_by_face(K, &x, q0 ? 1 : 0);
    } else {
        push_by_faces(K, &x);
    }
}

static int is_bound_already(const kuroda *K, const kuroda_solid *a, int e0, const kuroda_solid *b, int e1) {
    const int swap = a->shape > b->shape;
    for (int i = K->first_contact; i < K->nspring && i < K->most_springs; i++) {
        const kuroda_spring *s = &K->spring[i];
        if (s->kind == KURODA_EDGE_EDGE && s->variant == KURODA_ON_EDGES && s->shape[swap] == a->shape &&
            s->shape[!swap] == b->shape && s->feature[swap] == e0 && s->feature[!swap] == e1) {
            return 1;
        }
    }
    return 0;
}

/// L0: the edges must stay on the sides that the shrunken ones are on at t.
void kki_kuroda_bound_edges(kuroda *K, kuroda_solid *a, int e0, kuroda_solid *b, int e1) {
    if (is_bound_already(K, a, e0, b, e1)) {
        return;
    }
    edge_pair x = pair_of(a, e0, b, e1), shrunk = x;
    const int32_t *i = a->surface->edge[e0].vertex, *j = b->surface->edge[e1].vertex;
    shrunk.a[0] = a->from[i[0]];
    shrunk.b[0] = a->from[i[1]];
    shrunk.a[1] = b->from[j[0]];
    shrunk.b[1] = b->from[j[1]];
    if (!find_points(&shrunk) || !find_points(&x)) {
        return;
    }
    const kk_vec3 l = kk_vec3_sub(shrunk.p[1], shrunk.p[0]);
    const double length = kk_vec3_norm(l);
    if (length > 0) {
        kuroda_spring *s = set(K, a->body, x.p[0], b->body, x.p[1], kk_vec3_scale(l, 1 / length));
        name_edges(K, s, &x, KURODA_ON_EDGES);
        s->is_bound = 1;
    }
}

// ---- 5.6.2: what is kept from step to step

static kk_vec3 load3(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store3(double *x, kk_vec3 a) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

static int code_of(const kuroda_spring *s) {
    return 64 * s->has_nu + 8 * s->kind + 2 * s->variant + s->sticks;
}

/// Whether a record, as numbers, is that of a spring.
static int is_record_of(const kuroda *K, const kuroda_spring *s, const double *record) {
    const kki_model_shape *shape = K->model->shape;
    return record[KURODA_WARM_SHAPE] == shape[s->shape[0]].collider &&
           record[KURODA_WARM_SHAPE + 1] == shape[s->shape[1]].collider &&
           record[KURODA_WARM_FEATURE] == s->feature[0] && record[KURODA_WARM_FEATURE + 1] == s->feature[1] &&
           ((int)record[KURODA_WARM_KIND] & 62) == (code_of(s) & 62);
}

/// @param record  [KURODA_WARM_SIZE] result    @return 0: there is none
static int find_record(const kuroda *K, const kk_state *state, const kuroda_spring *s, double *record) {
    const kki_warm_list list = kki_state_list(state);
    for (int i = 0; i + KURODA_WARM_SIZE <= list.others; i += KURODA_WARM_SIZE) {
        for (int k = 0; k < KURODA_WARM_SIZE; k++) {
            record[k] = kki_double(list.word[i + k]);
        }
        if (is_record_of(K, s, record)) {
            return 1;
        }
    }
    return 0;
}

void kki_kuroda_remember(kuroda *K) {
    kk_simulator *sim = K->s;
    sim->warm_start.other = K->memory;
    sim->warm_start.nother = 0;
    for (int i = K->first_contact; i < K->nspring; i++) {
        const kuroda_spring *s = &K->spring[i];
        double *at = K->memory + sim->warm_start.nother;
        if (s->is_bound) {
            continue;
        }
        sim->warm_start.nother += KURODA_WARM_SIZE;
        at[KURODA_WARM_SHAPE] = K->model->shape[s->shape[0]].collider;
        at[KURODA_WARM_SHAPE + 1] = K->model->shape[s->shape[1]].collider;
        at[KURODA_WARM_FEATURE] = s->feature[0];
        at[KURODA_WARM_FEATURE + 1] = s->feature[1];
        at[KURODA_WARM_KIND] = code_of(s);
        store3(at + KURODA_WARM_POINTS, s->sticks ? s->arm[0] : s->place);
        store3(at + KURODA_WARM_POINTS + 3, s->sticks ? s->arm[1] : s->nu);
        at[KURODA_WARM_HELD] = kk_vec3_dot(s->held, s->normal);
    }
}

// ---- sliding and sticking

/// 5.6: ν of this step and the last; then the spring keeps the ends it has now.
static void maybe_stick(kuroda_spring *s, const double *record) {
    const int known = (int)record[KURODA_WARM_KIND] & 64;
    const kk_vec3 before = load3(record + KURODA_WARM_POINTS + 3);
    s->nu = kk_vec3_sub(s->place, load3(record + KURODA_WARM_POINTS));
    s->has_nu = 1;
    s->sticks = (known && kk_vec3_dot(s->nu, before) < 0) || kk_vec3_norm(s->nu) < STILL;
}

/// (5.13-5.16): d split into depth and tangential stretch.
static int pulls_loose(const kuroda *K, const kuroda_spring *s) {
    const kk_vec3 d = kk_vec3_sub(kki_kuroda_end(K, s, 1), kki_kuroda_end(K, s, 0));
    const double along = kk_vec3_dot(s->normal, d), depth = -along;
    const double l_h = kk_vec3_norm(kk_vec3_sub(d, kk_vec3_scale(s->normal, along)));
    return s->k * l_h > K->model->law[s->law].static_friction * (s->k * depth + s->held_before);
}

static void decide(kuroda *K, kuroda_spring *s, const double *record) {
    if (!record) {
        return; // new: slides
    }
    s->held_before = record[KURODA_WARM_HELD];
    if (!((int)record[KURODA_WARM_KIND] & 1)) {
        maybe_stick(s, record);
        return;
    }
    const kk_vec3 arm[2] = {s->arm[0], s->arm[1]};
    s->arm[0] = load3(record + KURODA_WARM_POINTS);
    s->arm[1] = load3(record + KURODA_WARM_POINTS + 3);
    s->sticks = !pulls_loose(K, s);
    if (!s->sticks) {
        s->arm[0] = arm[0];
        s->arm[1] = arm[1];
    }
}

// ---- forces

static kk_vec3 end_velocity(const kuroda *K, const kuroda_spring *s, int side) {
    const kuroda_body *b = &K->body[s->body[side]];
    return kk_vec3_add(b->v, kk_vec3_cross(b->w, kki_kuroda_arm(K, s, side)));
}

/// (2.30) and (2.33) on body[1]; springs of contacts do not pull.
static kk_vec3 pull_of(const kuroda *K, const kuroda_spring *s, kk_vec3 d, kk_vec3 v) {
    const double length = kk_vec3_norm(d);
    if (!(length > 0)) {
        return kk_vec3_make(0, 0, 0);
    }
    const kk_vec3 n_l = kk_vec3_scale(d, 1 / length);
    const kk_vec3 f = kk_vec3_scale(n_l, -s->k * length - s->c * kk_vec3_dot(v, n_l));
    (void)K;
    return kk_vec3_dot(f, s->normal) > 0 ? f : kk_vec3_make(0, 0, 0);
}

/// (5.9): against the tangential velocity.
static kk_vec3 dynamic_friction(const kuroda *K, const kuroda_spring *s, double depth, kk_vec3 v) {
    const kk_vec3 slip = kk_vec3_sub(v, kk_vec3_scale(s->normal, kk_vec3_dot(s->normal, v)));
    const double speed = kk_vec3_norm(slip);
    return kk_vec3_scale(slip, speed > 0 ? -K->model->law[s->law].friction * s->k * depth / speed : 0);
}

void kki_kuroda_contact_forces(kuroda *K, const kk_state *state) {
    for (int i = K->first_contact; i < K->nspring; i++) {
        kuroda_spring *s = &K->spring[i];
        double record[KURODA_WARM_SIZE];
        decide(K, s, find_record(K, state, s, record) ? record : NULL);
        const kk_vec3 d = kk_vec3_sub(kki_kuroda_end(K, s, 1), kki_kuroda_end(K, s, 0));
        const kk_vec3 v = kk_vec3_sub(end_velocity(K, s, 1), end_velocity(K, s, 0));
        const double depth = -kk_vec3_dot(s->normal, d);
        s->force = pull_of(K, s, d, v);
        if (!s->sticks) {
            s->force = kk_vec3_add(s->force, dynamic_friction(K, s, depth, v));
        }
        kki_kuroda_add_force(&K->body[s->body[1]], kki_kuroda_arm(K, s, 1), s->force);
        kki_kuroda_add_force(&K->body[s->body[0]], kki_kuroda_arm(K, s, 0), kk_vec3_scale(s->force, -1));
    }
}
