// Forms of shapes; see form.h. Angles go by kk_sincos, so that a picture is the same everywhere.
#include "form.h"

#include <stdlib.h>
#include <string.h>

#include "../text.h"

void form_free(form *f) {
    free(f->position);
    free(f->normal);
    free(f->face);
    free(f->color);
    *f = (form){0};
}

int form_add_vertex(form *f, v3 position, v3 normal) {
    if (f->vertex_count == f->vertex_room) {
        f->vertex_room = f->vertex_room ? 2 * f->vertex_room : 64;
        f->position = cli_reallocate(f->position, (size_t)f->vertex_room, sizeof *f->position);
        f->normal = cli_reallocate(f->normal, (size_t)f->vertex_room, sizeof *f->normal);
    }
    f->position[f->vertex_count] = position;
    f->normal[f->vertex_count] = normal;
    return f->vertex_count++;
}

void form_add_face(form *f, int a, int b, int c) {
    if (f->face_count == f->face_room) {
        f->face_room = f->face_room ? 2 * f->face_room : 64;
        f->face = cli_reallocate(f->face, (size_t)f->face_room, sizeof *f->face);
    }
    f->face[f->face_count][0] = a;
    f->face[f->face_count][1] = b;
    f->face[f->face_count++][2] = c;
}

void form_finish(form *f) {
    f->low = f->high = f->vertex_count ? f->position[0] : v3_make(0, 0, 0);
    for (int i = 1; i < f->vertex_count; i++) {
        const v3 p = f->position[i];
        f->low = v3_make(f_min(f->low.x, p.x), f_min(f->low.y, p.y), f_min(f->low.z, p.z));
        f->high = v3_make(f_max(f->high.x, p.x), f_max(f->high.y, p.y), f_max(f->high.z, p.z));
    }
}

// ---- bodies of revolution

static v3 around(double angle, float radius, float z) {
    double s, c;
    kk_sincos(angle, &s, &c);
    return v3_make(radius * (float)c, radius * (float)s, z);
}

/// A band between two circles about z; normals lean by the slope.
typedef struct circle {
    float radius, z;             ///< of the points
    float normal_out, normal_up; ///< of the normals
} circle;

static int add_circle(form *f, circle c, int n) {
    const int first = f->vertex_count;
    for (int i = 0; i < n; i++) {
        const double angle = KK_TWO_PI * i / n;
        form_add_vertex(f, around(angle, c.radius, c.z), v3_normalize(around(angle, c.normal_out, c.normal_up)));
    }
    return first;
}

static void add_band(form *f, int low, int high, int n) {
    for (int i = 0; i < n; i++) {
        const int k = (i + 1) % n;
        form_add_face(f, low + i, low + k, high + k);
        form_add_face(f, low + i, high + k, high + i);
    }
}

static void add_disc(form *f, float radius, float z, float up, int n) {
    const int first = add_circle(f, (circle){radius, z, 0, up}, n),
              center = form_add_vertex(f, v3_make(0, 0, z), v3_make(0, 0, up));
    for (int i = 0; i < n; i++) {
        const int k = (i + 1) % n;
        form_add_face(f, center, first + (up > 0 ? i : k), first + (up > 0 ? k : i));
    }
}

/// Half circles turned about z, the halves moved apart along z.
static void add_round(form *f, float radius, float apart, int n) {
    const int rings = n / 2;
    int last = -1;
    for (int i = 0; i <= rings; i++) {
        double s, c;
        kk_sincos(KK_PI * i / rings - KK_HALF_PI, &s, &c);
        const float out = (float)c, up = (float)s;
        // the equator stands twice, once in each half
        for (int k = 0; k < (2 * i == rings && apart > 0 ? 2 : 1); k++) {
            const float shift = (2 * i < rings || (2 * i == rings && k == 0)) ? -apart / 2 : apart / 2;
            const int ring = add_circle(f, (circle){radius * out, radius * up + shift, out, up}, n);
            if (last >= 0) {
                add_band(f, last, ring, n);
            }
            last = ring;
        }
    }
}

void form_sphere(form *f, v3 radii, int n) {
    add_round(f, 1, 0, n);
    for (int i = 0; i < f->vertex_count; i++) {
        const v3 u = f->position[i];
        f->position[i] = v3_mul(u, radii);
        f->normal[i] = v3_normalize(v3_make(u.x / radii.x, u.y / radii.y, u.z / radii.z));
    }
}

void form_capsule(form *f, float radius, float length) {
    add_round(f, radius, length, 40);
}

void form_cone(form *f, float low, float high, float length) {
    enum { N = 48 };
    const float slope = (low - high) / length;
    const int a = add_circle(f, (circle){low, -length / 2, 1, slope}, N);
    const int b = add_circle(f, (circle){high, length / 2, 1, slope}, N);
    add_band(f, a, b, N);
    if (low > 0) {
        add_disc(f, low, -length / 2, -1, N);
    }
    if (high > 0) {
        add_disc(f, high, length / 2, 1, N);
    }
}

void form_ring(form *f, float inner, float outer) {
    const int a = add_circle(f, (circle){inner, 0, 0, 1}, 48), b = add_circle(f, (circle){outer, 0, 0, 1}, 48);
    add_band(f, a, b, 48);
}

// ---- boxes

static v3 turned(v3 p, int axis) {
    return axis == 0 ? p : axis == 1 ? v3_make(p.z, p.x, p.y) : v3_make(p.y, p.z, p.x);
}

/// A face of the box across `axis`, its rim bent by the rounding: a grid of 4 × 4 points, the outer ones on the edges.
static void add_box_face(form *f, v3 half, float round, int axis, float sign) {
    const v3 h = axis == 0 ? half : axis == 1 ? v3_make(half.y, half.z, half.x) : v3_make(half.z, half.x, half.y);
    const int first = f->vertex_count;
    const float y[4] = {-h.y, -h.y + round, h.y - round, h.y}, z[4] = {-h.z, -h.z + round, h.z - round, h.z};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            const bool at_y = i == 0 || i == 3, at_z = k == 0 || k == 3;
            const v3 core = v3_make(sign * (h.x - round), f_clamp(y[i], -h.y + round, h.y - round),
                                    f_clamp(z[k], -h.z + round, h.z - round));
            const v3 n = v3_normalize(v3_make(sign, at_y ? (i ? 1.f : -1.f) : 0, at_z ? (k ? 1.f : -1.f) : 0));
            form_add_vertex(f, turned(v3_along(core, round, n), axis), turned(n, axis));
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            const int a = first + 4 * i + k;
            form_add_face(f, a, a + 4, a + 5);
            form_add_face(f, a, a + 5, a + 1);
        }
    }
}

void form_box(form *f, v3 size) {
    const v3 half = v3_scale(size, 0.5f);
    const float round = 0.06f * f_min(half.x, f_min(half.y, half.z));
    for (int axis = 0; axis < 3; axis++) {
        add_box_face(f, half, round, axis, 1);
        add_box_face(f, half, round, axis, -1);
    }
}

// ---- meshes

static bool is_same(kk_vec3 a, kk_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// Vertices at one place share a number: STL files have each corner for itself.
static int *number_places(const kk_mesh_def *mesh, int *count) {
    const int n = mesh->vertex_count;
    uint32_t size = 64;
    while (size < 2u * (uint32_t)n) {
        size *= 2;
    }
    int *table = cli_allocate(size, sizeof *table), *place = cli_allocate((size_t)n + 1, sizeof *place);
    *count = 0;
    for (int i = 0; i < n; i++) {
        const kk_vec3 p = mesh->vertex[i];
        uint32_t at = (uint32_t)kk_hash_bytes(&p, sizeof p, 0) & (size - 1);
        while (table[at] && !is_same(mesh->vertex[table[at] - 1], p)) {
            at = (at + 1) & (size - 1);
        }
        if (!table[at]) {
            table[at] = i + 1;
            place[i] = (*count)++;
        } else {
            place[i] = place[table[at] - 1];
        }
    }
    free(table);
    return place;
}

typedef struct corners {
    const kk_mesh_def *mesh;
    int *place;      ///< [vertices]
    int *first, *at; ///< faces at a place: at[first[p] … first[p + 1])
    v3 *area_normal; ///< [faces] twice the area long
} corners;

static void list_faces(corners *c, int places) {
    const kk_mesh_def *m = c->mesh;
    c->first = cli_allocate((size_t)places + 2, sizeof *c->first);
    c->at = cli_allocate(3 * (size_t)m->face_count + 1, sizeof *c->at);
    for (int i = 0; i < 3 * m->face_count; i++) {
        c->first[c->place[m->face[i / 3][i % 3]] + 2]++;
    }
    for (int p = 2; p <= places; p++) {
        c->first[p] += c->first[p - 1];
    }
    for (int i = 0; i < 3 * m->face_count; i++) {
        c->at[c->first[c->place[m->face[i / 3][i % 3]] + 1]++] = i / 3;
    }
}

/// The mean of the faces around a corner that bend by less than 40° from its own.
static v3 corner_normal(const corners *c, int face, int vertex) {
    const float bend = 0.766f;
    const v3 own = c->area_normal[face], unit = v3_normalize(own);
    const int place = c->place[vertex];
    v3 sum = own;
    for (int i = c->first[place]; i < c->first[place + 1]; i++) {
        const v3 n = c->area_normal[c->at[i]];
        if (c->at[i] != face && v3_dot(n, unit) > bend * v3_norm(n)) {
            sum = v3_add(sum, n);
        }
    }
    return v3_normalize(sum);
}

static void find_area_normals(corners *c) {
    const kk_mesh_def *m = c->mesh;
    c->area_normal = cli_allocate((size_t)m->face_count + 1, sizeof *c->area_normal);
    for (int i = 0; i < m->face_count; i++) {
        const kk_vec3 a = m->vertex[m->face[i][0]], b = m->vertex[m->face[i][1]], d = m->vertex[m->face[i][2]];
        // in double, and of unit size before it becomes float: faces of a micrometer count, too
        const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(b, a), kk_vec3_sub(d, a));
        c->area_normal[i] = v3_from(kk_vec3_scale(n, 1e6));
    }
}

static v3 linear_of(const float color[4]) {
    // sRGB to linear by its square, near enough for colors chosen by hand
    return v3_make(color[0] * color[0], color[1] * color[1], color[2] * color[2]);
}

static void take_part_colors(form *f, const kk_mesh_def *mesh) {
    bool has_colors = mesh->part_count > 0;
    for (int i = 0; i < mesh->part_count; i++) {
        has_colors = has_colors && mesh->part[i].has_color;
    }
    if (!has_colors || f->face_count != mesh->face_count) {
        return;
    }
    f->color = cli_allocate((size_t)f->face_count + 1, sizeof *f->color);
    for (int i = 0; i < mesh->part_count; i++) {
        const kk_mesh_part *p = &mesh->part[i];
        for (int k = p->first_face; k < p->first_face + p->face_count && k < f->face_count; k++) {
            f->color[k] = linear_of(p->color);
        }
    }
}

void form_mesh(form *f, const kk_mesh_def *mesh) {
    corners c = {.mesh = mesh};
    int places = 0;
    c.place = number_places(mesh, &places);
    list_faces(&c, places);
    find_area_normals(&c);
    for (int i = 0; i < mesh->face_count; i++) {
        int v[3];
        for (int k = 0; k < 3; k++) {
            v[k] = form_add_vertex(f, v3_from(mesh->vertex[mesh->face[i][k]]), corner_normal(&c, i, mesh->face[i][k]));
        }
        form_add_face(f, v[0], v[1], v[2]);
    }
    take_part_colors(f, mesh);
    free(c.place);
    free(c.first);
    free(c.at);
    free(c.area_normal);
}

// ---- height fields

static v3 field_point(const kk_height_field_def *h, int row, int column) {
    return v3_make((float)((2.0 * column / (h->columns - 1) - 1) * h->half_x),
                   (float)((2.0 * row / (h->rows - 1) - 1) * h->half_y), (float)h->height[row * h->columns + column]);
}

static int within(int i, int count) {
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

static v3 field_normal(const kk_height_field_def *h, int r, int c) {
    const v3 x = v3_sub(field_point(h, r, within(c + 1, h->columns)), field_point(h, r, within(c - 1, h->columns)));
    const v3 y = v3_sub(field_point(h, within(r + 1, h->rows), c), field_point(h, within(r - 1, h->rows), c));
    return v3_normalize(v3_cross(x, y));
}

void form_height_field(form *f, const kk_height_field_def *h) {
    for (int r = 0; r < h->rows; r++) {
        for (int c = 0; c < h->columns; c++) {
            form_add_vertex(f, field_point(h, r, c), field_normal(h, r, c));
        }
    }
    for (int r = 0; r + 1 < h->rows; r++) {
        for (int c = 0; c + 1 < h->columns; c++) {
            const int a = r * h->columns + c, b = a + h->columns;
            form_add_face(f, a, a + 1, b + 1);
            form_add_face(f, a, b + 1, b);
        }
    }
}

// ---- signs

void form_polygon(form *f, const v3 *point, int count) {
    const v3 n =
        count > 2 ? v3_normalize(v3_cross(v3_sub(point[1], point[0]), v3_sub(point[2], point[0]))) : v3_make(0, 0, 1);
    for (int i = 0; i < count; i++) {
        form_add_vertex(f, point[i], n);
    }
    for (int i = 1; i + 1 < count; i++) {
        form_add_face(f, 0, i, i + 1);
    }
}

void form_balance(form *f, float radius) {
    form_sphere(f, v3_make(radius, radius, radius), 48);
    f->color = cli_allocate((size_t)f->face_count + 1, sizeof *f->color);
    for (int i = 0; i < f->face_count; i++) {
        v3 c = v3_make(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            c = v3_add(c, f->position[f->face[i][k]]);
        }
        const bool is_dark = ((c.x > 0) != (c.y > 0)) != (c.z > 0);
        f->color[i] = is_dark ? v3_make(0.01f, 0.01f, 0.012f) : v3_make(0.9f, 0.62f, 0.03f);
    }
}

// ---- shapes

bool form_of_shape(form *f, const kk_model *model, const kk_shape_def *s) {
    const float a = (float)s->size[0], b = (float)s->size[1], c = (float)s->size[2];
    kk_mesh_def mesh;
    kk_height_field_def field;
    switch (s->type) {
    case KK_SHAPE_SPHERE: form_sphere(f, v3_make(a, a, a), 56); break;
    case KK_SHAPE_CAPSULE: form_capsule(f, a, b); break;
    case KK_SHAPE_CYLINDER: form_cone(f, a, a, b); break;
    case KK_SHAPE_CONE: form_cone(f, a, 0, b); break;
    case KK_SHAPE_ELLIPSOID: form_sphere(f, v3_make(a, b, c), 56); break;
    case KK_SHAPE_BOX: form_box(f, v3_make(a, b, c)); break;
    case KK_SHAPE_HULL:
    case KK_SHAPE_MESH:
        mesh = kk_model_mesh(model, s->mesh);
        form_mesh(f, &mesh);
        break;
    case KK_SHAPE_HEIGHT_FIELD:
        field = kk_model_height_field(model, s->height_field);
        form_height_field(f, &field);
        break;
    default: return false;
    }
    form_finish(f);
    return f->face_count > 0;
}
