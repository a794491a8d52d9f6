/// Loose bodies with a budget: which contacts go to the swarm, what it starts from, and what comes of it. See loose.h.
#include "simulate/loose.h"

#include <karakuri/number.h>
#include <string.h>

#include "base/error.h"
#include "base/sets.h"
#include "simulate/island.h"

/// Overlap that is left alone, as a share of what a step repairs at most, and share of the rest that a step undoes: sweeps that all at once would lift one
/// corner before the other, and shake what stands. By a fifth of the budget's sweeps.
static const double SLOP = 0.01, REPAIR = 0.2;
enum { REPAIRS = 5 };
/// Bodies that are worth a worker's while; bundles ahead of which contacts are fetched.
enum { BODY_GRAIN = 64, AHEAD = 3 };

// ---- what does not change

/// The factor of the kick (kernels/kick.h, own_turns) without impedance, as y = B v.
static void factor_turns(const kki_node *n, double B[6]) {
    const double xx = n->inertia[0][0], xy = n->inertia[0][1], xz = n->inertia[0][2];
    const double yy = n->inertia[1][1], yz = n->inertia[1][2], zz = n->inertia[2][2];
    const double i = 1 / zz, ax = xx - xz * xz * i, axy = xy - xz * yz * i, ay = yy - yz * yz * i;
    const double j = 1 / ay, x = ax - axy * axy * j;
    B[0] = kk_sqrt(x);
    B[2] = kk_sqrt(ay);
    B[1] = axy / B[2];
    B[5] = kk_sqrt(zz);
    B[3] = xz / B[5];
    B[4] = yz / B[5];
}

static kki_loose_body own_of(const kki_node *n) {
    kki_loose_body b = {.root = kk_sqrt(n->mass)};
    const kk_mat3 I = kki_mat3(n->inertia);
    const double *m = I.m, xx = m[0], xy = m[1], xz = m[2], yy = m[4], yz = m[5], zz = m[8];
    const double a = yy * zz - yz * yz, c = xz * yz - xy * zz, d = xy * yz - xz * yy;
    const double f = 1 / (xx * a + xy * c + xz * d);
    const double inverse[7] = {1 / n->mass, f * a, f * (xx * zz - xz * xz), f * (xx * yy - xy * xy),
                               f * c,       f * d, f * (xy * xz - xx * yz)};
    memcpy(b.inverse, inverse, sizeof inverse);
    factor_turns(n, b.turn);
    return b;
}

static int has_nothing_else(const kk_model *m, const kki_node *n) {
    int none = 1;
    for (int k = n->v_index; k < n->v_index + 6; k++) {
        const kk_dof_def *d = &m->dof[k];
        none &= m->dof_armature[k] == 0 && d->stiffness == 0 && d->damping == 0 && d->friction == 0;
    }
    return none;
}

/// A body alone on a free joint, its origin its centre of mass, that no spring, motor or loop knows of.
static void find_loose(const kk_model *m, kki_loose *x) {
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        const int central = n->h[0] == 0 && n->h[1] == 0 && n->h[2] == 0 && n->mass > 0;
        x->is_loose[i] = (int8_t)(kki_is_lone(m, i) && central && has_nothing_else(m, n));
    }
    for (int i = 0; i < m->nloop; i++) {
        x->is_loose[m->loop[i].node[0]] = x->is_loose[m->loop[i].node[1]] = 0;
    }
    for (int i = 0; i < m->nactuator; i++) {
        if (m->actuator[i].transmission == KK_TRANSMISSION_JOINT) {
            x->is_loose[m->dof_node[m->actuator[i].v_index]] = 0;
        }
    }
    for (int i = 1; i < m->nnode; i++) {
        if (x->is_loose[i]) {
            x->own[i] = own_of(&m->node[i]);
            // moments too small for their inverse to be a number
            x->is_loose[i] = x->own[i].inverse[1] - x->own[i].inverse[1] == 0;
        }
    }
}

void kki_loose_place(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    kki_loose *x = &s->loose;
    const size_t trees = x->room ? (size_t)m->ntree : 0, nodes = x->room ? (size_t)m->nnode : 0;
    const size_t contacts = (size_t)x->room, blocks = x->room ? kki_swarm_blocks(x->room) : 0;
    const size_t bundles = x->room ? kki_swarm_bundles(x->room) : 0;
    const size_t numbers = x->room ? KKI_SWARM_BODY * (trees + 1) : 0;
    KKI_LAYOUT_ARRAY(layout, x->is_loose, nodes);
    KKI_LAYOUT_ARRAY(layout, x->own, nodes);
    KKI_LAYOUT_ARRAY(layout, x->face, contacts);
    KKI_LAYOUT_ARRAY(layout, x->is_taken, contacts);
    KKI_LAYOUT_ARRAY(layout, x->parent, trees);
    KKI_LAYOUT_ARRAY(layout, x->rows, trees);
    KKI_LAYOUT_ARRAY(layout, x->is_held, trees);
    KKI_LAYOUT_ARRAY(layout, x->taken, trees);
    KKI_LAYOUT_ARRAY(layout, x->body, trees);
    KKI_LAYOUT_ARRAY(layout, x->node, trees);
    KKI_LAYOUT_ARRAY(layout, x->work, trees);
    KKI_LAYOUT_ARRAY(layout, x->place, trees);
    KKI_LAYOUT_ARRAY(layout, x->batch, trees);
    KKI_LAYOUT_ARRAY(layout, x->order, contacts);
    KKI_LAYOUT_ARRAY(layout, x->swarm.batch, x->room ? kki_swarm_batches(x->room) : 0);
    KKI_LAYOUT_ARRAY(layout, x->swarm.chunk, x->room ? kki_swarm_chunks(x->room) : 0);
    KKI_LAYOUT_ARRAY(layout, x->swarm.bundle, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.is_ball, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.ball, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.proof, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.point, blocks);
    KKI_LAYOUT_ARRAY(layout, x->swarm.end, blocks);
    KKI_LAYOUT_ARRAY(layout, x->swarm.velocity, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.wrench, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.before, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.free, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.inverse, numbers);
}

void kki_loose_fill(const kk_model *m, kk_simulator *s) {
    if (s->loose.room) {
        find_loose(m, &s->loose);
        s->loose.is_everything = 1;
        for (int i = 1; i < m->nnode; i++) {
            s->loose.is_everything &= s->loose.is_loose[i];
        }
        s->loose.swarm.kernels = kki_swarm_kernels_best();
    }
}

// ---- faces and sets

/// Rigid, without restitution, with one friction in all directions: what a sweep's step can do. It can bounce, too, where the instant does not matter.
static int is_plain(const kk_simulator *s, const kki_contact_law *l) {
    return l->ratio == 1 && !(l->torsion > 0) && !(l->rolling > 0) && !(l->adhesion > 0) &&
           (!(l->restitution > 0) || kki_is_overlapping_only(s)) && !(l->stiffness < __builtin_inf()) &&
           !(l->static_friction > l->friction);
}

static int same(kk_vec3 a, kk_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static int tree_of(const kk_model *m, int node) {
    return node == 0 ? -1 : m->node_tree[node];
}

/// Behind the last contact of the face that begins with one.
static int face_end(const kk_simulator *s, int first) {
    const kki_contact *c = &s->contact[first];
    int end = first + 1;
    while (end < s->ncontact && end < first + KKI_SWARM_POINTS && s->contact[end].pair == c->pair &&
           same(s->contact[end].normal, c->normal)) {
        end++;
    }
    return end;
}

/// Faces between loose bodies, or one and the world. What else touches a tree holds its set.
static void list_faces(const kk_model *m, kk_simulator *s) {
    kki_loose *x = &s->loose;
    for (int t = 0; t < m->ntree; t++) {
        x->parent[t] = t;
        x->rows[t] = x->is_held[t] = 0;
        x->taken[t] = 0;
        x->body[t] = -1;
    }
    for (int i = 0, end = 0; i < s->ncontact; i = end) {
        const kki_contact *c = &s->contact[i];
        const int a = tree_of(m, c->node[0]), b = tree_of(m, c->node[1]);
        const int loose = (a < 0 || x->is_loose[c->node[0]]) && (b < 0 || x->is_loose[c->node[1]]);
        end = face_end(s, i);
        if (loose && is_plain(s, &m->law[c->law])) {
            x->face[x->nface++] = (kki_loose_face){.first = i, .count = end - i, .tree = {a, b}, .colour = -1};
            if (a >= 0 && b >= 0) {
                kki_sets_unite(x->parent, a, b);
            }
            continue;
        }
        if (a >= 0) {
            x->is_held[a] = 1;
        }
        if (b >= 0) {
            x->is_held[b] = 1;
        }
    }
}

/// Rows of each set.
static void measure_sets(const kk_model *m, kki_loose *x) {
    for (int i = 0; i < x->nface; i++) {
        kki_loose_face *f = &x->face[i];
        f->set = kki_sets_find(x->parent, f->tree[0] >= 0 ? f->tree[0] : f->tree[1]);
        x->rows[f->set] += 3 * f->count;
    }
    for (int t = 0; t < m->ntree; t++) {
        x->is_held[kki_sets_find(x->parent, t)] |= x->is_held[t];
    }
    for (int t = 0; t < m->ntree; t++) {
        x->is_held[t] |= x->parent[t] == t && x->rows[t] == 0; // touches nothing
    }
}

/// The first colour that neither tree has. A set in which there is none left is held.
static void colour_faces(kki_loose *x) {
    uint64_t world = 0;
    for (int i = 0; i < x->nface; i++) {
        kki_loose_face *f = &x->face[i];
        const int set = f->set;
        if (x->is_held[set]) {
            continue;
        }
        uint64_t *a = f->tree[0] >= 0 ? &x->taken[f->tree[0]] : &world;
        uint64_t *b = f->tree[1] >= 0 ? &x->taken[f->tree[1]] : &world;
        world = 0; // it does not move
        const uint64_t free = ~(*a | *b);
        if (free == 0) {
            x->is_held[set] = 1;
            continue;
        }
        f->colour = __builtin_ctzll(free);
        *a |= free & -free;
        *b |= free & -free;
    }
}

// ---- bodies and bundles

/// Sets, in the order of their first trees, fill batches.
static void make_batches(const kk_model *m, kki_loose *x) {
    kki_swarm *w = &x->swarm;
    w->nbatch = 0;
    for (int t = 0; t < m->ntree; t++) {
        if (x->parent[t] == t && !x->is_held[t]) {
            if (w->nbatch == 0 || w->batch[w->nbatch - 1].points >= KKI_SWARM_BATCH) {
                w->batch[w->nbatch++] = (kki_swarm_batch){.points = 0};
            }
            x->batch[t] = w->nbatch - 1;
            w->batch[w->nbatch - 1].points += x->rows[t] / 3;
        }
    }
}

/// Bodies of a batch behind each other.
static void number_bodies(const kk_model *m, kki_loose *x) {
    kki_swarm *w = &x->swarm;
    for (int t = 0; t < m->ntree; t++) {
        const int set = kki_sets_find(x->parent, t);
        w->batch[x->is_held[set] ? 0 : x->batch[set]].body_end += !x->is_held[set];
    }
    w->nbody = 0;
    for (int i = 0; i < w->nbatch; i++) {
        const int count = w->batch[i].body_end;
        w->batch[i].body = w->batch[i].body_end = w->nbody;
        w->nbody += count;
    }
    for (int t = 0; t < m->ntree; t++) {
        const int set = kki_sets_find(x->parent, t);
        if (!x->is_held[set]) {
            const int body = w->batch[x->batch[set]].body_end++;
            x->node[body] = m->dof_node[m->tree_first_dof[t]];
            x->body[t] = body;
        }
    }
}

static void count_sets(const kk_model *m, kki_loose *x) {
    x->islands = x->largest = 0;
    for (int t = 0; t < m->ntree; t++) {
        if (x->parent[t] == t && !x->is_held[t]) {
            x->islands++;
            x->largest = x->rows[t] > x->largest ? x->rows[t] : x->largest;
        }
    }
}

/// The swarm's faces batch by batch; where each batch's begin. @param from [batches + 1], in x->work's place
static void sort_by_batch(kki_loose *x, int32_t *from) {
    memset(from, 0, sizeof *from * (size_t)(x->swarm.nbatch + 1));
    for (int i = 0; i < x->nface; i++) {
        kki_loose_face *f = &x->face[i];
        f->colour = f->colour >= 0 && x->is_held[f->set] ? -1 : f->colour; // held when others had their colours
        if (f->colour >= 0) {
            from[x->batch[f->set] + 1]++;
        }
    }
    for (int i = 0; i < x->swarm.nbatch; i++) {
        from[i + 1] += from[i];
    }
    for (int i = 0; i < x->nface; i++) {
        if (x->face[i].colour >= 0) {
            x->order[from[x->batch[x->face[i].set]]++] = i;
        }
    }
    for (int i = x->swarm.nbatch; i > 0; i--) {
        from[i] = from[i - 1];
    }
    from[0] = 0;
}

/// How many faces of each colour have how many points, then where each sort begins: the longest first.
static void sort_faces(kki_loose *x, kki_swarm_chunk *b, int32_t at[KKI_SWARM_COLOURS][KKI_SWARM_POINTS + 1]) {
    kki_swarm *w = &x->swarm;
    memset(at, 0, sizeof(int32_t) * KKI_SWARM_COLOURS * (KKI_SWARM_POINTS + 1));
    b->colours = 0;
    for (int i = b->face; i < b->face_end; i++) {
        const kki_loose_face *f = &x->face[x->order[i]];
        at[f->colour][f->count]++;
        b->colours = f->colour >= b->colours ? f->colour + 1 : b->colours;
    }
    int bundles = w->count;
    for (int c = 0; c < b->colours; c++) {
        int lane = KKI_SWARM_LANES * bundles;
        b->start[c] = bundles;
        for (int n = KKI_SWARM_POINTS; n > 0; n--) {
            const int count = at[c][n];
            at[c][n] = lane;
            lane += count;
        }
        bundles = (lane + KKI_SWARM_LANES - 1) / KKI_SWARM_LANES;
        for (int l = lane; l < KKI_SWARM_LANES * bundles; l++) { // of the last one some stay empty
            kki_swarm_bundle *last = &w->bundle[bundles - 1];
            last->contact[l % KKI_SWARM_LANES] = -1;
            last->count[l % KKI_SWARM_LANES] = 0;
            last->at[0][l % KKI_SWARM_LANES] = last->at[1][l % KKI_SWARM_LANES] = KKI_SWARM_BODY * w->nbody;
        }
    }
    b->start[b->colours] = w->count = bundles;
}

/// Where a tree's numbers begin in the swarm.
static int32_t place_of(const kki_loose *x, int tree) {
    return KKI_SWARM_BODY * (tree < 0 ? x->swarm.nbody : x->body[tree]);
}

static void fill_lane(kki_loose *x, const kki_loose_face *f, int lane) {
    kki_swarm_bundle *b = &x->swarm.bundle[lane / KKI_SWARM_LANES];
    b->contact[lane % KKI_SWARM_LANES] = f->first;
    b->count[lane % KKI_SWARM_LANES] = f->count;
    b->at[0][lane % KKI_SWARM_LANES] = place_of(x, f->tree[0]);
    b->at[1][lane % KKI_SWARM_LANES] = place_of(x, f->tree[1]);
    x->npoint += f->count;
    for (int i = f->first; i < f->first + f->count; i++) {
        x->is_taken[i] = 1;
    }
}

/// The first group that none of its trees has; the chunks before have theirs. Where there is none left it is alone.
static int group_of(kki_loose *x, const kki_swarm_chunk *c, int number) {
    uint64_t all = 0;
    for (int i = c->face; i < c->face_end; i++) {
        const int32_t *t = x->face[x->order[i]].tree;
        all |= (t[0] >= 0 ? x->taken[t[0]] : 0) | (t[1] >= 0 ? x->taken[t[1]] : 0);
    }
    const uint64_t free = ~all & (all + 1);
    for (int i = c->face; i < c->face_end; i++) {
        const int32_t *t = x->face[x->order[i]].tree;
        for (int side = 0; side < 2; side++) {
            if (t[side] >= 0) {
                x->taken[t[side]] |= free;
            }
        }
    }
    return free ? __builtin_ctzll(free) : KKI_SWARM_COLOURS + number;
}

/// Insertion, so that those of a group keep their order.
static void sort_chunks(kki_swarm_chunk *c, int count) {
    for (int i = 1; i < count; i++) {
        const kki_swarm_chunk x = c[i];
        int j = i;
        for (; j > 0 && c[j - 1].group > x.group; j--) {
            c[j] = c[j - 1];
        }
        c[j] = x;
    }
}

/// @param first, end  the batch's faces
static void cut_into_chunks(kki_loose *x, int trees, kki_swarm_batch *b, int first, int end) {
    kki_swarm *w = &x->swarm;
    b->chunk = w->nchunk;
    for (int i = first, points = 0; i < end; i++) {
        const int is_new = i == first || (b->points >= KKI_SWARM_LARGE && points >= KKI_SWARM_CHUNK);
        if (is_new) {
            w->chunk[w->nchunk++] = (kki_swarm_chunk){.face = i};
            points = 0;
        }
        points += x->face[x->order[i]].count;
        w->chunk[w->nchunk - 1].face_end = i + 1;
    }
    b->chunk_end = w->nchunk;
    if (b->chunk_end > b->chunk + 1) {
        memset(x->taken, 0, sizeof *x->taken * (size_t)trees); // colours have been given
        for (int i = b->chunk; i < b->chunk_end; i++) {
            w->chunk[i].group = group_of(x, &w->chunk[i], i);
        }
        sort_chunks(&w->chunk[b->chunk], b->chunk_end - b->chunk);
    }
}

static void fill_chunk(kki_loose *x, kki_swarm_chunk *c, int32_t at[KKI_SWARM_COLOURS][KKI_SWARM_POINTS + 1]) {
    sort_faces(x, c, at);
    for (int i = c->face; i < c->face_end; i++) {
        const kki_loose_face *f = &x->face[x->order[i]];
        fill_lane(x, f, at[f->colour][f->count]++);
    }
}

static void make_bundles(kk_simulator *s) {
    kki_loose *x = &s->loose;
    int32_t at[KKI_SWARM_COLOURS][KKI_SWARM_POINTS + 1], *from = (int32_t *)x->work; // which is wanted at the end only
    memset(x->is_taken, 0, (size_t)s->ncontact);
    x->npoint = x->swarm.count = x->swarm.nchunk = 0;
    sort_by_batch(x, from);
    for (int k = 0; k < x->swarm.nbatch; k++) {
        kki_swarm_batch *b = &x->swarm.batch[k];
        b->bundle = x->swarm.count;
        cut_into_chunks(x, s->model->ntree, b, from[k], from[k + 1]);
        for (int i = b->chunk; i < b->chunk_end; i++) {
            fill_chunk(x, &x->swarm.chunk[i], at);
        }
        b->bundle_end = x->swarm.count;
    }
    for (int i = 0, points = 0; i < x->swarm.count; i++) {
        kki_swarm_bundle *b = &x->swarm.bundle[i];
        b->first = points;
        b->points = b->count[0]; // the longest
        points += b->points;
    }
}

void kki_loose_choose(const kk_model *m, kk_simulator *s) {
    kki_loose *x = &s->loose;
    x->nface = x->npoint = x->islands = x->largest = 0;
    if (x->room == 0 || s->options.budget <= 0 || s->paper || m->ntendon > 0 || s->ncontact == 0) {
        return;
    }
    list_faces(m, s);
    measure_sets(m, x);
    colour_faces(x);
    make_batches(m, x);
    if (x->swarm.nbatch > 0) {
        number_bodies(m, x);
        make_bundles(s);
        count_sets(m, x);
    }
}

int kki_loose_has_contact(const kk_simulator *s, int contact) {
    return s->loose.npoint > 0 && s->loose.is_taken[contact];
}

int kki_loose_has_tree(const kk_simulator *s, int tree) {
    return s->loose.npoint > 0 && s->loose.body[tree] >= 0;
}

// ---- what the swarm starts from

typedef struct passing {
    const kk_model *m;
    kk_simulator *s;
    int first; ///< body of the batch
} passing;

static void put4(double *to, kk_vec3 a) {
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
    to[3] = 0;
}

static int is_round(const double *k) {
    return k[1] == k[2] && k[1] == k[3] && k[4] == 0 && k[5] == 0 && k[6] == 0;
}

/// J in world axes: R J Rᵀ.
static void turn_inverse(const kki_loose_body *own, const kk_mat3 *R, double *to) {
    const double *k = own->inverse;
    if (is_round(k)) {
        const double numbers[KKI_SWARM_BODY] = {k[0], k[1], k[1], k[1], 0, 0, 0, 1};
        memcpy(to, numbers, sizeof numbers);
        return;
    }
    const kk_sym3 J = kk_sym3_rotate(*R, (kk_sym3){k[1], k[2], k[3], k[4], k[5], k[6]});
    const double numbers[KKI_SWARM_BODY] = {k[0], J.xx, J.yy, J.zz, J.xy, J.xz, J.yz, 0};
    memcpy(to, numbers, sizeof numbers);
}

/// y of a body's velocities in its own axes: B v.
static void scale_velocity(const kki_loose_body *own, kk_vec3 angular, kk_vec3 linear, double y[6]) {
    const double *B = own->turn;
    y[0] = B[0] * angular.x;
    y[1] = B[1] * angular.x + B[2] * angular.y;
    y[2] = (B[3] * angular.x + B[4] * angular.y) + B[5] * angular.z;
    y[3] = own->root * linear.x;
    y[4] = own->root * linear.y;
    y[5] = own->root * linear.z;
}

static kk_vec3 vec_at(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

/// Velocities that forces add in the step: those of the caller, on the body and along its joint, and its weight. What the kick's factor would say of it.
/// @param k  what answers, world axes
static void free_change(const passing *p, int node, const kk_mat3 *R, const double *k, kk_vec3 *linear,
                        kk_vec3 *angular) {
    const kk_simulator *s = p->s;
    const double *tau = s->tau + p->m->node[node].v_index;
    const kk_vec3 F = kk_vec3_add(s->outside[node].linear, kk_mat3_mul_vec(*R, vec_at(tau + 3)));
    const kk_vec3 N = kk_vec3_add(s->outside[node].angular, kk_mat3_mul_vec(*R, vec_at(tau)));
    const kk_vec3 a = kk_vec3_add(vec_at(p->m->gravity), kk_vec3_scale(F, k[0]));
    *linear = kk_vec3_scale(a, s->h);
    *angular = kk_vec3_scale(kk_sym3_mul_vec((kk_sym3){k[1], k[2], k[3], k[4], k[5], k[6]}, N), s->h);
}

static void begin_bodies(void *context, int first, int end, int worker) {
    const passing *p = context;
    const kk_simulator *s = p->s;
    const kki_loose *x = &s->loose;
    (void)worker;
    for (int i = p->first + first; i < p->first + end; i++) {
        const int node = x->node[i], dof = p->m->node[node].v_index;
        const kki_pose *pose = kki_pose_of(s->data, node);
        const kki_rates *V = kki_rates_of(s->data, node);
        const kk_mat3 R = kki_mat3(pose->R);
        const size_t at = KKI_SWARM_BODY * (size_t)i;
        kk_vec3 linear, angular;
        x->place[i] = kki_vec3(pose->p);
        turn_inverse(&x->own[node], &R, x->swarm.inverse + at);
        free_change(p, node, &R, x->swarm.inverse + at, &linear, &angular);
        put4(x->swarm.before + at, kki_vec3(V->u));
        put4(x->swarm.before + at + 4, kki_vec3(V->w));
        put4(x->swarm.free + at, kk_vec3_add(kki_vec3(V->u), linear));
        put4(x->swarm.free + at + 4, kk_vec3_add(kki_vec3(V->w), angular));
        if (s->is_crowd) { // where the kick leaves the swarm's bodies out
            scale_velocity(&x->own[node], vec_at(s->v + dof), vec_at(s->v + dof + 3), s->y + dof);
        }
    }
}

static void put_lane(double to[3][KKI_SWARM_LANES], int lane, kk_vec3 a) {
    to[0][lane] = a.x;
    to[1][lane] = a.y;
    to[2][lane] = a.z;
}

/// @param at  where the body's numbers begin
static kk_vec3 arm_of(const kki_loose *x, int at, kk_vec3 point) {
    const int body = at / KKI_SWARM_BODY;
    return body == x->swarm.nbody ? kk_vec3_make(0, 0, 0) : kk_vec3_sub(point, x->place[body]);
}

static kk_vec3 velocity_of(const kk_simulator *s, int node, kk_vec3 arm) {
    const kki_rates *V = kki_rates_of(s->data, node);
    return node == 0 ? kk_vec3_make(0, 0, 0) : kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(kki_vec3(V->w), arm));
}

/// Impulses that hold, not those of sliding.
static int is_stuck(double friction, const double *l) {
    const double most = friction * l[0] * (1 - 1e-6);
    return friction * l[0] > 0 && l[1] * l[1] + l[2] * l[2] < most * most;
}

/// Speed below which nothing bounces: in a step that sees no instants, what rests may come in with what gravity adds.
static double least_bounce(const kk_model *m, const kk_simulator *s) {
    const double *g = m->gravity;
    return s->options.restitution_speed + s->h * kk_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/// Newton's law: what comes in leaves with its share of that speed. Neither it nor what has left goes on with its old impulse.
static double bounce(const passing *p, const kki_contact *k, kk_vec3 ra, kk_vec3 rb, double l[3]) {
    const double e = p->m->law[k->law].restitution;
    if (!(e > 0)) {
        return 0;
    }
    const kk_vec3 v = kk_vec3_sub(velocity_of(p->s, k->node[1], rb), velocity_of(p->s, k->node[0], ra));
    const double u = kk_vec3_dot(v, k->normal), least = least_bounce(p->m, p->s);
    if (__builtin_fabs(u) > least) {
        l[0] = l[1] = l[2] = 0;
    }
    return u < -least ? e * u : 0;
}

/// What a point starts from.
typedef struct start {
    kk_vec3 arm[2];
    double l[3], bias[3];
    double rate;
    int bounces;
} start;

static const start NOTHING = {.bounces = 0};

/// In line, so that its numbers go straight to where they are wanted.
static inline __attribute__((always_inline)) void start_of(const passing *p, const kki_swarm_bundle *b, kki_contact *k,
                                                           int lane, start *x) {
    const kk_simulator *s = p->s;
    const kk_vec3 ra = arm_of(&s->loose, b->at[0][lane], k->point), rb = arm_of(&s->loose, b->at[1][lane], k->point);
    const double share = 1.0 / s->options.budget, gap = k->gap + SLOP * s->options.correction;
    double l[3] = {kk_vec3_dot(k->impulse, k->normal), kk_vec3_dot(k->impulse, k->tangent[0]),
                   kk_vec3_dot(k->impulse, k->tangent[1])};
    const double leaves = bounce(p, k, ra, rb, l);
    x->arm[0] = ra;
    x->arm[1] = rb;
    x->bounces = leaves < 0;
    double bias[3] = {k->open / (0.5 * s->h) + leaves, k->surface[0], k->surface[1]};
    x->rate = gap < 0 ? REPAIR * gap / (0.5 * s->h) : gap / (0.5 * s->h);
    k->swing = 0;
    if (kki_may_swing(p->m, k, l[0])) {
        const kk_vec3 v = kk_vec3_sub(velocity_of(s, k->node[1], rb), velocity_of(s, k->node[0], ra));
        const double u[3] = {kk_vec3_dot(v, k->normal), kk_vec3_dot(v, k->tangent[0]), kk_vec3_dot(v, k->tangent[1])};
        kki_reflect_contact(p->m, s, k, is_stuck(p->m->law[k->law].friction, l), u, bias);
    }
    for (int i = 0; i < 3; i++) {
        x->l[i] = share * l[i];
        x->bias[i] = bias[i];
    }
}

static inline __attribute__((always_inline)) void begin_point(const start *x, int lane, kki_swarm_point *to,
                                                              kki_swarm_end *end) {
    put_lane(to->arm[0], lane, x->arm[0]);
    put_lane(to->arm[1], lane, x->arm[1]);
    put_lane(to->lambda, lane, vec_at(x->l));
    put_lane(to->total, lane, kk_vec3_make(0, 0, 0));
    put_lane(to->g, lane, vec_at(x->bias));
    end->rate[lane] = x->rate;
}

static void begin_lane(const passing *p, kki_swarm_bundle *b, int lane) {
    kki_loose *x = &p->s->loose;
    const int first = b->contact[lane];
    const kki_contact *k = first < 0 ? NULL : &p->s->contact[first];
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    put_lane(b->axis[0], lane, k ? k->normal : none);
    put_lane(b->axis[1], lane, k ? k->tangent[0] : none);
    put_lane(b->axis[2], lane, k ? k->tangent[1] : none);
    b->friction[lane] = k ? p->m->law[k->law].friction : 0;
    double *overlap = &x->swarm.proof[b - x->swarm.bundle].overlap;
    for (int i = 0; i < b->points; i++) {
        kki_swarm_point *to = &x->swarm.point[b->first + i];
        kki_swarm_end *end = &x->swarm.end[b->first + i];
        if (i >= b->count[lane]) {
            begin_point(&NOTHING, lane, to, end);
            continue;
        }
        kki_contact *c = &p->s->contact[first + i];
        start from;
        start_of(p, b, c, lane, &from);
        begin_point(&from, lane, to, end);
        *overlap = -c->gap > *overlap ? -c->gap : *overlap;
        b->bounces |= from.bounces;
    }
}

/// Whether an arm lies along the normal, but for the rounding of places in the world.
static int is_central(kk_vec3 arm, double along, kk_vec3 n, kk_vec3 point) {
    const kk_vec3 off = kk_vec3_sub(arm, kk_vec3_scale(n, along));
    const double size = __builtin_fabs(point.x) + __builtin_fabs(point.y) + __builtin_fabs(point.z);
    const double most = 1e-14 * (size + __builtin_fabs(along));
    return kk_vec3_dot(off, off) <= most * most;
}

/// One lane of a bundle of balls; false where it is none.
static int begin_ball_lane(const passing *p, kki_swarm_bundle *b, kki_swarm_ball *to, int lane) {
    kki_swarm *w = &p->s->loose.swarm;
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    kki_contact *k = b->contact[lane] < 0 ? NULL : &p->s->contact[b->contact[lane]];
    const kk_vec3 n = k ? k->normal : none;
    for (int side = 0; side < 2; side++) { // first, for most points of cubes are on no such line
        const kk_vec3 arm = k ? arm_of(&p->s->loose, b->at[side][lane], k->point) : none;
        to->at[side][lane] = b->at[side][lane];
        to->arm[side][lane] = kk_vec3_dot(arm, n);
        if (k && !is_central(arm, to->arm[side][lane], n, k->point)) {
            return 0;
        }
    }
    start from = NOTHING;
    if (k) {
        start_of(p, b, k, lane, &from);
    }
    put_lane(to->normal, lane, n);
    to->friction[lane] = k ? p->m->law[k->law].friction : 0;
    to->g[lane] = from.bias[0];
    put_lane(to->lambda, lane,
             k ? kk_vec3_add(kk_vec3_scale(n, from.l[0]), kk_vec3_add(kk_vec3_scale(k->tangent[0], from.l[1]),
                                                                      kk_vec3_scale(k->tangent[1], from.l[2])))
               : none);
    put_lane(to->total, lane, none);
    w->end[b->first].rate[lane] = from.rate;
    double *overlap = &w->proof[b - w->bundle].overlap;
    *overlap = k && -k->gap > *overlap ? -k->gap : *overlap;
    b->bounces |= from.bounces;
    return from.bias[1] == 0 && from.bias[2] == 0;
}

/// Whether all bodies of a bundle of single points answer alike in all directions.
static int may_be_balls(const kki_swarm *w, const kki_swarm_bundle *b) {
    int all = b->points == 1;
    for (int lane = 0; lane < KKI_SWARM_LANES && all; lane++) {
        all = w->inverse[b->at[0][lane] + KKI_SWARM_BODY - 1] != 0 &&
              w->inverse[b->at[1][lane] + KKI_SWARM_BODY - 1] != 0;
    }
    return all;
}

static int begin_balls(const passing *p, kki_swarm_bundle *b, kki_swarm_ball *to) {
    int all = may_be_balls(&p->s->loose.swarm, b);
    for (int lane = 0; lane < KKI_SWARM_LANES && all; lane++) {
        all = begin_ball_lane(p, b, to, lane);
    }
    return all;
}

/// Contacts of a bundle are all over their list; from byte to byte. In line: GCC takes a function that does nothing but fetch for one that does nothing.
static inline __attribute__((always_inline)) void fetch_contacts(const passing *p, int bundle, size_t from, size_t to) {
    const kki_loose *x = &p->s->loose;
    for (int lane = 0; lane < KKI_SWARM_LANES && bundle < x->swarm.count; lane++) {
        const int first = x->swarm.bundle[bundle].contact[lane];
        const char *at = (const char *)&p->s->contact[first < 0 ? 0 : first];
        for (size_t k = from; k < to; k += 64) {
            __builtin_prefetch(at + k);
        }
    }
}

static void begin_bundle(void *context, int bundle) {
    const passing *p = context;
    kki_swarm *w = &p->s->loose.swarm;
    kki_swarm_bundle *b = &w->bundle[bundle];
    fetch_contacts(p, bundle + AHEAD, 0, offsetof(kki_contact, kept));
    __builtin_prefetch(w->bundle[bundle + 2 * AHEAD < w->count ? bundle + 2 * AHEAD : bundle].at);
    b->bounces = 0;
    w->proof[bundle].overlap = 0;
    w->is_ball[bundle] = (uint8_t)begin_balls(p, b, &w->ball[bundle]);
    for (int lane = 0; lane < KKI_SWARM_LANES && !w->is_ball[bundle]; lane++) {
        begin_lane(p, b, lane);
    }
}

// ---- what comes of it

static kk_vec3 get_lane(const double from[3][KKI_SWARM_LANES], int lane) {
    return kk_vec3_make(from[0][lane], from[1][lane], from[2][lane]);
}

/// @param impulse  in world axes    @param velocity  in those of the contact
static void finish_contact(const passing *p, kki_contact *k, kk_vec3 impulse, kk_vec3 velocity) {
    k->impulse = impulse;
    k->kept = kk_vec3_scale(impulse, 1 / p->s->h);
    k->moment = k->kept_moment = kk_vec3_make(0, 0, 0);
    k->friction = p->m->law[k->law].friction;
    k->velocity = velocity;
}

static void finish_lane(const passing *p, const kki_swarm_bundle *b, int lane) {
    const kki_loose *x = &p->s->loose;
    for (int i = 0; i < b->count[lane]; i++) {
        kki_contact *k = &p->s->contact[b->contact[lane] + i];
        const kk_vec3 l = get_lane(x->swarm.point[b->first + i].total, lane);
        finish_contact(p, k,
                       kk_vec3_add(kk_vec3_scale(k->normal, l.x),
                                   kk_vec3_add(kk_vec3_scale(k->tangent[0], l.y), kk_vec3_scale(k->tangent[1], l.z))),
                       get_lane(x->swarm.end[b->first + i].u, lane));
    }
}

static void finish_ball_lane(const passing *p, const kki_swarm_bundle *b, const kki_swarm_ball *from, int lane) {
    if (b->count[lane] > 0) {
        kki_contact *k = &p->s->contact[b->contact[lane]];
        const kk_vec3 v = get_lane(p->s->loose.swarm.end[b->first].u, lane);
        finish_contact(
            p, k, get_lane(from->total, lane),
            kk_vec3_make(kk_vec3_dot(v, k->normal), kk_vec3_dot(v, k->tangent[0]), kk_vec3_dot(v, k->tangent[1])));
    }
}

/// And the position pass is posed.
static void finish_bundle(void *context, int bundle) {
    const passing *p = context;
    const kk_simulator *s = p->s;
    fetch_contacts(p, bundle + AHEAD, 0, sizeof(kki_contact));
    for (int lane = 0; lane < KKI_SWARM_LANES; lane++) {
        const kki_swarm *w = &s->loose.swarm;
        if (w->is_ball[bundle]) {
            finish_ball_lane(p, &w->bundle[bundle], &w->ball[bundle], lane);
        } else {
            finish_lane(p, &w->bundle[bundle], lane);
        }
    }
    s->loose.swarm.kernels->repose(&s->loose.swarm, bundle, s->options.correction / (0.5 * s->h));
}

/// y += B Δ. @param angular, linear  Δ in the body's axes
static void add_scaled(const kki_loose_body *own, kk_vec3 angular, kk_vec3 linear, double *y) {
    double change[6];
    scale_velocity(own, angular, linear, change);
    for (int k = 0; k < 6; k++) {
        y[k] += change[k];
    }
}

static void put_sum(const double *v, kk_vec3 angular, kk_vec3 linear, double *to) {
    const double change[6] = {angular.x, angular.y, angular.z, linear.x, linear.y, linear.z};
    for (int k = 0; k < 6; k++) {
        to[k] = v[k] + change[k];
    }
}

/// What a body's velocities have become, in its own axes; and the forces from outside, and the work of impulses: wrench times the mean of the
/// velocities before and after.
static void finish_bodies(void *context, int first, int end, int worker) {
    const passing *p = context;
    kk_simulator *s = p->s;
    kki_loose *x = &s->loose;
    (void)worker;
    for (int i = p->first + first; i < p->first + end; i++) {
        const int node = x->node[i], dof = p->m->node[node].v_index;
        const kk_mat3 R = kki_mat3(kki_pose_of(s->data, node)->R);
        const kki_rates *V = kki_rates_of(s->data, node);
        const double *v = x->swarm.velocity + KKI_SWARM_BODY * (size_t)i,
                     *W = x->swarm.wrench + KKI_SWARM_BODY * (size_t)i;
        const kk_vec3 F = vec_at(W), N = vec_at(W + 4), u0 = kki_vec3(V->u), w0 = kki_vec3(V->w);
        const kk_vec3 u = vec_at(v), w = vec_at(v + 4);
        const kk_vec3 linear = kk_mat3_tmul_vec(R, kk_vec3_sub(u, u0)),
                      angular = kk_mat3_tmul_vec(R, kk_vec3_sub(w, w0));
        memcpy(s->y_end + dof, s->y + dof, 6 * sizeof *s->y);
        add_scaled(&x->own[node], angular, linear, s->y_end + dof);
        if (s->is_crowd) {
            put_sum(s->v + dof, angular, linear, s->v_kicked + dof);
            memcpy(s->drift + dof, s->v_kicked + dof, 6 * sizeof *s->drift);
        } else {
            memcpy(s->y_drift + dof, s->y_end + dof, 6 * sizeof *s->y);
        }
        const kk_force f = kk_force_make(kk_vec3_scale(N, 1 / s->h), kk_vec3_scale(F, 1 / s->h));
        s->outside[node] = kk_force_add(s->outside[node], f);
        x->work[i] = 0.5 * (kk_vec3_dot(F, kk_vec3_add(u, u0)) + kk_vec3_dot(N, kk_vec3_add(w, w0)));
    }
}

static void drift_bodies(void *context, int first, int end, int worker) {
    const passing *p = context;
    kk_simulator *s = p->s;
    const kki_loose *x = &s->loose;
    (void)worker;
    for (int i = p->first + first; i < p->first + end; i++) {
        const int node = x->node[i], dof = p->m->node[node].v_index;
        const kk_mat3 R = kki_mat3(kki_pose_of(s->data, node)->R);
        const double *v = x->swarm.velocity + KKI_SWARM_BODY * (size_t)i;
        const kk_vec3 linear = kk_mat3_tmul_vec(R, vec_at(v)), angular = kk_mat3_tmul_vec(R, vec_at(v + 4));
        if (s->is_crowd) {
            put_sum(s->drift + dof, angular, linear, s->drift + dof);
        } else {
            add_scaled(&x->own[node], angular, linear, s->y_drift + dof);
        }
    }
}

// ---- the report

static double larger(double a, double b) {
    return a >= b || a != a ? a : b;
}

/// The first contact with the largest residual.
static int worst_contact(const kki_loose *x, double residual) {
    int worst = -1;
    for (int i = 0; i < x->swarm.count; i++) {
        const kki_swarm_bundle *b = &x->swarm.bundle[i];
        for (int lane = 0; lane < KKI_SWARM_LANES && x->swarm.proof[i].residual == residual; lane++) {
            for (int k = 0; k < b->count[lane]; k++) {
                const int contact = b->contact[lane] + k;
                const int is_it = x->swarm.end[b->first + k].residual[lane] == residual;
                worst = is_it && (worst < 0 || contact < worst) ? contact : worst;
            }
        }
    }
    return worst;
}

/// Angle of a share (contact/swarm.h).
static double angle_of(double turned) {
    return kk_atan2(turned <= 1 ? turned : 2 - turned, 1 - turned);
}

typedef struct summary {
    double residual, cone, signorini, turned, fastest, overlap; ///< residual: squared
} summary;

static summary sum_up(const kki_loose *x) {
    summary p = {0};
    for (int i = 0; i < x->swarm.count; i++) {
        const kki_swarm_proof *b = &x->swarm.proof[i];
        p.residual = larger(p.residual, b->residual);
        p.cone = larger(p.cone, b->cone);
        p.signorini = larger(p.signorini, b->signorini);
        p.turned = larger(p.turned, b->turned);
        p.fastest = larger(p.fastest, b->fastest);
        p.overlap = larger(p.overlap, b->overlap);
    }
    return p;
}

static void report(const kk_model *m, kk_simulator *s, const summary *p) {
    kk_report *r = &s->report;
    const double residual = kk_sqrt(p->residual), angle = angle_of(p->turned), speed = p->fastest > 1 ? p->fastest : 1;
    const int worst = worst_contact(&s->loose, p->residual);
    if (residual > r->residual && worst >= 0) {
        r->residual = residual;
        r->worst_body[0] = m->shape[s->contact[worst].shape[0]].body;
        r->worst_body[1] = m->shape[s->contact[worst].shape[1]].body;
    }
    r->penetration = p->overlap > r->penetration ? p->overlap : r->penetration;
    r->cone = p->cone > r->cone ? p->cone : r->cone;
    r->signorini = p->signorini > r->signorini ? p->signorini : r->signorini;
    r->dissipation = angle > r->dissipation ? angle : r->dissipation;
    r->sweeps += s->options.budget;
    r->cut_short |= residual > s->options.tolerance * speed;
    for (int i = 0; i < s->loose.swarm.nbody; i++) {
        r->constraint_work += s->loose.work[i];
    }
}

static kk_status refuse(const kk_model *m, const kk_simulator *s, kk_error *error) {
    const kki_contact *k = &s->contact[0];
    for (int i = 0; i < s->ncontact; i++) {
        const double sum = s->contact[i].velocity.x + s->contact[i].velocity.y + s->contact[i].velocity.z;
        if (kki_loose_has_contact(s, i) && sum - sum != 0) {
            k = &s->contact[i];
            break;
        }
    }
    return kki_error_set(error, KK_NOT_FINITE, "solve: the contact between \"%s\" and \"%s\" has numbers out of range",
                         kk_model_body_name(m, m->shape[k->shape[0]].body),
                         kk_model_body_name(m, m->shape[k->shape[1]].body));
}

// ---- the story

/// Bodies of a batch, shared among workers.
static void share(passing *p, const kk_workers *workers, int first, int end, kki_share *some) {
    p->first = first;
    kki_workers_share(workers, end - first, BODY_GRAIN, some, p);
}

/// A batch from its contacts to its forces, while its numbers are near the processor.
static void resolve_batch(void *context, const kki_swarm_batch *b, const kk_workers *workers) {
    const passing *all = context;
    passing p = *all;
    kk_simulator *s = p.s;
    kki_swarm *w = &s->loose.swarm;
    share(&p, workers, b->body, b->body_end, begin_bodies);
    kki_swarm_solve(w, b, workers, s->options.budget, begin_bundle, &p);
    kki_swarm_judge(w, b, workers, finish_bundle, &p);
    share(&p, workers, b->body, b->body_end, finish_bodies);
    const int repairs = (s->options.budget + REPAIRS - 1) / REPAIRS;
    if (kki_swarm_repair(w, b, workers, repairs)) {
        share(&p, workers, b->body, b->body_end, drift_bodies);
    }
}

kk_status kki_loose_resolve(const kk_model *m, kk_simulator *s, kk_error *error) {
    kki_loose *x = &s->loose;
    if (x->npoint == 0) {
        return KK_OK;
    }
    passing p = {m, s, 0};
    x->swarm.workers = kki_crew_workers(s);
    x->swarm.may_bounce = kki_is_overlapping_only(s);
    kki_swarm_each(&x->swarm, resolve_batch, &p);
    const summary proof = sum_up(x);
    if ((proof.residual - proof.residual) + (proof.fastest - proof.fastest) != 0) {
        return refuse(m, s, error);
    }
    report(m, s, &proof);
    return KK_OK;
}
