// The broad phase; see broad_phase.h.
#include "collision/broad_phase.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"

enum { MOVING, STATIC, FORESTS };

// Where an item stands in its tree.
typedef struct place {
    int32_t node, lane;
} place;

typedef struct forest {
    kki_tree tree;
    place *parent;   // [nodes] of each node; the root has node −1
    int32_t *member; // [capacity] ids, the tree's items
    int32_t count;   // members
    int32_t left;    // boxes that left their fat box since the tree was built
    bool needs_build;
} forest;

struct kki_broad_phase {
    kk_allocator allocator;
    size_t block_size;
    kki_broad_phase_def def;
    kki_aabb *box, *fat;    // [capacity]
    uint32_t *group, *mask; // [capacity]
    uint8_t *kind;          // [capacity] forest, or FORESTS for none
    uint8_t *is_new;        // [capacity] fat box changed in this update
    place *at;              // [capacity] lane in the tree
    int32_t *changed;       // [capacity] ids whose fat box changed
    int32_t changed_count;
    kki_aabb *scratch_box;          // [capacity]
    kki_sort_item *fat_pair;        // [fat_room] sorted by key (a, b)
    kki_sort_item *fresh, *scratch; // [fat_room]
    size_t fat_room, fat_count, fresh_count;
    kki_pair *pair; // [pair_capacity + 1]
    forest forest[FORESTS];
    int32_t *line; // [capacity] moving ids in the order of their lower ends along an axis, when last swept
    int32_t line_count, line_axis;
    bool line_is_old; // ids have come or gone
};

static void place_arrays(kki_layout *l, kki_broad_phase *b) {
    const size_t n = (size_t)b->def.capacity, nodes = (size_t)kki_tree_most_nodes(b->def.capacity);
    KKI_LAYOUT_ARRAY(l, b->box, n);
    KKI_LAYOUT_ARRAY(l, b->fat, n);
    KKI_LAYOUT_ARRAY(l, b->group, n);
    KKI_LAYOUT_ARRAY(l, b->mask, n);
    KKI_LAYOUT_ARRAY(l, b->kind, n);
    KKI_LAYOUT_ARRAY(l, b->is_new, n);
    KKI_LAYOUT_ARRAY(l, b->at, n);
    KKI_LAYOUT_ARRAY(l, b->changed, n);
    KKI_LAYOUT_ARRAY(l, b->scratch_box, n);
    KKI_LAYOUT_ARRAY(l, b->line, n);
    KKI_LAYOUT_ARRAY(l, b->fat_pair, b->fat_room);
    KKI_LAYOUT_ARRAY(l, b->fresh, b->fat_room);
    KKI_LAYOUT_ARRAY(l, b->scratch, b->fat_room);
    KKI_LAYOUT_ARRAY(l, b->pair, (size_t)b->def.pair_capacity + 1);
    for (int k = 0; k < FORESTS; k++) {
        KKI_LAYOUT_ARRAY(l, b->forest[k].tree.node, nodes);
        KKI_LAYOUT_ARRAY(l, b->forest[k].tree.item, n);
        KKI_LAYOUT_ARRAY(l, b->forest[k].parent, nodes);
        KKI_LAYOUT_ARRAY(l, b->forest[k].member, n);
    }
}

kk_status kki_broad_phase_create(const kki_broad_phase_def *def, const kk_allocator *allocator, kki_broad_phase **out,
                                 kk_error *error) {
    *out = NULL;
    if (def->capacity < 0 || def->pair_capacity < 0 || !(def->margin >= 0)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "broad phase: capacities and margin must not be negative");
    }
    const kk_allocator owner = kki_allocator_or_default(allocator);
    kki_broad_phase b = {.allocator = owner, .def = *def, .fat_room = kki_broad_phase_fat_room(def->pair_capacity)};
    b.def.margin = def->margin > 0 ? def->margin : 0.1;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof b);
    place_arrays(&layout, &b);
    b.block_size = layout.size;
    void *block = kki_allocate_zeroed(&owner, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "broad phase: out of memory for %d boxes and %d pairs",
                             (int)def->capacity, (int)def->pair_capacity);
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof b);
    place_arrays(&layout, &b);
    memset(b.kind, FORESTS, (size_t)def->capacity);
    *out = memcpy(block, &b, sizeof b);
    return KK_OK;
}

void kki_broad_phase_free(kki_broad_phase *b) {
    if (b) {
        const kk_allocator allocator = b->allocator;
        kki_release(&allocator, b, b->block_size);
    }
}

// ---- what stands in the trees

static kki_aabb fattened(const kki_broad_phase *b, const kki_aabb *box) {
    const double edges = box->upper.x - box->lower.x + box->upper.y - box->lower.y + box->upper.z - box->lower.z;
    return kki_aabb_grow(*box, edges < 1e30 ? b->def.margin * (1.0 / 3) * edges : 0);
}

static void mark_changed(kki_broad_phase *b, int32_t id) {
    if (!b->is_new[id]) {
        b->is_new[id] = 1;
        b->changed[b->changed_count++] = id;
    }
}

void kki_broad_phase_set(kki_broad_phase *b, int32_t id, const kki_proxy *proxy) {
    const int kind = proxy->is_static ? STATIC : MOVING;
    if (b->kind[id] < FORESTS) {
        b->forest[b->kind[id]].needs_build = true;
    }
    b->kind[id] = (uint8_t)kind;
    b->forest[kind].needs_build = true;
    b->line_is_old = true;
    b->group[id] = proxy->group;
    b->mask[id] = proxy->mask;
    b->box[id] = proxy->box;
    b->fat[id] = fattened(b, &proxy->box);
    mark_changed(b, id);
}

void kki_broad_phase_remove(kki_broad_phase *b, int32_t id) {
    if (b->kind[id] < FORESTS) {
        b->forest[b->kind[id]].needs_build = true;
        b->kind[id] = FORESTS;
        b->line_is_old = true;
        mark_changed(b, id);
    }
}

static void refit_path(forest *f, place at, const kki_aabb *fat) {
    kki_tree_set_lane(&f->tree.node[at.node], at.lane, fat);
    while (f->parent[at.node].node >= 0) {
        const kki_tree_node *n = &f->tree.node[at.node];
        const place up = f->parent[at.node];
        kki_tree_node *p = &f->tree.node[up.node];
        for (int k = 0; k < 3; k++) {
            const kki_float4 l = n->lower[k], u = n->upper[k];
            const float a = l[0] < l[1] ? l[0] : l[1], c = l[2] < l[3] ? l[2] : l[3];
            const float d = u[0] > u[1] ? u[0] : u[1], e = u[2] > u[3] ? u[2] : u[3];
            p->lower[k][up.lane] = a < c ? a : c;
            p->upper[k][up.lane] = d > e ? d : e;
        }
        at = up;
    }
}

bool kki_broad_phase_put(kki_broad_phase *b, int32_t id, const kki_aabb *box) {
    b->box[id] = *box;
    return b->kind[id] < FORESTS && !kki_aabb_contains(&b->fat[id], box);
}

void kki_broad_phase_note(kki_broad_phase *b, int32_t id) {
    b->fat[id] = fattened(b, &b->box[id]);
    mark_changed(b, id);
    b->forest[b->kind[id]].left++;
}

void kki_broad_phase_move(kki_broad_phase *b, int32_t id, const kki_aabb *box) {
    if (kki_broad_phase_put(b, id, box)) {
        kki_broad_phase_note(b, id);
    }
}

// Boxes that left theirs, where the tree is still worth it.
static void refit(kki_broad_phase *b) {
    for (int32_t i = 0; i < b->changed_count; i++) {
        const int32_t id = b->changed[i];
        if (b->kind[id] < FORESTS && !b->forest[b->kind[id]].needs_build) {
            refit_path(&b->forest[b->kind[id]], b->at[id], &b->fat[id]);
        }
    }
}

void kki_broad_phase_refilter(kki_broad_phase *b) {
    for (int32_t id = 0; id < b->def.capacity; id++) {
        mark_changed(b, id);
    }
}

// ---- building

static void link_places(kki_broad_phase *b, forest *f) {
    f->parent[0] = (place){-1, 0};
    for (int32_t n = 0; n < f->tree.node_count; n++) {
        const kki_tree_node *node = &f->tree.node[n];
        for (int lane = 0; lane < 4; lane++) {
            if (node->count[lane] > 0) {
                const int32_t id = f->member[f->tree.item[node->child[lane]]];
                f->tree.item[node->child[lane]] = id;
                b->at[id] = (place){n, lane};
            } else if (node->child[lane] >= 0) {
                f->parent[node->child[lane]] = (place){n, lane};
            }
        }
    }
}

static void build_forest(kki_broad_phase *b, int kind) {
    forest *f = &b->forest[kind];
    f->count = 0;
    for (int32_t id = 0; id < b->def.capacity; id++) {
        if (b->kind[id] == kind) {
            b->scratch_box[f->count] = b->fat[id];
            f->member[f->count++] = id;
        }
    }
    kki_tree_build(&f->tree, b->scratch_box, f->count, 1);
    link_places(b, f);
    f->needs_build = false;
    f->left = 0;
}

// A tree whose boxes have all moved a few times over is looser than a new one by more than building costs.
static void build_where_due(kki_broad_phase *b) {
    for (int k = 0; k < FORESTS; k++) {
        if (b->forest[k].needs_build || b->forest[k].left > 4 * b->forest[k].count) {
            build_forest(b, k);
        }
    }
}

// ---- fat pairs

static uint64_t key_of(int32_t a, int32_t b) {
    return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

static int32_t may_collide(const kki_broad_phase *b, int32_t p, int32_t q) {
    if (!(b->group[p] & b->mask[q]) || !(b->group[q] & b->mask[p])) {
        return 0;
    }
    return b->def.filter ? b->def.filter(b->def.user, p < q ? p : q, p < q ? q : p) : 1;
}

static void take_pair(kki_broad_phase *b, int32_t p, int32_t q) {
    const int32_t mark = may_collide(b, p, q);
    if (mark) {
        if (b->fresh_count < b->fat_room) {
            b->fresh[b->fresh_count] = (kki_sort_item){key_of(p, q), (uint64_t)(uint32_t)mark};
        }
        b->fresh_count++;
    }
}

// A pair of two changed boxes is found from both sides and taken from the lower id's.
static bool is_found_elsewhere(const kki_broad_phase *b, int32_t id, int32_t other) {
    return other == id || (b->is_new[other] && other < id);
}

static void find_pairs_in(kki_broad_phase *b, const kki_tree *tree, int32_t id) {
    kki_tree_walk walk;
    int32_t first, count;
    kki_tree_walk_begin(&walk, tree, &b->fat[id]);
    while (kki_tree_walk_next(&walk, &first, &count)) {
        const int32_t other = tree->item[first];
        if (!is_found_elsewhere(b, id, other) && kki_aabb_touch(&b->fat[id], &b->fat[other])) {
            take_pair(b, id, other);
        }
    }
}

static void find_fresh_pairs(kki_broad_phase *b) {
    b->fresh_count = 0;
    for (int32_t i = 0; i < b->changed_count; i++) {
        const int32_t id = b->changed[i];
        if (b->kind[id] < FORESTS) {
            find_pairs_in(b, &b->forest[MOVING].tree, id);
        }
        if (b->kind[id] == MOVING) {
            find_pairs_in(b, &b->forest[STATIC].tree, id);
        }
    }
}

// ---- along a line, where nearly all boxes have left theirs: a tree would be built for one search

enum { MOST_IN_LINE = 512 };

// A tree that is there is worth a few searches; one that would have to be built first is not before things calm down.
static bool is_line_better(const kki_broad_phase *b) {
    const int32_t many = b->forest[MOVING].needs_build ? b->def.capacity / 16 : b->def.capacity / 2;
    bool moving = !b->forest[STATIC].needs_build && b->def.capacity <= MOST_IN_LINE && b->changed_count > many;
    for (int32_t i = 0; i < b->changed_count && moving; i++) {
        moving = b->kind[b->changed[i]] != STATIC;
    }
    return moving;
}

static void list_line(kki_broad_phase *b) {
    b->line_count = 0;
    for (int32_t id = 0; id < b->def.capacity; id++) {
        if (b->kind[id] == MOVING) {
            b->line[b->line_count++] = id;
        }
    }
    b->line_is_old = false;
}

static double middle_of(const kki_aabb *box, int axis) {
    return kk_vec3_get(box->lower, axis) + kk_vec3_get(box->upper, axis);
}

// The axis along which boxes are spread the most; another than last time only where it is clearly better.
static int line_axis(const kki_broad_phase *b) {
    double spread[3];
    for (int k = 0; k < 3; k++) {
        double sum = 0, squares = 0;
        for (int32_t i = 0; i < b->line_count; i++) {
            const double x = middle_of(&b->fat[b->line[i]], k);
            sum += x;
            squares += x * x;
        }
        spread[k] = squares - sum * sum / b->line_count;
    }
    int best = b->line_axis;
    for (int k = 0; k < 3; k++) {
        best = spread[k] > 2 * spread[best] ? k : best;
    }
    return best;
}

// Axis k first.
static kk_vec3 rolled(kk_vec3 a, int k) {
    return k == 0 ? a : k == 1 ? kk_vec3_make(a.y, a.z, a.x) : kk_vec3_make(a.z, a.x, a.y);
}

// Insertion: nearly sorted from the last time.
static void sort_line(kki_broad_phase *b, int axis) {
    kki_aabb *box = b->scratch_box;
    for (int32_t i = 0; i < b->line_count; i++) {
        const int32_t id = b->line[i];
        const kki_aabb x = {rolled(b->fat[id].lower, axis), rolled(b->fat[id].upper, axis)};
        int32_t j = i;
        for (; j > 0 && box[j - 1].lower.x > x.lower.x; j--) {
            box[j] = box[j - 1];
            b->line[j] = b->line[j - 1];
        }
        box[j] = x;
        b->line[j] = id;
    }
}

static void find_pairs_in_line(kki_broad_phase *b) {
    const kki_aabb *box = b->scratch_box;
    for (int32_t i = 0; i < b->line_count; i++) {
        const kki_aabb x = box[i];
        for (int32_t j = i + 1; j < b->line_count && box[j].lower.x <= x.upper.x; j++) {
            if ((x.lower.y <= box[j].upper.y) & (x.upper.y >= box[j].lower.y) & (x.lower.z <= box[j].upper.z) &
                (x.upper.z >= box[j].lower.z) & (b->is_new[b->line[i]] | b->is_new[b->line[j]])) {
                take_pair(b, b->line[i], b->line[j]);
            }
        }
    }
}

// The same pairs as find_fresh_pairs; the tree of what moves waits until it is wanted again.
static void find_fresh_pairs_in_line(kki_broad_phase *b) {
    b->fresh_count = 0;
    if (b->line_is_old) {
        list_line(b);
    }
    b->line_axis = line_axis(b);
    sort_line(b, b->line_axis);
    find_pairs_in_line(b);
    for (int32_t i = 0; i < b->changed_count; i++) {
        if (b->kind[b->changed[i]] == MOVING) {
            find_pairs_in(b, &b->forest[STATIC].tree, b->changed[i]);
        }
    }
    b->forest[MOVING].needs_build = true;
    b->forest[MOVING].left = 0;
}

static bool is_stale(const kki_broad_phase *b, uint64_t key) {
    return b->is_new[key >> 32] | b->is_new[key & 0xffffffffu];
}

// old pairs of unchanged boxes and fresh ones, both sorted, into one list; false where there is no room
static bool merge_pairs(kki_broad_phase *b) {
    if (b->fresh_count > b->fat_room) {
        return false;
    }
    kki_sort(b->fresh, b->fresh_count, b->scratch);
    size_t n = 0, j = 0;
    for (size_t i = 0; i <= b->fat_count; i++) {
        const bool is_end = i == b->fat_count;
        if (!is_end && is_stale(b, b->fat_pair[i].key)) {
            continue;
        }
        while (j < b->fresh_count && (is_end || b->fresh[j].key < b->fat_pair[i].key)) {
            if (n == b->fat_room) {
                return false;
            }
            b->scratch[n++] = b->fresh[j++];
        }
        if (!is_end) {
            if (n == b->fat_room) {
                return false;
            }
            b->scratch[n++] = b->fat_pair[i];
        }
    }
    kki_sort_item *swap = b->fat_pair;
    b->fat_pair = b->scratch;
    b->scratch = swap;
    b->fat_count = n;
    return true;
}

static void forget_changes(kki_broad_phase *b) {
    for (int32_t i = 0; i < b->changed_count; i++) {
        b->is_new[b->changed[i]] = 0;
    }
    b->changed_count = 0;
}

// Fat boxes made too many pairs: all margins are dropped, so that only exact pairs are in the list.
static bool search_again_without_margins(kki_broad_phase *b) {
    for (int32_t id = 0; id < b->def.capacity; id++) {
        b->fat[id] = b->box[id];
        mark_changed(b, id);
    }
    build_forest(b, MOVING);
    build_forest(b, STATIC);
    find_fresh_pairs(b);
    return merge_pairs(b);
}

// Every pair is written and counted where its boxes touch: of fat pairs half do, which no processor guesses.
static int32_t report_exact_pairs(kki_broad_phase *b) {
    int64_t n = 0;
    for (size_t i = 0; i < b->fat_count; i++) {
        const int32_t p = (int32_t)(b->fat_pair[i].key >> 32), q = (int32_t)(b->fat_pair[i].key & 0xffffffffu);
        b->pair[n < b->def.pair_capacity ? n : b->def.pair_capacity] =
            (kki_pair){p, q, (int32_t)b->fat_pair[i].payload};
        n += kki_aabb_touch(&b->box[p], &b->box[q]);
    }
    return (int32_t)n;
}

static kk_status too_many(kki_broad_phase *b, int32_t *count, int64_t needed) {
    // the list is incomplete: everything is searched anew by the next update
    b->fat_count = 0;
    kki_broad_phase_refilter(b);
    *count = needed > INT32_MAX ? INT32_MAX : (int32_t)needed;
    return KK_LIMIT_EXCEEDED;
}

kk_status kki_broad_phase_refresh(kki_broad_phase *b, kki_fat_pairs *fat, int32_t *count) {
    const bool in_line = is_line_better(b);
    *count = 0;
    if (!in_line) {
        build_where_due(b);
        refit(b);
    }
    if (b->changed_count > 0) {
        in_line ? find_fresh_pairs_in_line(b) : find_fresh_pairs(b);
        if (!merge_pairs(b) && !search_again_without_margins(b)) {
            return too_many(b, count, (int64_t)b->fresh_count);
        }
    }
    forget_changes(b);
    *fat = (kki_fat_pairs){b->fat_pair, b->box, (int32_t)b->fat_count};
    return KK_OK;
}

kk_status kki_broad_phase_update(kki_broad_phase *b, const kki_pair **pair, int32_t *count) {
    kki_fat_pairs fat;
    const kk_status status = kki_broad_phase_refresh(b, &fat, count);
    *pair = b->pair;
    if (status != KK_OK) {
        return status;
    }
    *count = report_exact_pairs(b);
    return *count <= b->def.pair_capacity ? KK_OK : KK_LIMIT_EXCEEDED;
}

// ---- queries

static void sort_ids(int32_t *id, int32_t count) {
    // Shell's sort: in place, bounded, the same everywhere
    for (int32_t gap = count / 2; gap > 0; gap /= 2) {
        for (int32_t i = gap; i < count; i++) {
            const int32_t x = id[i];
            int32_t j = i;
            for (; j >= gap && id[j - gap] > x; j -= gap) {
                id[j] = id[j - gap];
            }
            id[j] = x;
        }
    }
}

// Where boxes have moved since the trees were made.
static int32_t query_all(const kki_broad_phase *b, const kki_aabb *box, int32_t *id, int32_t room) {
    int32_t n = 0;
    for (int32_t i = 0; i < b->def.capacity; i++) {
        if (b->kind[i] < FORESTS && kki_aabb_touch(&b->box[i], box)) {
            if (n < room) {
                id[n] = i;
            }
            n++;
        }
    }
    return n;
}

int32_t kki_broad_phase_query(const kki_broad_phase *b, const kki_aabb *box, int32_t *id, int32_t room) {
    int32_t n = 0;
    if (b->changed_count > 0 || b->forest[MOVING].needs_build || b->forest[STATIC].needs_build) {
        return query_all(b, box, id, room);
    }
    for (int k = 0; k < FORESTS; k++) {
        kki_tree_walk walk;
        int32_t first, count;
        kki_tree_walk_begin(&walk, &b->forest[k].tree, box);
        while (kki_tree_walk_next(&walk, &first, &count)) {
            const int32_t other = b->forest[k].tree.item[first];
            if (kki_aabb_touch(&b->box[other], box)) {
                if (n < room) {
                    id[n] = other;
                }
                n++;
            }
        }
    }
    sort_ids(id, n < room ? n : room);
    return n;
}
