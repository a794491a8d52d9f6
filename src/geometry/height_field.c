// Grids of heights; see height_field.h.
#include "geometry/height_field.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"

static kk_status check_heights(int rows, int columns, double size_x, double size_y, const double *height, double base,
                               kk_error *error) {
    if (rows < 2 || columns < 2 || (int64_t)rows * columns > 300000000) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "height field of %d rows and %d columns: needs two of each and at most 3e8 samples", rows,
                             columns);
    }
    if (!(size_x > 0 && size_x <= 1e15) || !(size_y > 0 && size_y <= 1e15) || !(base >= -1e15)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "height field: sizes must be positive, and sizes and base at most 1e15 m");
    }
    for (int64_t i = 0; i < (int64_t)rows * columns; i++) {
        if (!(height[i] > base && height[i] <= 1e15)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "height field: the height in row %d, column %d is not a number above the base",
                                 (int)(i / columns), (int)(i % columns));
        }
    }
    return KK_OK;
}

static void place_arrays(kki_layout *layout, kki_height_field *f) {
    KKI_LAYOUT_ARRAY(layout, f->height, (size_t)f->rows * (size_t)f->columns);
    KKI_LAYOUT_ARRAY(layout, f->region, (size_t)kki_height_field_faces(f));
}

static void copy_heights(kki_height_field *f, const double *height) {
    const size_t count = (size_t)f->rows * (size_t)f->columns;
    memcpy(f->height, height, count * sizeof *height);
    f->least = f->greatest = height[0];
    for (size_t i = 1; i < count; i++) {
        f->least = kki_lesser(f->least, height[i]);
        f->greatest = kki_greater(f->greatest, height[i]);
    }
}

static int32_t root_of(int32_t *region, int32_t face) {
    while (region[face] != face) {
        region[face] = region[region[face]];
        face = region[face];
    }
    return face;
}

static bool is_one_plane(const kki_height_field *f, int32_t a, int32_t b) {
    const kk_vec3 sine = kk_vec3_cross(kki_height_field_normal(f, a), kki_height_field_normal(f, b));
    return kk_vec3_dot(sine, sine) < KKI_FLAT_SINE * KKI_FLAT_SINE;
}

static void find_regions(kki_height_field *f) {
    const int32_t faces = kki_height_field_faces(f);
    for (int32_t face = 0; face < faces; face++) {
        f->region[face] = face;
        for (int k = 0; k < 3; k++) {
            const int32_t other = kki_height_field_neighbor(f, face, k);
            if (other >= 0 && other < face && is_one_plane(f, face, other)) {
                const int32_t a = root_of(f->region, face), b = root_of(f->region, other);
                f->region[a > b ? a : b] = a < b ? a : b;
            }
        }
    }
    for (int32_t face = 0; face < faces; face++) {
        f->region[face] = root_of(f->region, face);
    }
}

kk_status kki_height_field_create(int rows, int columns, double size_x, double size_y, const double *height,
                                  double base, const kk_allocator *allocator, kki_height_field **field,
                                  kk_error *error) {
    *field = NULL;
    const kk_status status = check_heights(rows, columns, size_x, size_y, height, base, error);
    if (status != KK_OK) {
        return status;
    }
    kki_height_field f = {.allocator = kki_allocator_or_default(allocator),
                          .rows = rows,
                          .columns = columns,
                          .size = {size_x, size_y},
                          .step = {size_x / (columns - 1), size_y / (rows - 1)},
                          .base = base};
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof f);
    place_arrays(&layout, &f);
    f.block_size = layout.size;
    void *block = kki_allocate(&f.allocator, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "height field: out of memory");
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof f);
    place_arrays(&layout, &f);
    copy_heights(&f, height);
    find_regions(&f);
    *field = memcpy(block, &f, sizeof f);
    return KK_OK;
}

void kki_height_field_free(kki_height_field *field) {
    if (field) {
        const kk_allocator allocator = field->allocator;
        kki_release(&allocator, field, field->block_size);
    }
}

void kki_height_field_corners(const kki_height_field *f, int32_t face, int32_t row[3], int32_t column[3]) {
    const int32_t r = face / 2 / (f->columns - 1), c = face / 2 % (f->columns - 1), above = face & 1;
    row[0] = r, column[0] = c;
    row[1] = r + above, column[1] = c + 1;
    row[2] = r + 1, column[2] = c + 1 - above;
}

// below the diagonal: the cell under it, the one to the right, across the diagonal; above: across, above, to the left
int32_t kki_height_field_neighbor(const kki_height_field *f, int32_t face, int k) {
    const int32_t cells = f->columns - 1, r = face / 2 / cells, c = face / 2 % cells;
    if (face & 1) {
        return k == 0 ? face - 1 : k == 1 ? (r < f->rows - 2 ? face + 2 * cells - 1 : -1) : (c > 0 ? face - 3 : -1);
    }
    return k == 2 ? face + 1 : k == 0 ? (r > 0 ? face - 2 * cells + 1 : -1) : (c < cells - 1 ? face + 3 : -1);
}

// the slopes along x and y of the plane through a face
kk_vec3 kki_height_field_normal(const kki_height_field *f, int32_t face) {
    const int32_t r = face / 2 / (f->columns - 1), c = face / 2 % (f->columns - 1);
    const double *h = &f->height[(int64_t)r * f->columns + c];
    const double right = h[1], up = h[f->columns], corner = h[f->columns + 1];
    const double x = (face & 1 ? corner - up : right - h[0]) / f->step[0];
    const double y = (face & 1 ? up - h[0] : corner - right) / f->step[1];
    const double size = kk_sqrt(x * x + y * y + 1);
    return kk_vec3_make(-x / size, -y / size, 1 / size);
}

// the cell of a coordinate, clamped; a bound of NaN gives the first
static int32_t cell_of(double x, double size, double step, int32_t cells) {
    const double k = (x + 0.5 * size) / step;
    return !(k > 0) ? 0 : k >= cells ? cells - 1 : (int32_t)k;
}

bool kki_height_field_cells(const kki_height_field *f, const kki_aabb *box, int32_t row[2], int32_t column[2]) {
    const double x = 0.5 * f->size[0], y = 0.5 * f->size[1];
    if (!(box->lower.x <= x && box->upper.x >= -x && box->lower.y <= y && box->upper.y >= -y) ||
        !(box->lower.z <= f->greatest && box->upper.z >= f->base)) {
        return false;
    }
    column[0] = cell_of(box->lower.x, f->size[0], f->step[0], f->columns - 1);
    column[1] = cell_of(box->upper.x, f->size[0], f->step[0], f->columns - 1);
    row[0] = cell_of(box->lower.y, f->size[1], f->step[1], f->rows - 1);
    row[1] = cell_of(box->upper.y, f->size[1], f->step[1], f->rows - 1);
    // a bound on a line between two cells belongs to both, and a rounding must not lose one
    column[0] -= column[0] > 0;
    row[0] -= row[0] > 0;
    column[1] += column[1] < f->columns - 2;
    row[1] += row[1] < f->rows - 2;
    return true;
}

static double clamped(double x, double most) {
    return !(x > 0) ? 0 : x > most ? most : x;
}

double kki_height_field_at(const kki_height_field *f, double x, double y) {
    const int32_t c = cell_of(x, f->size[0], f->step[0], f->columns - 1);
    const int32_t r = cell_of(y, f->size[1], f->step[1], f->rows - 1);
    const double u = clamped((x + 0.5 * f->size[0]) / f->step[0] - c, 1);
    const double v = clamped((y + 0.5 * f->size[1]) / f->step[1] - r, 1);
    const double *h = &f->height[(int64_t)r * f->columns + c];
    const double right = h[1], up = h[f->columns], corner = h[f->columns + 1];
    return u >= v ? h[0] + u * (right - h[0]) + v * (corner - right) : h[0] + v * (up - h[0]) + u * (corner - up);
}

bool kki_height_field_holds(const kki_height_field *f, kk_vec3 p) {
    return __builtin_fabs(p.x) <= 0.5 * f->size[0] && __builtin_fabs(p.y) <= 0.5 * f->size[1] && p.z >= f->base &&
           p.z <= kki_height_field_at(f, p.x, p.y);
}

bool kki_height_field_is_on(const kki_height_field *f, kk_vec3 p, double tolerance) {
    const double x = 0.5 * f->size[0] - __builtin_fabs(p.x), y = 0.5 * f->size[1] - __builtin_fabs(p.y);
    const double above = p.z - kki_height_field_at(f, p.x, p.y), below = f->base - p.z;
    if (x < -tolerance || y < -tolerance || above > tolerance || below > tolerance) {
        return false;
    }
    return x <= tolerance || y <= tolerance || above >= -tolerance || below >= -tolerance;
}

// ---- corners

static int32_t samples(const kki_height_field *f) {
    return f->rows * f->columns;
}

kk_vec3 kki_height_field_corner(const kki_height_field *f, int32_t id) {
    const int32_t k = id - samples(f);
    return k < 0 ? kki_height_field_vertex(f, id / f->columns, id % f->columns)
                 : kk_vec3_make(k & 1 ? 0.5 * f->size[0] : -0.5 * f->size[0],
                                k & 2 ? 0.5 * f->size[1] : -0.5 * f->size[1], f->base);
}

static int32_t nearest_line(double x, double size, double step, int32_t count) {
    const double at = (x + 0.5 * size) / step + 0.5;
    return at <= 0 ? 0 : at >= count ? count - 1 : (int32_t)at;
}

int32_t kki_height_field_nearest(const kki_height_field *f, kk_vec3 p) {
    return nearest_line(p.y, f->size[1], f->step[1], f->rows) * f->columns +
           nearest_line(p.x, f->size[0], f->step[0], f->columns);
}

// The highest of a sample and the eight around it.
static int32_t highest_around(const kki_height_field *f, kk_vec3 d, int32_t at) {
    const int32_t row = at / f->columns, column = at % f->columns;
    double best = kk_vec3_dot(d, kki_height_field_vertex(f, row, column));
    for (int32_t r = row > 0 ? row - 1 : 0; r <= row + 1 && r < f->rows; r++) {
        for (int32_t c = column > 0 ? column - 1 : 0; c <= column + 1 && c < f->columns; c++) {
            const double height = kk_vec3_dot(d, kki_height_field_vertex(f, r, c));
            at = height > best ? r * f->columns + c : at;
            best = height > best ? height : best;
        }
    }
    return at;
}

// Along what points down the base is farther than all that lies above it.
int32_t kki_height_field_climb(const kki_height_field *f, kk_vec3 d, int32_t from, int most) {
    if (d.z < 0) {
        return samples(f) + (d.x > 0) + 2 * (d.y > 0);
    }
    int32_t at = from < samples(f) ? from : kki_height_field_nearest(f, kki_height_field_corner(f, from)), last = -1;
    for (int step = 0; step < most && at != last; step++) {
        last = at;
        at = highest_around(f, d, at);
    }
    return at;
}
