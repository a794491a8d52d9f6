// Quickhull (Barber, Dobkin, Huhdanpaa 1996) with exact decisions.
//
// A hull does not change its combinatorics under scaling of the axes, so each axis is scaled to whole numbers up to
// 2^51 of its own: a plate of aspect 1e9 is as good as a cube. Which side of a face a point lies on is then the sign of a
// determinant of whole numbers. It is taken from the rounded plane where that is beyond doubt, else computed in 192 bits.
// With exact signs the faces that a point sees always form a disc with a simple rim and no new face has zero area (the
// point would lie in the plane of the face it sees), so nothing can go wrong with coplanar, collinear or equal points.
//
// A point is added only if it lies farther out than the tolerance. Points that are less far, or might be on the surface,
// stay in the list of the nearest new face: a later look over all faces finds those few that another face puts farther
// out. Every round adds a point, so the work is bounded by their number.
#include "hull.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "exact.h"
#include "hull_build.h"
#include <karakuri/elementary.h>

// Bound on the error of a distance on the grid: the differences are exact and at most 2^51, and the unit normal is good to
// a few units in its last place, 2^-52, in each component.
#define DOUBT 8.0
#define GRID_EXPONENT 50
#define ROUNDING_EXPONENT 30 // at most 2^30 grid units, a millionth of the extent
#define DEFAULT_TOLERANCE 1e-12

typedef struct rim_edge {
    int32_t from, to; // as the face inside the rim runs
    int32_t outer;    // face that stays
} rim_edge;

typedef struct quickhull {
    kk_allocator allocator;
    int32_t count;
    kk_vec3 *grid;    // [count] points as whole numbers
    int32_t *link;    // [count] next point of the same face's list
    int32_t *starts;  // [count] new face whose rim edge starts at this point
    double tolerance; // in grid units
    kki_hull_face *face;
    int32_t *stack; // faces the point sees
    rim_edge *rim;
    size_t room;                   // of face, stack and rim
    int32_t face_count, free_face; // free faces are chained by neighbor[0]
    int32_t first_listed, last_listed;
    int32_t vertex_count, stamp;
    int32_t stack_size, rim_size;
} quickhull;

// ---- the grid

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double component(kk_vec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static void set_component(kk_vec3 *p, int axis, double value) {
    *(axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z) = value;
}

// x times 2^n for any n that leaves a finite number
static double scale_by_power(double x, int n) {
    const int half = n / 2;
    return x * kki_power_of_two(half) * kki_power_of_two(n - half);
}

static double largest_size(const kk_vec3 *point, int32_t count) {
    double size = 0;
    for (int32_t i = 0; i < count; i++) {
        size = larger(size, larger(kki_abs(point[i].x), larger(kki_abs(point[i].y), kki_abs(point[i].z))));
    }
    return size;
}

// Half the extent along an axis, so that it cannot overflow, and the least coordinate.
static double half_extent(const kk_vec3 *point, int32_t count, int axis, double *low) {
    double high = component(point[0], axis);
    *low = high;
    for (int32_t i = 1; i < count; i++) {
        const double x = component(point[i], axis);
        *low = x < *low ? x : *low;
        high = x > high ? x : high;
    }
    return 0.5 * high - 0.5 * *low;
}

// Sets one coordinate of all grid points; gives the rounding that points of this size have had, in grid units. An axis on
// which the points differ by little more than that is not scaled up any further, so that its rounding does not become a
// tolerance on the others.
static double fill_axis(quickhull *h, const kk_vec3 *point, int axis, double size) {
    double low;
    const double half = half_extent(point, h->count, axis, &low);
    const int most = ROUNDING_EXPONENT + 51 - kki_exponent(size), full = GRID_EXPONENT - kki_exponent(half);
    const int power = full < most ? full : most;
    for (int32_t i = 0; i < h->count; i++) {
        const double offset = half > 0 ? 0.5 * component(point[i], axis) - 0.5 * low : 0;
        set_component(&h->grid[i], axis, kk_floor(scale_by_power(offset, power) + 0.5));
    }
    return half > 0 ? scale_by_power(0.5 * 0x1p-51 * size, power) : 0;
}

static void fill_grid(quickhull *h, const kk_vec3 *point, double relative) {
    const double size = largest_size(point, h->count);
    double tolerance = (relative > 0 ? relative : DEFAULT_TOLERANCE) * kki_power_of_two(GRID_EXPONENT);
    tolerance = larger(tolerance, 2 * DOUBT);
    for (int axis = 0; axis < 3; axis++) {
        tolerance = larger(tolerance, fill_axis(h, point, axis, size));
    }
    h->tolerance = tolerance;
}

// ---- planes

static kki_exact_cross exact_normal(const kk_vec3 *grid, const int32_t vertex[3]) {
    const kk_vec3 a = grid[vertex[0]];
    return kki_exact_cross_of(kk_vec3_sub(grid[vertex[1]], a), kk_vec3_sub(grid[vertex[2]], a));
}

int kki_hull_side(const kk_vec3 *grid, const kki_hull_face *face, int32_t point) {
    const kk_vec3 offset = kk_vec3_sub(grid[point], grid[face->vertex[0]]);
    const double d = kk_vec3_dot(face->normal, offset);
    if (kki_abs(d) > DOUBT) {
        return d > 0 ? 1 : -1;
    }
    const kki_exact_cross normal = exact_normal(grid, face->vertex);
    return kki_exact_dot_sign(&normal, offset);
}

// components are far from under- and overflow: whole numbers up to 2^103
static kk_vec3 unit_normal(const kk_vec3 *grid, const int32_t vertex[3]) {
    const kki_exact_cross exact = exact_normal(grid, vertex);
    const kk_vec3 n = kki_rounded_cross(&exact);
    return kk_vec3_scale(n, 1 / kk_vec3_norm(n));
}

static double distance(const quickhull *h, const kki_hull_face *face, int32_t point) {
    return kk_vec3_dot(face->normal, kk_vec3_sub(h->grid[point], h->grid[face->vertex[0]]));
}

// ---- memory

static void *larger_copy(const quickhull *h, void *old, size_t room, size_t size) {
    void *block = kki_allocate_array(&h->allocator, room, size);
    if (block && old) {
        memcpy(block, old, h->room * size);
    }
    return block;
}

static void release_pools(const quickhull *h, kki_hull_face *face, int32_t *stack, rim_edge *rim, size_t room) {
    kki_release_array(&h->allocator, face, room, sizeof *face);
    kki_release_array(&h->allocator, stack, room, sizeof *stack);
    kki_release_array(&h->allocator, rim, room, sizeof *rim);
}

// V points make 2 V - 4 faces, and a rim has at most V edges
static kk_status ensure_room(quickhull *h) {
    const size_t needed = 3 * ((size_t)h->vertex_count + 4);
    if (needed <= h->room) {
        return KK_OK;
    }
    const size_t room = 2 * needed;
    kki_hull_face *face = larger_copy(h, h->face, room, sizeof *face);
    int32_t *stack = larger_copy(h, h->stack, room, sizeof *stack);
    rim_edge *rim = larger_copy(h, h->rim, room, sizeof *rim);
    if (!face || !stack || !rim) {
        release_pools(h, face, stack, rim, room);
        return KK_OUT_OF_MEMORY;
    }
    release_pools(h, h->face, h->stack, h->rim, h->room);
    h->face = face;
    h->stack = stack;
    h->rim = rim;
    h->room = room;
    return KK_OK;
}

static kk_status make_arrays(quickhull *h) {
    const size_t count = (size_t)h->count;
    h->grid = kki_allocate_array(&h->allocator, count, sizeof *h->grid);
    h->link = kki_allocate_array(&h->allocator, count, sizeof *h->link);
    h->starts = kki_allocate_array(&h->allocator, count, sizeof *h->starts);
    return h->grid && h->link && h->starts ? KK_OK : KK_OUT_OF_MEMORY;
}

static void free_arrays(quickhull *h) {
    const size_t count = (size_t)h->count;
    release_pools(h, h->face, h->stack, h->rim, h->room);
    kki_release_array(&h->allocator, h->grid, count, sizeof *h->grid);
    kki_release_array(&h->allocator, h->link, count, sizeof *h->link);
    kki_release_array(&h->allocator, h->starts, count, sizeof *h->starts);
}

// ---- faces

static int32_t new_face(quickhull *h, int32_t a, int32_t b, int32_t c) {
    int32_t id = h->free_face;
    if (id >= 0) {
        h->free_face = h->face[id].neighbor[0];
    } else {
        id = h->face_count++;
    }
    kki_hull_face *f = &h->face[id];
    *f = (kki_hull_face){{a, b, c}, {-1, -1, -1}, {0, 0, 0}, -1, -1, 0, -1, -1, 0, false};
    f->normal = unit_normal(h->grid, f->vertex);
    return id;
}

// puts a face at the end of the list of those with points to add
static void list_face(quickhull *h, int32_t id) {
    kki_hull_face *f = &h->face[id];
    if (f->is_listed) {
        return;
    }
    f->is_listed = true;
    f->before = h->last_listed;
    f->after = -1;
    *(h->last_listed >= 0 ? &h->face[h->last_listed].after : &h->first_listed) = id;
    h->last_listed = id;
}

static void unlist_face(quickhull *h, int32_t id) {
    kki_hull_face *f = &h->face[id];
    if (!f->is_listed) {
        return;
    }
    f->is_listed = false;
    *(f->before >= 0 ? &h->face[f->before].after : &h->first_listed) = f->after;
    *(f->after >= 0 ? &h->face[f->after].before : &h->last_listed) = f->before;
}

static void remove_face(quickhull *h, int32_t id) {
    unlist_face(h, id);
    h->face[id].mark = -1;
    h->face[id].neighbor[0] = h->free_face;
    h->free_face = id;
}

static void give_point(quickhull *h, int32_t id, int32_t point, double d) {
    kki_hull_face *f = &h->face[id];
    h->link[point] = f->outside;
    f->outside = point;
    if (f->farthest < 0 || d > f->distance) {
        f->farthest = point;
        f->distance = d;
    }
    if (d > h->tolerance) {
        list_face(h, id);
    }
}

// To the first of the faces that has the point clearly outside, else to the one it is nearest to lying on; a point clearly
// inside all of them is done with.
static void assign_point(quickhull *h, const int32_t *face, int32_t face_count, int32_t point) {
    int32_t best = -1;
    double best_distance = -DOUBT;
    for (int32_t i = 0; i < face_count; i++) {
        const double d = distance(h, &h->face[face[i]], point);
        if (d > best_distance) {
            best = face[i];
            best_distance = d;
            if (d > h->tolerance) {
                break;
            }
        }
    }
    if (best >= 0) {
        give_point(h, best, point, best_distance);
    }
}

// ---- the first tetrahedron

static double squared(kk_vec3 v) {
    return kk_vec3_dot(v, v);
}

// the points of least and greatest coordinate along the axis on which they are farthest apart
static void choose_line(const quickhull *h, int32_t corner[4]) {
    double best = -1;
    for (int axis = 0; axis < 3; axis++) {
        int32_t low = 0, high = 0;
        for (int32_t i = 1; i < h->count; i++) {
            low = component(h->grid[i], axis) < component(h->grid[low], axis) ? i : low;
            high = component(h->grid[i], axis) > component(h->grid[high], axis) ? i : high;
        }
        const double d = squared(kk_vec3_sub(h->grid[high], h->grid[low]));
        if (d > best) {
            best = d;
            corner[0] = low;
            corner[1] = high;
        }
    }
}

// distance of the farthest point from the line
static double choose_triangle(const quickhull *h, int32_t corner[4]) {
    const kk_vec3 a = h->grid[corner[0]], along = kk_vec3_sub(h->grid[corner[1]], a);
    double best = -1;
    for (int32_t i = 0; i < h->count; i++) {
        const kki_exact_cross n = kki_exact_cross_of(along, kk_vec3_sub(h->grid[i], a));
        const double d = squared(kki_rounded_cross(&n));
        if (d > best) {
            best = d;
            corner[2] = i;
        }
    }
    return kk_sqrt(best / squared(along));
}

// signed distance of the farthest point from the plane
static double choose_tip(const quickhull *h, int32_t corner[4]) {
    const kk_vec3 a = h->grid[corner[0]], normal = unit_normal(h->grid, corner);
    double best = 0;
    for (int32_t i = 0; i < h->count; i++) {
        const double d = kk_vec3_dot(normal, kk_vec3_sub(h->grid[i], a));
        if (kki_abs(d) > kki_abs(best)) {
            best = d;
            corner[3] = i;
        }
    }
    return best;
}

static kk_status report_flat(const quickhull *h, const char *where, kk_error *error) {
    return kki_error_set(error, KK_SINGULAR,
                         "the %d points lie %s, so their convex hull has no volume — give the shape a thickness",
                         h->count, where);
}

static kk_status choose_tetrahedron(const quickhull *h, int32_t corner[4], kk_error *error) {
    choose_line(h, corner);
    if (squared(kk_vec3_sub(h->grid[corner[1]], h->grid[corner[0]])) <= h->tolerance * h->tolerance) {
        return report_flat(h, "at one place", error);
    }
    if (choose_triangle(h, corner) <= h->tolerance) {
        return report_flat(h, "on a line", error);
    }
    const double height = choose_tip(h, corner);
    if (kki_abs(height) <= h->tolerance) {
        return report_flat(h, "in a plane", error);
    }
    if (height > 0) { // the tip must be below the first triangle
        const int32_t swap = corner[0];
        corner[0] = corner[1];
        corner[1] = swap;
    }
    return KK_OK;
}

static void link_tetrahedron(quickhull *h, const int32_t id[4]) {
    // base (0 1 2) and the sides over its edges, each side k being (k + 1, k, tip)
    for (int k = 0; k < 3; k++) {
        const int before = (k + 2) % 3, after = (k + 1) % 3;
        h->face[id[3]].neighbor[k] = id[k];
        h->face[id[k]].neighbor[0] = id[3];
        h->face[id[k]].neighbor[1] = id[before];
        h->face[id[k]].neighbor[2] = id[after];
    }
}

static kk_status start(quickhull *h, kk_error *error) {
    int32_t corner[4] = {0}, id[4];
    kk_status status = choose_tetrahedron(h, corner, error);
    if (status != KK_OK) {
        return status;
    }
    h->vertex_count = 4;
    if (ensure_room(h) != KK_OK) {
        return KK_OUT_OF_MEMORY;
    }
    for (int k = 0; k < 3; k++) {
        id[k] = new_face(h, corner[(k + 1) % 3], corner[k], corner[3]);
    }
    id[3] = new_face(h, corner[0], corner[1], corner[2]);
    link_tetrahedron(h, id);
    for (int32_t i = 0; i < h->count; i++) {
        if (i != corner[0] && i != corner[1] && i != corner[2] && i != corner[3]) {
            assign_point(h, id, 4, i);
        }
    }
    return KK_OK;
}

// ---- adding a point

// looks at one neighbor of a visible face: either it is visible, too, or the edge between belongs to the rim
static void look_beyond(quickhull *h, int32_t id, int edge, int32_t point) {
    const int32_t other = h->face[id].neighbor[edge];
    kki_hull_face *g = &h->face[other];
    if (g->mark < h->stamp) {
        g->mark = kki_hull_side(h->grid, g, point) > 0 ? h->stamp + 1 : h->stamp;
        if (g->mark > h->stamp) {
            h->stack[h->stack_size++] = other;
        }
    }
    if (g->mark == h->stamp) {
        const int32_t *v = h->face[id].vertex;
        h->rim[h->rim_size++] = (rim_edge){v[edge], v[(edge + 1) % 3], other};
    }
}

// all faces that the point sees, into the stack, and their rim; marks are stamp for hidden, stamp + 1 for visible
static void find_visible(quickhull *h, int32_t id, int32_t point) {
    h->stamp += 2;
    h->stack_size = h->rim_size = 0;
    h->face[id].mark = h->stamp + 1;
    h->stack[h->stack_size++] = id;
    for (int32_t i = 0; i < h->stack_size; i++) {
        for (int k = 0; k < 3; k++) {
            look_beyond(h, h->stack[i], k, point);
        }
    }
}

static int edge_from(const kki_hull_face *face, int32_t vertex) {
    return face->vertex[0] == vertex ? 0 : face->vertex[1] == vertex ? 1 : 2;
}

// a face from every rim edge to the point; rim[i].outer becomes the new face's id
static void make_cone(quickhull *h, int32_t point) {
    for (int32_t i = 0; i < h->rim_size; i++) {
        rim_edge *e = &h->rim[i];
        const int32_t id = new_face(h, e->from, e->to, point);
        kki_hull_face *outer = &h->face[e->outer];
        h->face[id].neighbor[0] = e->outer;
        outer->neighbor[edge_from(outer, e->to)] = id; // the outer face runs the other way
        h->starts[e->from] = id;
        e->outer = id;
    }
    for (int32_t i = 0; i < h->rim_size; i++) {
        const int32_t id = h->rim[i].outer, after = h->starts[h->rim[i].to];
        h->face[id].neighbor[1] = after;
        h->face[after].neighbor[2] = id;
    }
}

// the points of the faces that go, to the new ones, whose ids lie in `starts` order of the rim
static void redistribute(quickhull *h, int32_t point, const int32_t *created, int32_t created_count) {
    for (int32_t i = 0; i < h->stack_size; i++) {
        int32_t p = h->face[h->stack[i]].outside;
        while (p >= 0) {
            const int32_t next = h->link[p];
            if (p != point) {
                assign_point(h, created, created_count, p);
            }
            p = next;
        }
    }
}

static kk_status add_farthest(quickhull *h, int32_t id) {
    const int32_t point = h->face[id].farthest;
    h->vertex_count++;
    if (ensure_room(h) != KK_OK) {
        return KK_OUT_OF_MEMORY;
    }
    find_visible(h, id, point);
    make_cone(h, point);
    // ids of the new faces behind the visible ones: a stack has room for all faces
    int32_t *created = h->stack + h->stack_size;
    for (int32_t i = 0; i < h->rim_size; i++) {
        created[i] = h->rim[i].outer;
    }
    redistribute(h, point, created, h->rim_size);
    for (int32_t i = 0; i < h->stack_size; i++) {
        remove_face(h, h->stack[i]);
    }
    return KK_OK;
}

// ---- the last look

// the face that a point is farthest outside of
static int32_t worst_face(const quickhull *h, int32_t point, double *worst) {
    int32_t best = -1;
    *worst = h->tolerance;
    for (int32_t f = 0; f < h->face_count; f++) {
        if (h->face[f].mark >= 0) {
            const double d = distance(h, &h->face[f], point);
            if (d > *worst) {
                *worst = d;
                best = f;
            }
        }
    }
    return best;
}

// Points that lie near their own face but farther out of another move there.
static void look_again(quickhull *h) {
    int32_t waiting = -1;
    for (int32_t f = 0; f < h->face_count; f++) {
        kki_hull_face *face = &h->face[f];
        while (face->mark >= 0 && face->outside >= 0) {
            const int32_t p = face->outside;
            face->outside = h->link[p];
            h->link[p] = waiting;
            waiting = p;
        }
        face->farthest = -1;
    }
    while (waiting >= 0) {
        const int32_t p = waiting;
        double d;
        waiting = h->link[p];
        const int32_t f = worst_face(h, p, &d);
        if (f >= 0) {
            give_point(h, f, p, d);
        }
    }
}

static kk_status grow(quickhull *h) {
    do {
        while (h->first_listed >= 0) {
            if (add_farthest(h, h->first_listed) != KK_OK) {
                return KK_OUT_OF_MEMORY;
            }
        }
        look_again(h);
    } while (h->first_listed >= 0);
    return KK_OK;
}

static kk_status build(quickhull *h, const kk_vec3 *point, double tolerance, const kk_allocator *owner, kki_mesh **mesh,
                       kk_error *error) {
    kk_status status = make_arrays(h);
    if (status == KK_OK) {
        fill_grid(h, point, tolerance);
        status = start(h, error);
    }
    status = status ? status : grow(h);
    if (status == KK_OUT_OF_MEMORY) {
        return kki_error_set(error, status, "no memory for the convex hull of %d points", h->count);
    }
    return status ? status : kki_hull_finish(point, h->count, h->grid, h->face, h->face_count, owner, mesh, error);
}

static kk_status check_points(const kk_vec3 *point, int count, kk_error *error) {
    if (count < 4 || count > KKI_MESH_MAX_ITEMS / 8) {
        return kki_error_set(error, count < 4 ? KK_SINGULAR : KK_LIMIT_EXCEEDED,
                             "a convex hull of %d points — it takes at least 4 and at most %d", count,
                             KKI_MESH_MAX_ITEMS / 8);
    }
    for (int i = 0; i < count; i++) {
        if (!kki_is_finite(point[i].x) || !kki_is_finite(point[i].y) || !kki_is_finite(point[i].z)) {
            return kki_error_set(error, KK_NOT_FINITE, "point %d of the convex hull is not finite", i);
        }
    }
    return KK_OK;
}

kk_status kki_hull_of_points(const kk_vec3 *point, int count, const kki_hull_options *options,
                             const kk_allocator *allocator, kki_mesh **mesh, kk_error *error) {
    *mesh = NULL;
    kk_status status = check_points(point, count, error);
    if (status != KK_OK) {
        return status;
    }
    quickhull h = {.allocator = kki_allocator_or_default(allocator),
                   .count = count,
                   .free_face = -1,
                   .first_listed = -1,
                   .last_listed = -1};
    status = build(&h, point, options ? options->tolerance : 0, allocator, mesh, error);
    free_arrays(&h);
    return status;
}
