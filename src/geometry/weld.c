// Welding: vertices at one place become one.
//
// Exact: a hash table over the coordinates' bits, -0 taken as 0. Within a tolerance t: space is cut into cubes of side
// t, a vertex looks into its own and the 26 cubes around for a kept vertex at most t away, and joins the earliest; else
// it is kept. So every vertex moves by at most t, no two kept ones are closer than t, and a cube holds only a few of
// them, which bounds the work. Order decides, memory addresses do not.
#include <string.h>

#include "base/allocator.h"
#include "base/float_bits.h"
#include "geometry/mesh.h"
#include <karakuri/elementary.h>

typedef struct table {
    int32_t *head; // [mask + 1] first kept vertex of a slot, -1: none
    size_t mask;
} table;

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t finish(uint64_t h) {
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

static uint64_t hash3(uint64_t x, uint64_t y, uint64_t z) {
    return finish(mix(mix(mix(0x8f3a1d, x), y), z));
}

static kk_status make_table(table *t, int32_t count, const kk_allocator *allocator) {
    size_t room = 64;
    while (room < (size_t)count + (size_t)count / 2) {
        room *= 2;
    }
    t->mask = room - 1;
    t->head = kki_allocate_array(allocator, room, sizeof *t->head);
    if (!t->head) {
        return KK_OUT_OF_MEMORY;
    }
    memset(t->head, 0xff, room * sizeof *t->head);
    return KK_OK;
}

static void free_table(table *t, const kk_allocator *allocator) {
    kki_release_array(allocator, t->head, t->mask + 1, sizeof *t->head);
}

// ---- equal coordinates

// adding 0 makes 0 of -0
static kk_vec3 without_negative_zero(kk_vec3 p) {
    return kk_vec3_make(p.x + 0.0, p.y + 0.0, p.z + 0.0);
}

static bool is_same(kk_vec3 a, kk_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static kk_status weld_equal(kk_vec3 *vertex, int32_t count, const kk_allocator *allocator, int32_t *remap,
                            int32_t *new_count) {
    table t;
    if (make_table(&t, count, allocator) != KK_OK) {
        return KK_OUT_OF_MEMORY;
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        const kk_vec3 p = without_negative_zero(vertex[i]);
        size_t s = (size_t)hash3(kki_bits(p.x), kki_bits(p.y), kki_bits(p.z)) & t.mask;
        while (t.head[s] >= 0 && !is_same(vertex[t.head[s]], p)) {
            s = (s + 1) & t.mask;
        }
        if (t.head[s] < 0) {
            t.head[s] = kept;
            vertex[kept++] = p;
        }
        remap[i] = t.head[s];
    }
    free_table(&t, allocator);
    *new_count = kept;
    return KK_OK;
}

// ---- within a tolerance

typedef struct grid {
    table slots;
    int32_t *next; // [count] next kept vertex of the same slot
    const kk_vec3 *vertex;
    double side;
} grid;

// a cube's number along an axis, as a double so that it never overflows
static double cube(double x, double side) {
    return kk_floor(x / side);
}

static size_t slot_of_cube(const grid *g, double x, double y, double z) {
    return (size_t)hash3(kki_bits(x + 0.0), kki_bits(y + 0.0), kki_bits(z + 0.0)) & g->slots.mask;
}

static bool is_near(kk_vec3 a, kk_vec3 b, double tolerance) {
    return kk_vec3_norm(kk_vec3_sub(a, b)) <= tolerance;
}

// the earliest kept vertex near p in one slot, or `best`
static int32_t search_slot(const grid *g, size_t slot, kk_vec3 p, int32_t best) {
    for (int32_t k = g->slots.head[slot]; k >= 0; k = g->next[k]) {
        if ((best < 0 || k < best) && is_near(g->vertex[k], p, g->side)) {
            best = k;
        }
    }
    return best;
}

static int32_t search_around(const grid *g, kk_vec3 p) {
    const double x = cube(p.x, g->side), y = cube(p.y, g->side), z = cube(p.z, g->side);
    int32_t best = -1;
    for (int i = 0; i < 27; i++) {
        const int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
        best = search_slot(g, slot_of_cube(g, x + (double)dx, y + (double)dy, z + (double)dz), p, best);
    }
    return best;
}

static void insert(grid *g, kk_vec3 p, int32_t index) {
    const size_t slot = slot_of_cube(g, cube(p.x, g->side), cube(p.y, g->side), cube(p.z, g->side));
    g->next[index] = g->slots.head[slot];
    g->slots.head[slot] = index;
}

static kk_status weld_near(kk_vec3 *vertex, int32_t count, double tolerance, const kk_allocator *allocator,
                           int32_t *remap, int32_t *new_count) {
    grid g = {.vertex = vertex, .side = tolerance};
    if (make_table(&g.slots, count, allocator) != KK_OK) {
        return KK_OUT_OF_MEMORY;
    }
    g.next = kki_allocate_array(allocator, (size_t)count, sizeof *g.next);
    int32_t kept = 0;
    for (int32_t i = 0; g.next && i < count; i++) {
        const kk_vec3 p = without_negative_zero(vertex[i]);
        remap[i] = search_around(&g, p);
        if (remap[i] < 0) {
            remap[i] = kept;
            vertex[kept] = p;
            insert(&g, p, kept++);
        }
    }
    const kk_status status = g.next ? KK_OK : KK_OUT_OF_MEMORY;
    kki_release_array(allocator, g.next, (size_t)count, sizeof *g.next);
    free_table(&g.slots, allocator);
    *new_count = kept;
    return status;
}

kk_status kki_weld(kk_vec3 *vertex, int32_t vertex_count, double tolerance, const kk_allocator *allocator,
                   int32_t *remap, int32_t *new_count) {
    return tolerance > 0 ? weld_near(vertex, vertex_count, tolerance, allocator, remap, new_count)
                         : weld_equal(vertex, vertex_count, allocator, remap, new_count);
}
