/// Which contacts go to the swarm, and in what order: faces, the sets of bodies that touch, colors, batches of sets, and bundles of faces.
#include <string.h>

#include "base/sets.h"
#include "simulate/free_bodies/slabs.h"

// ---- faces and sets

/// Rigid, without restitution, with one friction in all directions: what a sweep's step can do. It can bounce, too, where the instant does not matter.
static int is_plain(const kk_simulator *s, const kki_contact_law *l) {
    return l->ratio == 1 && !(l->torsion > 0) && !(l->rolling > 0) && !(l->adhesion > 0) && !(l->slip > 0) &&
           (!(l->restitution > 0) || kki_is_overlapping_only(s)) && !(l->stiffness < __builtin_inf()) &&
           !(l->static_friction > l->friction);
}

static int same(kk_vec3 a, kk_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static int tree_of(const kk_model *m, int node) {
    return node == 0 ? -1 : m->node_tree[node];
}

/// Behind the last contact of the face that begins with one; of a pair's only manifold that is known.
static int face_end(const kk_simulator *s, const kki_touching *t, int first) {
    const int end = t->contact + t->count, most = first + KKI_SWARM_POINTS < end ? first + KKI_SWARM_POINTS : end;
    int next = t->manifolds == 1 ? most : first + 1;
    while (next < most && same(s->contacts.list[next].normal, s->contacts.list[first].normal)) {
        next++;
    }
    return next;
}

/// Where nothing is known of what touches a tree yet.
static void forget_sets(const kk_model *m, kki_free_bodies *x) {
    const size_t trees = (size_t)m->ntree;
    int32_t *parent = x->parent;
    for (int t = 0; t < m->ntree; t++) {
        parent[t] = t;
    }
    memset(x->rows, 0, trees * sizeof *x->rows);
    memset(x->is_held, 0, trees * sizeof *x->is_held);
    memset(x->taken, 0, trees * sizeof *x->taken);
    memset(x->body, -1, trees * sizeof *x->body);
}

/// The law that was asked for last: most scenes have one.
typedef struct asked {
    int32_t law, is_plain;
} asked;

static int is_plain_law(const kk_model *m, const kk_simulator *s, int law, asked *last) {
    if (law != last->law) {
        *last = (asked){law, is_plain(s, &m->law[law])};
    }
    return last->is_plain;
}

/// A face between loose bodies, or one and the world. What else touches a tree holds its set.
static void list_face(const kk_model *m, kk_simulator *s, const kki_touching *c, int first, int end, asked *last) {
    kki_free_bodies *x = &s->free_bodies;
    const int a = tree_of(m, c->node[0]), b = tree_of(m, c->node[1]);
    const int loose = (a < 0 || x->is_loose[c->node[0]]) && (b < 0 || x->is_loose[c->node[1]]);
    if (loose && is_plain_law(m, s, c->law, last)) {
        const int round = (a < 0 || x->is_loose[c->node[0]] == 2) && (b < 0 || x->is_loose[c->node[1]] == 2);
        const int count = end - first;
        x->face[x->nface++] = (kki_free_face){
            .first = first, .count = count, .tree = {a, b}, .color = -1, .sort = count == 1 && round ? 0 : count};
        if (a >= 0 && b >= 0) {
            kki_sets_unite(x->parent, a, b);
        }
        return;
    }
    if (a >= 0) {
        x->is_held[a] = 1;
    }
    if (b >= 0) {
        x->is_held[b] = 1;
    }
}

static void list_faces(const kk_model *m, kk_simulator *s) {
    asked last = {-1, 0};
    forget_sets(m, &s->free_bodies);
    for (int i = 0; i < s->contacts.ntouching; i++) {
        const kki_touching *t = &s->contacts.touching[i];
        for (int k = t->contact, end = 0; k < t->contact + t->count; k = end) {
            end = face_end(s, t, k);
            list_face(m, s, t, k, end, &last);
        }
    }
}

/// Rows of each set.
static void measure_sets(const kk_model *m, kki_free_bodies *x) {
    int32_t *parent = x->parent;
    for (int t = 0; t < m->ntree; t++) { // to the set itself, its first tree: who comes before has been here
        parent[t] = parent[parent[t]];
    }
    for (int i = 0; i < x->nface; i++) {
        kki_free_face *f = &x->face[i];
        f->set = parent[f->tree[0] >= 0 ? f->tree[0] : f->tree[1]];
        x->rows[f->set] += 3 * f->count;
    }
    for (int t = 0; t < m->ntree; t++) {
        x->is_held[parent[t]] |= x->is_held[t];
    }
    for (int t = 0; t < m->ntree; t++) {
        x->is_held[t] |= parent[t] == t && x->rows[t] == 0; // touches nothing
    }
}

/// The first color that neither tree has. A set in which there is none left is held.
static void color_faces(kki_free_bodies *x) {
    uint64_t world = 0;
    for (int i = 0; i < x->nface; i++) {
        kki_free_face *f = &x->face[i];
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
        f->color = __builtin_ctzll(free);
        *a |= free & -free;
        *b |= free & -free;
    }
}

// ---- bodies and bundles

/// Sets, in the order of their first trees, fill batches.
static void make_batches(const kk_model *m, kki_free_bodies *x) {
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

/// Chunks of each batch, and each tree's.
static void make_chunks(const kk_model *m, kk_simulator *s) {
    kki_free_bodies *x = &s->free_bodies;
    kki_swarm *w = &x->swarm;
    w->nchunk = 0;
    for (int k = 0; k < w->nbatch; k++) {
        w->batch[k].chunk = w->nchunk;
        w->nchunk += kki_free_bodies_cut(m, s, k, w->nchunk);
        w->batch[k].chunk_end = w->nchunk;
    }
    for (int t = 0; t < m->ntree; t++) {
        const int set = x->parent[t];
        const kki_swarm_batch *b = x->is_held[set] ? NULL : &w->batch[x->batch[set]];
        x->chunk[t] = !b ? -1 : b->chunk_end == b->chunk + 1 ? b->chunk : x->chunk[t];
    }
    for (int i = 0; i < w->nchunk; i++) {
        w->chunk[i].colors = w->chunk[i].body_end = w->chunk[i].face_end = 0;
    }
}

/// Bodies of a chunk behind each other.
static void number_bodies(const kk_model *m, kki_free_bodies *x) {
    kki_swarm *w = &x->swarm;
    for (int t = 0; t < m->ntree; t++) {
        w->chunk[x->chunk[t] < 0 ? 0 : x->chunk[t]].body_end += x->chunk[t] >= 0;
    }
    w->nbody = 0;
    for (int i = 0; i < w->nchunk; i++) {
        const int count = w->chunk[i].body_end;
        w->chunk[i].body = w->chunk[i].body_end = w->nbody;
        w->nbody += count;
    }
    for (int t = 0; t < m->ntree; t++) {
        if (x->chunk[t] >= 0) {
            const int body = w->chunk[x->chunk[t]].body_end++;
            x->dof[body] = m->tree_first_dof[t];
            x->node[body] = m->dof_node[x->dof[body]];
            x->body[t] = body;
        }
    }
    for (int i = 0; i < w->nbatch; i++) {
        w->batch[i].body = w->chunk[w->batch[i].chunk].body;
        w->batch[i].body_end = w->chunk[w->batch[i].chunk_end - 1].body_end;
    }
}

static void count_sets(const kk_model *m, kki_free_bodies *x) {
    x->islands = x->largest = 0;
    for (int t = 0; t < m->ntree; t++) {
        if (x->parent[t] == t && !x->is_held[t]) {
            x->islands++;
            x->largest = x->rows[t] > x->largest ? x->rows[t] : x->largest;
        }
    }
}

/// The first of its bodies' chunks; −1: not in the swarm.
static int chunk_of(const kki_free_bodies *x, const kki_free_face *f) {
    const int a = f->tree[0] < 0 ? -1 : x->chunk[f->tree[0]], b = f->tree[1] < 0 ? -1 : x->chunk[f->tree[1]];
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/// The swarm's faces chunk by chunk.
static void sort_by_chunk(kki_free_bodies *x) {
    kki_swarm *w = &x->swarm;
    for (int i = 0; i < x->nface; i++) {
        kki_free_face *f = &x->face[i];
        f->chunk = f->color >= 0 ? chunk_of(x, f) : -1; // none: held when others had their colors
        w->chunk[f->chunk < 0 ? 0 : f->chunk].face_end += f->chunk >= 0;
    }
    for (int i = 0, faces = 0; i < w->nchunk; i++) {
        const int count = w->chunk[i].face_end;
        w->chunk[i].face = w->chunk[i].face_end = faces;
        faces += count;
    }
    for (int i = 0; i < x->nface; i++) {
        if (x->face[i].chunk >= 0) {
            x->order[w->chunk[x->face[i].chunk].face_end++] = i;
        }
    }
}

/// Bundles of a chunk whose faces have been counted by color and points.
static int bundles_of(const kki_swarm_chunk *b, int32_t at[KKI_SWARM_COLORS][KKI_SWARM_POINTS + 1]) {
    int bundles = 0;
    for (int c = 0; c < b->colors; c++) {
        int faces = 0;
        for (int n = 0; n <= KKI_SWARM_POINTS; n++) {
            faces += at[c][n];
        }
        bundles += (faces + KKI_SWARM_LANES - 1) / KKI_SWARM_LANES;
    }
    return bundles;
}

/// How many faces of each color have how many points, then where each sort begins: the longest first, what may be balls last. False where bundles lack room;
/// they are counted on.
static bool sort_faces(kki_free_bodies *x, kki_swarm_chunk *b, int32_t at[KKI_SWARM_COLORS][KKI_SWARM_POINTS + 1]) {
    kki_swarm *w = &x->swarm;
    memset(at, 0, sizeof(int32_t) * KKI_SWARM_COLORS * (KKI_SWARM_POINTS + 1));
    b->colors = 0;
    for (int i = b->face; i < b->face_end; i++) {
        const kki_free_face *f = &x->face[x->order[i]];
        at[f->color][f->sort]++;
        b->colors = f->color >= b->colors ? f->color + 1 : b->colors;
    }
    int bundles = w->count;
    if (bundles + bundles_of(b, at) > x->bundle_room) {
        w->count += bundles_of(b, at);
        return false;
    }
    for (int c = 0; c < b->colors; c++) {
        int lane = KKI_SWARM_LANES * bundles;
        b->start[c] = bundles;
        for (int n = KKI_SWARM_POINTS; n >= 0; n--) {
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
    b->start[b->colors] = w->count = bundles;
    return true;
}

/// Where a tree's numbers begin in the swarm.
static int32_t place_of(const kki_free_bodies *x, int tree) {
    return KKI_SWARM_BODY * (tree < 0 ? x->swarm.nbody : x->body[tree]);
}

static void fill_lane(kki_free_bodies *x, const kki_free_face *f, int lane) {
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

static void fill_chunk(kki_free_bodies *x, kki_swarm_chunk *c, int32_t at[KKI_SWARM_COLORS][KKI_SWARM_POINTS + 1]) {
    const bool fits = sort_faces(x, c, at);
    for (int i = c->face; i < c->face_end && fits; i++) {
        const kki_free_face *f = &x->face[x->order[i]];
        fill_lane(x, f, at[f->color][f->sort]++);
    }
}

/// Blocks of points, and where they stand: from the beginning in each batch, if there is room for the largest as often as there are workers.
static int number_points(kki_swarm *w, int workers) {
    int32_t all = 0, most = 0;
    for (int k = 0; k < w->nbatch; k++) {
        int32_t points = 0;
        for (int i = w->batch[k].bundle; i < w->batch[k].bundle_end; i++) {
            kki_swarm_bundle *b = &w->bundle[i];
            b->first = points;
            b->points = b->count[0]; // the longest
            points += b->points;
        }
        all += points;
        most = points > most ? points : most;
    }
    w->stride = (int64_t)most * workers <= all ? most : 0;
    for (int k = 0, points = 0; k < w->nbatch && w->stride == 0; k++) {
        for (int i = w->batch[k].bundle; i < w->batch[k].bundle_end; i++) {
            w->bundle[i].first = points;
            points += w->bundle[i].points;
        }
    }
    return all;
}

static void make_bundles(kk_simulator *s) {
    kki_free_bodies *x = &s->free_bodies;
    int32_t at[KKI_SWARM_COLORS][KKI_SWARM_POINTS + 1];
    memset(x->is_taken, 0, (size_t)s->contacts.count);
    x->npoint = x->swarm.count = 0;
    sort_by_chunk(x);
    for (int k = 0; k < x->swarm.nbatch; k++) {
        kki_swarm_batch *b = &x->swarm.batch[k];
        b->bundle = x->swarm.count;
        for (int i = b->chunk; i < b->chunk_end; i++) {
            fill_chunk(x, &x->swarm.chunk[i], at);
        }
        b->bundle_end = x->swarm.count;
    }
    kki_room_ask(x->swarm.count, x->bundle_room, &s->lacking.room.swarm_bundles);
    if (x->swarm.count <= x->bundle_room) {
        kki_room_ask(number_points(&x->swarm, s->workers.count), x->block_room, &s->lacking.room.swarm_blocks);
    }
}

void kki_free_bodies_choose(const kk_model *m, kk_simulator *s) {
    kki_free_bodies *x = &s->free_bodies;
    const int is_done = x->is_chosen;
    x->is_chosen = 0;
    if (is_done) {
        return;
    }
    x->nface = x->npoint = x->islands = x->largest = 0;
    if (x->room == 0 || s->effort.sweeps <= 0 || s->paper || m->ntendon > 0 || s->contacts.count == 0) {
        return;
    }
    list_faces(m, s);
    measure_sets(m, x);
    color_faces(x);
    make_batches(m, x);
    if (x->swarm.nbatch > 0) {
        make_chunks(m, s);
        number_bodies(m, x);
        make_bundles(s);
        count_sets(m, x);
    }
}

int kki_free_bodies_have_tree(const kk_simulator *s, int tree) {
    return s->free_bodies.npoint > 0 && s->free_bodies.body[tree] >= 0;
}
