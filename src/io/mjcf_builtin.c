/// Meshes that MJCF describes by a word and numbers: sphere, hemisphere, cone, supersphere, supertorus, plate.
///
/// Corners and faces are those of MuJoCo, in its units (radius 1 before `scale`), rounded to single precision as it does; so masses and
/// centers are the same numbers. With signed powers c(w, m) = sgn(cos w) |cos w|^m and s(w, m) likewise (Barr 1981):
///     supersphere  (c(φ, n) c(θ, e), c(φ, n) s(θ, e), s(φ, n))
///     supertorus   ((1 + r c(φ, s)) c(θ, t), (1 + r c(φ, s)) s(θ, t), r s(φ, s))
#include <string.h>

#include <karakuri/elementary.h>

#include "base/float_bits.h"
#include "geometry/hull.h"
#include "io/mjcf.h"
#include "model/item.h"

enum { MOST_NUMBERS = 4, MOST_SIDES = 512, MOST_SUBDIVISIONS = 4, MOST_RINGS = 10 };

typedef kk_status maker(kki_mesh_builder *b, const double *p);

/// What a word needs; a bound is on the number of the same place.
typedef struct builtin {
    const char *name;
    int count; ///< of numbers
    double least[MOST_NUMBERS], most[MOST_NUMBERS];
    int whole; ///< how many of them, from the first, are whole
    bool is_hull;
    maker *make;
} builtin;

static kk_status add_vertex(kki_mesh_builder *b, double x, double y, double z) {
    return kki_mesh_builder_add_vertex(b, kk_vec3_make(kki_single(x), kki_single(y), kki_single(z)));
}

static kk_vec3 unit(kk_vec3 v) {
    return kk_vec3_scale(v, 1 / kk_vec3_norm(v));
}

static double power(double base, double exponent) {
    const double size = kk_pow(base < 0 ? -base : base, exponent);
    return base < 0 ? -size : base > 0 ? size : 0;
}

static double cosine(double angle, double exponent) {
    return power(kk_cos(angle), exponent);
}

static double sine(double angle, double exponent) {
    return power(kk_sin(angle), exponent);
}

// ---- icosphere

/// A face with its corners on the unit sphere, and its quarters.
static kk_status add_icosahedral(kki_mesh_builder *b, kk_vec3 u, kk_vec3 v, kk_vec3 w, int depth) {
    if (depth == 0) {
        const int32_t first = b->vertex_count;
        kk_status status = add_vertex(b, u.x, u.y, u.z);
        status = status ? status : add_vertex(b, v.x, v.y, v.z);
        status = status ? status : add_vertex(b, w.x, w.y, w.z);
        return status ? status : kki_mesh_builder_add_face(b, first, first + 1, first + 2);
    }
    const kk_vec3 uv = unit(kk_vec3_add(u, v)), vw = unit(kk_vec3_add(v, w)), wu = unit(kk_vec3_add(w, u));
    kk_status status = add_icosahedral(b, u, uv, wu, depth - 1);
    status = status ? status : add_icosahedral(b, v, vw, uv, depth - 1);
    status = status ? status : add_icosahedral(b, w, wu, vw, depth - 1);
    return status ? status : add_icosahedral(b, uv, vw, wu, depth - 1);
}

static kk_status make_sphere(kki_mesh_builder *b, const double *p) {
    static const int face[20][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    const double g = (1 + kk_sqrt(5)) / 2;
    const kk_vec3 corner[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                                {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    kk_status status = KK_OK;
    for (int i = 0; i < 20 && status == KK_OK; i++) {
        const int *f = face[i];
        status = add_icosahedral(b, unit(corner[f[0]]), unit(corner[f[1]]), unit(corner[f[2]]), (int)p[0]);
    }
    return status;
}

// ---- hemisphere: an octahedron's upper half with a grid on its faces, blown up

/// Number of the first vertex of ring k, which has 4 k.
static int32_t ring(int k) {
    return k == 0 ? 0 : 1 + 2 * k * (k - 1);
}

static kk_status add_ring(kki_mesh_builder *b, int k, int rings) {
    kk_status status = KK_OK;
    for (int i = 0; i < 4 * k && status == KK_OK; i++) {
        const int side = i / k, step = i % k;
        const double along = k - step, across = step;
        const double x = side == 0 ? along : side == 1 ? -across : side == 2 ? -along : across;
        const double y = side == 0 ? across : side == 1 ? along : side == 2 ? -across : -along;
        const kk_vec3 v = unit(kk_vec3_make(x, y, rings - k));
        status = add_vertex(b, v.x, v.y, v.z);
    }
    return status;
}

/// The triangles between ring k and the next one.
static kk_status add_belt(kki_mesh_builder *b, int k) {
    const int inner = k == 0 ? 1 : 4 * k, outer = 4 * (k + 1);
    kk_status status = KK_OK;
    for (int side = 0; side < 4; side++) {
        for (int step = 0; step <= k && status == KK_OK; step++) {
            const int32_t a = ring(k) + (side * k + step) % inner, c = ring(k + 1) + side * (k + 1) + step;
            const int32_t next = ring(k + 1) + (side * (k + 1) + step + 1) % outer;
            status = kki_mesh_builder_add_face(b, a, c, next);
            if (status == KK_OK && step < k) {
                status = kki_mesh_builder_add_face(b, a, next, ring(k) + (side * k + step + 1) % inner);
            }
        }
    }
    return status;
}

static kk_status make_hemisphere(kki_mesh_builder *b, const double *p) {
    const int rings = (int)p[0] + 1;
    kk_status status = add_vertex(b, 0, 0, 1);
    for (int k = 1; k <= rings && status == KK_OK; k++) {
        status = add_ring(b, k, rings);
    }
    status = status ? status : add_vertex(b, 0, 0, 0);
    for (int k = 0; k < rings && status == KK_OK; k++) {
        status = add_belt(b, k);
    }
    const int32_t first = ring(rings), center = ring(rings + 1);
    for (int i = 0; i < 4 * rings && status == KK_OK; i++) {
        status = kki_mesh_builder_add_face(b, first + i, center, first + (i + 1) % (4 * rings));
    }
    return status;
}

// ---- the others

static kk_status make_cone(kki_mesh_builder *b, const double *p) {
    const int sides = (int)p[0];
    kk_status status = KK_OK;
    for (int i = 0; i < sides && status == KK_OK; i++) {
        const double angle = 2 * KK_PI * i / sides, x = kk_cos(angle), y = kk_sin(angle);
        status = add_vertex(b, x, y, -1);
        if (status == KK_OK && p[1] > 0) {
            status = add_vertex(b, p[1] * x, p[1] * y, 1);
        }
    }
    return status == KK_OK && p[1] == 0 ? add_vertex(b, 0, 0, 1) : status;
}

/// Two triangles between four corners.
static kk_status add_quad(kki_mesh_builder *b, int32_t a, int32_t b1, int32_t a1, int32_t c) {
    const kk_status status = kki_mesh_builder_add_face(b, a, b1, a1);
    return status ? status : kki_mesh_builder_add_face(b, b1, c, a1);
}

static kk_status make_supersphere(kki_mesh_builder *b, const double *p) {
    const int n = (int)p[0];
    kk_status status = add_vertex(b, 0, 0, -1);
    for (int i = 1; i < n; i++) {
        const double phi = -KK_PI / 2 + KK_PI * i / n, r = cosine(phi, p[2]);
        for (int j = 0; j < n && status == KK_OK; j++) {
            const double theta = -KK_PI + 2 * KK_PI * j / n;
            status = add_vertex(b, r * cosine(theta, p[1]), r * sine(theta, p[1]), sine(phi, p[2]));
        }
    }
    const int32_t top = 1 + (n - 1) * n;
    status = status ? status : add_vertex(b, 0, 0, 1);
    for (int j = 0; j < n && status == KK_OK; j++) {
        const int32_t next = (j + 1) % n, last = top - n;
        status = kki_mesh_builder_add_face(b, 0, 1 + next, 1 + j);
        for (int32_t row = 1; row < last && status == KK_OK; row += n) {
            status = add_quad(b, row + j, row + next, row + n + j, row + n + next);
        }
        status = status ? status : kki_mesh_builder_add_face(b, last + j, last + next, top);
    }
    return status;
}

static kk_status make_supertorus(kki_mesh_builder *b, const double *p) {
    const int n = (int)p[0];
    kk_status status = KK_OK;
    for (int i = 0; i < n; i++) {
        const double theta = 2 * KK_PI * i / n;
        for (int j = 0; j < n && status == KK_OK; j++) {
            const double phi = 2 * KK_PI * j / n, r = 1 + p[1] * cosine(phi, p[2]);
            status = add_vertex(b, r * cosine(theta, p[3]), r * sine(theta, p[3]), p[1] * sine(phi, p[2]));
        }
    }
    for (int i = 0; i < n; i++) {
        const int32_t row = i * n, next = (i + 1) % n * n;
        for (int j = 0; j < n && status == KK_OK; j++) {
            const int j1 = (j + 1) % n;
            status = add_quad(b, row + j, next + j, row + j1, next + j1);
        }
    }
    return status;
}

static kk_status make_plate(kki_mesh_builder *b, const double *p) {
    const int nx = (int)p[0], ny = (int)p[1];
    kk_status status = KK_OK;
    for (int i = 0; i < nx; i++) {
        for (int j = 0; j < ny && status == KK_OK; j++) {
            status = add_vertex(b, (2 * i + 1.0) / nx - 1, (2 * j + 1.0) / ny - 1, -1);
        }
    }
    for (int i = 0; i + 1 < nx; i++) {
        for (int j = 0; j + 1 < ny && status == KK_OK; j++) {
            const int32_t a = i * ny + j;
            status = kki_mesh_builder_add_face(b, a, a + ny, a + 1);
            status = status ? status : kki_mesh_builder_add_face(b, a + ny + 1, a + 1, a + ny);
        }
    }
    return status;
}

static const builtin builtins[] = {
    {"sphere", 1, {0}, {MOST_SUBDIVISIONS}, 1, false, make_sphere},
    {"hemisphere", 1, {0}, {MOST_RINGS}, 1, false, make_hemisphere},
    {"cone", 2, {3, 0}, {MOST_SIDES, 1}, 1, true, make_cone},
    {"supersphere", 3, {3, 0, 0}, {MOST_SIDES, 100, 100}, 1, false, make_supersphere},
    {"supertorus", 4, {3, 1e-6, 1e-6, 1e-6}, {MOST_SIDES, 1, 100, 100}, 1, false, make_supertorus},
    {"plate", 2, {2, 2}, {MOST_SIDES, MOST_SIDES}, 2, false, make_plate},
};

static const builtin *find_builtin(const char *name) {
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i].name, name) == 0) {
            return &builtins[i];
        }
    }
    return NULL;
}

static bool read_numbers(const kki_mjcf_at *at, const builtin *what, double *p) {
    if (kki_mjcf_numbers(at, "params", what->count, what->count, p) != what->count) {
        if (!kki_mjcf_has(at, "params")) {
            kki_mjcf_report(at->m, KKI_ERROR, KK_NOT_FOUND, at->node, "builtin",
                            "the mesh needs %d numbers; add params=\"...\"", what->count);
        }
        return false;
    }
    for (int i = 0; i < what->count; i++) {
        const bool is_in = p[i] >= what->least[i] && p[i] <= what->most[i];
        if (!is_in || (i < what->whole && p[i] != (double)(int)p[i])) {
            kki_mjcf_report(at->m, KKI_ERROR, KK_INVALID_ARGUMENT, at->node, "params",
                            "number %d of a %s must be %s from %s to %s; correct it", i + 1, what->name,
                            i < what->whole ? "a whole one" : "one", KKI_NUMBER(what->least[i]),
                            KKI_NUMBER(what->most[i]));
            return false;
        }
    }
    return true;
}

static kk_status make(const kk_allocator *a, const builtin *what, const double *p, kki_mesh **mesh, kk_error *error) {
    kki_mesh_builder b;
    const kki_mesh_tidy_options tidy = {.keep_unused = true};
    kki_mesh_builder_begin(&b, a);
    kk_status status = what->make(&b, p);
    if (status == KK_OK) {
        status = what->is_hull ? kki_hull_of_points(b.vertex, b.vertex_count, NULL, a, mesh, error)
                               : kki_mesh_builder_end(&b, &tidy, a, mesh, error);
    }
    kki_mesh_builder_free(&b);
    return status;
}

bool kki_mjcf_builtin(const kki_mjcf_at *at, kki_mesh **mesh) {
    kki_mjcf *m = at->m;
    const char *name = kki_mjcf_text(at, "builtin");
    const builtin *what = find_builtin(name ? name : "");
    double p[MOST_NUMBERS];
    kk_error error = {.status = KK_OK};
    *mesh = NULL;
    if (!what) {
        kki_mjcf_report(
            m, KKI_ERROR, KK_UNSUPPORTED, at->node, "builtin",
            "a builtin mesh '%s' is not made; write a sphere, hemisphere, cone, supersphere, supertorus or plate, "
            "or give its vertices",
            name ? name : "");
        return false;
    }
    if (!read_numbers(at, what, p)) {
        return false;
    }
    const kk_status status = make(&m->loader->allocator, what, p, mesh, &error);
    if (status == KK_OUT_OF_MEMORY) {
        kki_mjcf_stop(m, status);
    } else if (status != KK_OK) {
        kki_mjcf_report(m, KKI_ERROR, status, at->node, "builtin", "the %s: %s", what->name, error.text);
    }
    return status == KK_OK;
}
