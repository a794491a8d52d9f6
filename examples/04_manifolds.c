// Where two bodies touch: contact points and normals of a dozen pairs of shapes, drawn into manifolds.svg.
//
// Each pair overlaps or lies a hair apart. Dots are the points, strokes the direction in which the lower body pushes the upper one.
#include <karakuri/karakuri.h>

#include <math.h>
#include <stdio.h>

enum { PAIRS = 12, COLUMNS = 4, WIDTH = 230, HEIGHT = 210, ROOM = 16, CELLS = 6, LINE = CELLS + 1 };

// ---- shapes

typedef struct body {
    kk_shape_type type;
    double size[3];
    double rpy[3], place[3];
} body;

typedef struct pair {
    const char *title;
    body lower, upper;
} pair;

#define DEGREES(x, y, z) \
    { (x) * 0.017453292519943295, (y)*0.017453292519943295, (z)*0.017453292519943295 }
#define FLOOR                                   \
    {                                           \
        KK_SHAPE_PLANE, {0, 0, 0}, {0, 0, 0}, { \
            0, 0, 0                             \
        }                                       \
    }
#define BLOCK                                       \
    {                                               \
        KK_SHAPE_BOX, {1.6, 1.2, 0.5}, {0, 0, 0}, { \
            0, 0, -0.25                             \
        }                                           \
    }
#define HILLS                                  \
    {                                          \
        KK_SHAPE_MESH, {0, 0, 0}, {0, 0, 0}, { \
            0, 0, 0                            \
        }                                      \
    }

static const pair PAIR[PAIRS] = {
    {"box on plane", FLOOR, {KK_SHAPE_BOX, {1, 0.8, 0.6}, DEGREES(0, 0, 25), {0, 0, 0.299}}},
    {"box over the edge of a box", BLOCK, {KK_SHAPE_BOX, {0.9, 0.7, 0.5}, DEGREES(0, 0, 30), {0.6, 0.3, 0.249}}},
    {"edge across edge",
     {KK_SHAPE_BOX, {1.6, 0.7, 0.7}, DEGREES(45, 0, 0), {0, 0, -0.495}},
     {KK_SHAPE_BOX, {0.7, 1.6, 0.7}, DEGREES(0, 45, 0), {0, 0, 0.494}}},
    {"sphere on box", BLOCK, {KK_SHAPE_SPHERE, {0.5, 0, 0}, {0, 0, 0}, {0.2, 0.1, 0.499}}},
    {"capsule on box", BLOCK, {KK_SHAPE_CAPSULE, {0.25, 1.3, 0}, DEGREES(90, 0, 60), {0.1, 0, 0.249}}},
    {"capsule across capsule",
     {KK_SHAPE_CAPSULE, {0.3, 1.2, 0}, DEGREES(90, 0, 0), {0, 0, -0.3}},
     {KK_SHAPE_CAPSULE, {0.3, 1.2, 0}, DEGREES(90, 0, 70), {0, 0, 0.298}}},
    {"cylinder upright", FLOOR, {KK_SHAPE_CYLINDER, {0.5, 0.8, 0}, {0, 0, 0}, {0, 0, 0.399}}},
    {"cylinder lying over an edge", BLOCK, {KK_SHAPE_CYLINDER, {0.3, 1.2, 0}, DEGREES(90, 0, 70), {0.6, 0, 0.299}}},
    {"cone on its side", FLOOR, {KK_SHAPE_CONE, {0.5, 1, 0}, DEGREES(116.56505117707799, 0, 40), {0, 0, 0.2225}}},
    {"ellipsoid on box", BLOCK, {KK_SHAPE_ELLIPSOID, {0.7, 0.45, 0.3}, {0, 0, 0}, {0, 0.1, 0.299}}},
    {"box on a mesh of hills", HILLS, {KK_SHAPE_BOX, {0.8, 0.8, 0.5}, DEGREES(0, 0, 20), {0.3, 0.3, 1}}},
    {"sphere on a mesh of hills", HILLS, {KK_SHAPE_SPHERE, {0.3, 0, 0}, {0, 0, 0}, {0.6, 0, 1}}},
};

static kk_vec3 hill_vertex[LINE * LINE];
static int32_t hill_face[2 * CELLS * CELLS][3];

static void make_hills(void) {
    for (int i = 0; i < LINE * LINE; i++) {
        const int column = i % LINE - CELLS / 2, row = i / LINE - CELLS / 2;
        const double x = 0.3 * column, y = 0.3 * row;
        hill_vertex[i] = kk_vec3_make(x, y, 0.2 * cos(5 * x) * cos(5 * y));
    }
    for (int i = 0; i < CELLS * CELLS; i++) {
        const int32_t a = i / CELLS * LINE + i % CELLS, b = a + 1, c = b + LINE, d = a + LINE;
        hill_face[2 * i][0] = a, hill_face[2 * i][1] = b, hill_face[2 * i][2] = c;
        hill_face[2 * i + 1][0] = a, hill_face[2 * i + 1][1] = c, hill_face[2 * i + 1][2] = d;
    }
}

static kk_geometry *geometry_of(const body *b) {
    kk_shape_def shape = kk_shape_def_default();
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "hills";
    mesh.vertex = hill_vertex, mesh.vertex_count = LINE * LINE;
    mesh.face = (const int32_t(*)[3])hill_face, mesh.face_count = 2 * CELLS * CELLS;
    shape.type = b->type;
    for (int k = 0; k < 3; k++) {
        shape.size[k] = b->size[k];
    }
    kk_geometry *g = NULL;
    kk_error error = {0};
    if (kk_geometry_create(&shape, &mesh, NULL, NULL, &g, &error) != KK_OK) {
        fprintf(stderr, "%s\n", error.text);
    }
    return g;
}

// ---- drawing

typedef struct canvas {
    FILE *file;
    double x, y; // middle of the panel
    kk_transform pose;
} canvas;

static void project(const canvas *c, kk_vec3 p, double *x, double *y) {
    *x = c->x + 72 * (0.82 * p.x - 0.57 * p.y);
    *y = c->y + 72 * (0.30 * p.x + 0.43 * p.y - 0.85 * p.z);
}

static void stroke(const canvas *c, kk_vec3 p, kk_vec3 q) {
    double x[2], y[2];
    project(c, kk_transform_point(c->pose, p), &x[0], &y[0]);
    project(c, kk_transform_point(c->pose, q), &x[1], &y[1]);
    fprintf(c->file, "M%.1f %.1fL%.1f %.1f", x[0], y[0], x[1], y[1]);
}

// an ellipse about `o` with half axes u and v
static void ellipse(const canvas *c, kk_vec3 o, kk_vec3 u, kk_vec3 v) {
    kk_vec3 last = kk_vec3_add(o, u);
    for (int i = 1; i <= 40; i++) {
        const double a = 2 * 3.14159265358979323846 * i / 40;
        const kk_vec3 p = kk_vec3_add(o, kk_vec3_add(kk_vec3_scale(u, cos(a)), kk_vec3_scale(v, sin(a))));
        stroke(c, last, p);
        last = p;
    }
}

static void ellipsoid(const canvas *c, kk_vec3 o, double x, double y, double z) {
    const kk_vec3 u = {x, 0, 0}, v = {0, y, 0}, w = {0, 0, z};
    ellipse(c, o, u, v);
    ellipse(c, o, v, w);
    ellipse(c, o, w, u);
}

// two rings and the lines between them
static void tube(const canvas *c, double r_low, double r_high, double half) {
    for (int i = 0; i < 2; i++) {
        const double r = i ? r_high : r_low;
        ellipse(c, kk_vec3_make(0, 0, i ? half : -half), kk_vec3_make(r, 0, 0), kk_vec3_make(0, r, 0));
    }
    for (int i = 0; i < 8; i++) {
        const double x = cos(i * 0.78539816339744831), y = sin(i * 0.78539816339744831);
        stroke(c, kk_vec3_make(r_low * x, r_low * y, -half), kk_vec3_make(r_high * x, r_high * y, half));
    }
}

static void box(const canvas *c, const double size[3]) {
    for (int i = 0; i < 8; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double p[3], q[3];
            for (int k = 0; k < 3; k++) {
                p[k] = q[k] = (i >> k & 1 ? 0.5 : -0.5) * size[k];
            }
            q[axis] = -q[axis];
            if (i >> axis & 1) {
                stroke(c, kk_vec3_make(p[0], p[1], p[2]), kk_vec3_make(q[0], q[1], q[2]));
            }
        }
    }
}

static void mesh(const canvas *c) {
    for (int i = 0; i < 2 * CELLS * CELLS; i++) {
        for (int k = 0; k < 3; k++) {
            stroke(c, hill_vertex[hill_face[i][k]], hill_vertex[hill_face[i][(k + 1) % 3]]);
        }
    }
}

static void plane(const canvas *c) {
    for (int i = -2; i <= 2; i++) {
        stroke(c, kk_vec3_make(0.4 * i, -0.8, 0), kk_vec3_make(0.4 * i, 0.8, 0));
        stroke(c, kk_vec3_make(-0.8, 0.4 * i, 0), kk_vec3_make(0.8, 0.4 * i, 0));
    }
}

static void draw(const canvas *c, const body *b, const char *color) {
    const double *s = b->size;
    fprintf(c->file, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"0.8\" d=\"", color);
    switch (b->type) {
    case KK_SHAPE_PLANE: plane(c); break;
    case KK_SHAPE_SPHERE: ellipsoid(c, kk_vec3_make(0, 0, 0), s[0], s[0], s[0]); break;
    case KK_SHAPE_ELLIPSOID: ellipsoid(c, kk_vec3_make(0, 0, 0), s[0], s[1], s[2]); break;
    case KK_SHAPE_CYLINDER: tube(c, s[0], s[0], 0.5 * s[1]); break;
    case KK_SHAPE_CONE: tube(c, s[0], 0, 0.5 * s[1]); break;
    case KK_SHAPE_CAPSULE:
        tube(c, s[0], s[0], 0.5 * s[1]);
        ellipsoid(c, kk_vec3_make(0, 0, -0.5 * s[1]), s[0], s[0], s[0]);
        ellipsoid(c, kk_vec3_make(0, 0, 0.5 * s[1]), s[0], s[0], s[0]);
        break;
    case KK_SHAPE_BOX: box(c, s); break;
    default: mesh(c);
    }
    fprintf(c->file, "\"/>\n");
}

static void draw_point(const canvas *c, kk_vec3 position, kk_vec3 normal) {
    double x[2], y[2];
    project(c, position, &x[0], &y[0]);
    project(c, kk_vec3_add(position, kk_vec3_scale(normal, 0.35)), &x[1], &y[1]);
    fprintf(c->file, "<path stroke=\"#c22\" stroke-width=\"1.4\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x[0], y[0], x[1], y[1]);
    fprintf(c->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.8\" fill=\"#c22\"/>\n", x[0], y[0]);
}

// ---- one pair

static kk_placed placed(const kk_geometry *g, const body *b) {
    const kk_mat3 R = kk_mat3_from_rpy(b->rpy[0], b->rpy[1], b->rpy[2]);
    return (kk_placed){
        g, kk_transform_make(R, kk_vec3_make(b->place[0], b->place[1], b->place[2])), {{0, 0, 0}, {0, 0, 0}}};
}

// a point is right where it lies on both bodies, to the overlap
static int is_on_both(const kk_placed *a, const kk_placed *b, const kk_manifold *m, int k) {
    kk_separation s[2];
    const kk_vec3 on_a = m->point[k].position, on_b = kk_vec3_add(on_a, kk_vec3_scale(m->normal, m->point[k].gap));
    return kk_placed_point(a, on_a, &s[0]) == KK_OK && kk_placed_point(b, on_b, &s[1]) == KK_OK &&
           fabs(s[0].distance) < 2e-2 && fabs(s[1].distance) < 2e-2;
}

// moves the upper body straight down until it touches, and a hair farther
static void let_down(const kk_placed *lower, kk_placed *upper) {
    kk_impact impact;
    upper->velocity.linear = kk_vec3_make(0, 0, -1);
    if (kk_placed_impact(lower, upper, 1, &impact) == KK_OK && impact.kind == KK_IMPACT_HIT) {
        upper->pose.p.z -= impact.time + 1e-3;
    }
}

static int draw_pair(FILE *file, int number) {
    const pair *p = &PAIR[number];
    kk_geometry *lower = geometry_of(&p->lower), *upper = geometry_of(&p->upper);
    kk_manifold m[ROOM];
    const kk_placed a = placed(lower, &p->lower);
    kk_placed b = placed(upper, &p->upper);
    if (p->lower.type == KK_SHAPE_MESH) {
        let_down(&a, &b);
    }
    const int manifolds = lower && upper ? kk_placed_manifolds(&a, &b, 6e-3, m, ROOM) : 0;
    const int column = number % COLUMNS, row = number / COLUMNS;
    canvas c = {file, WIDTH * (column + 0.5), HEIGHT * (row + 0.5) + 14, a.pose};
    draw(&c, &p->lower, "#888");
    c.pose = b.pose;
    draw(&c, &p->upper, "#2a5db0");
    int count = 0, good = manifolds > 0;
    for (int i = 0; i < manifolds; i++) {
        for (int k = 0; k < m[i].count; k++) {
            draw_point(&c, m[i].point[k].position, m[i].normal);
            good &= is_on_both(&a, &b, &m[i], k);
            count++;
        }
    }
    fprintf(file, "<text x=\"%g\" y=\"%g\">%s: %d</text>\n", c.x, c.y - HEIGHT * 0.5 + 6, p->title, count);
    printf("%-32s %d points%s\n", p->title, count, good ? "" : "  WRONG");
    kk_geometry_free(lower);
    kk_geometry_free(upper);
    return good;
}

int main(void) {
    FILE *file = fopen("manifolds.svg", "w");
    if (!file) {
        perror("manifolds.svg");
        return 1;
    }
    make_hills();
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\">\n", WIDTH * COLUMNS,
            HEIGHT * PAIRS / COLUMNS);
    fprintf(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<g font-family=\"sans-serif\" "
                  "font-size=\"12\" text-anchor=\"middle\">\n");
    int good = 1;
    for (int i = 0; i < PAIRS; i++) {
        good &= draw_pair(file, i);
    }
    fprintf(file, "</g>\n</svg>\n");
    good &= fclose(file) == 0;
    printf("%s\n", good ? "every point lies on both bodies" : "something is wrong");
    return good ? 0 : 1;
}
