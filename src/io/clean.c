/// Leaves out the pairs of bodies whose collisions tell nothing: those that touch in every pose, which are drawn into each
/// other, and those that touch in none.
///
/// Poses are drawn at random within the joints' limits, the zero pose first; bodies are compared by the boxes around their
/// shapes (separating axes of two boxes: Gottschalk, Lin, Manocha 1996). A box is larger than its shape, so that "never"
/// is on the safe side; "always" is not, and is taken only where it holds in the zero pose and in all the others. Bodies
/// that a joint joins need no exclusion, they do not touch anyway.
#include <karakuri/dynamics.h>

#include "base/allocator.h"
#include "base/error.h"
#include "dynamics/data.h"
#include "io/standing.h"

enum { POSES = 200, MOST_PAIRS = 2000000, SEED = 1 };

typedef struct box {
    kk_transform X_BS; ///< of its center
    kk_vec3 half;
    int body;
} box;

typedef struct cleaning {
    kki_loader *loader;
    const kk_spec *spec;
    kk_model *model;
    kk_data *data;
    double *q;
    box *boxes;        ///< [box_count] in the order of bodies
    kk_transform *X_W; ///< [box_count]
    int box_count;
    int *first;        ///< [nbody + 1] boxes of each body
    uint16_t *touches; ///< [nbody × nbody] in how many poses; above the diagonal
} cleaning;

static double component(kk_vec3 v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/// Half the length of a box's shadow on a direction.
static double shadow(const kk_transform *X, kk_vec3 half, kk_vec3 direction) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += component(half, i) * __builtin_fabs(kk_vec3_dot(kk_mat3_column(X->R, i), direction));
    }
    return sum;
}

static bool is_apart(const kk_transform *A, kk_vec3 a, const kk_transform *B, kk_vec3 b, kk_vec3 axis) {
    const double distance = __builtin_fabs(kk_vec3_dot(kk_vec3_sub(B->p, A->p), axis));
    return distance > shadow(A, a, axis) + shadow(B, b, axis);
}

static bool boxes_touch(const kk_transform *A, kk_vec3 a, const kk_transform *B, kk_vec3 b) {
    for (int i = 0; i < 3; i++) {
        const kk_vec3 u = kk_mat3_column(A->R, i), v = kk_mat3_column(B->R, i);
        if (is_apart(A, a, B, b, u) || is_apart(A, a, B, b, v)) {
            return false;
        }
    }
    for (int i = 0; i < 9; i++) {
        const kk_vec3 n = kk_vec3_cross(kk_mat3_column(A->R, i / 3), kk_mat3_column(B->R, i % 3));
        // nearly parallel edges tell nothing new, and only rounding
        if (kk_vec3_dot(n, n) > 1e-12 && is_apart(A, a, B, b, n)) {
            return false;
        }
    }
    return true;
}

// ---- boxes

/// Boxes sorted by body: counted, then placed.
static void fill_boxes(cleaning *c) {
    const kk_spec *s = c->spec;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->nshape; i++) {
            const kk_shape_def *shape = &s->shape[i];
            kk_vec3 center, half;
            if (!(shape->purpose & KK_SHAPE_COLLIDES) || !kki_shape_box(s, shape, &center, &half)) {
                continue;
            }
            if (pass == 0) {
                c->first[shape->body + 1]++;
                continue;
            }
            const kk_vec3 m = {shape->margin, shape->margin, shape->margin};
            const kk_transform X =
                kk_transform_mul(shape->placement, kk_transform_translation(center.x, center.y, center.z));
            c->boxes[c->first[shape->body]++] = (box){X, kk_vec3_add(half, m), shape->body};
        }
        for (int b = 0; b < s->nbody && pass == 0; b++) {
            c->first[b + 1] += c->first[b];
        }
    }
    // placing moved each start to the next one's
    for (int b = s->nbody; b > 0; b--) {
        c->first[b] = c->first[b - 1];
    }
    c->first[0] = 0;
    c->box_count = c->first[s->nbody];
}

static bool bodies_touch(const cleaning *c, int a, int b) {
    for (int i = c->first[a]; i < c->first[a + 1]; i++) {
        for (int j = c->first[b]; j < c->first[b + 1]; j++) {
            if (boxes_touch(&c->X_W[i], c->boxes[i].half, &c->X_W[j], c->boxes[j].half)) {
                return true;
            }
        }
    }
    return false;
}

// ---- poses

static void count_touches(cleaning *c) {
    const int n = c->spec->nbody;
    kk_kinematics(c->model, c->data, c->q);
    for (int i = 0; i < c->box_count; i++) {
        c->X_W[i] = kk_transform_mul(kk_body_pose(c->model, c->data, c->boxes[i].body), c->boxes[i].X_BS);
    }
    for (int a = 1; a < n; a++) {
        for (int b = a + 1; b < n; b++) {
            c->touches[(size_t)a * (size_t)n + (size_t)b] += bodies_touch(c, a, b);
        }
    }
}

/// Bases stay where they are: they move all of a robot alike.
static void draw_pose(cleaning *c, int pose) {
    kk_model_random_q(c->model, SEED, (uint64_t)pose, c->q);
    for (int b = 1; b < c->spec->nbody; b++) {
        const kk_joint_info joint = kk_model_joint(c->model, b);
        if (joint.type == KK_JOINT_FREE) {
            for (int i = 0; i < 7; i++) {
                c->q[joint.q_index + i] = i == 0;
            }
        }
    }
    kk_couplings_apply(c->model, c->q, NULL);
}

static bool are_joined(const kk_spec *s, int a, int b) {
    return s->body[a].parent == b || s->body[b].parent == a;
}

static kk_status exclude_pairs(cleaning *c) {
    const int n = c->spec->nbody;
    kk_status status = KK_OK;
    kk_error error = {.status = KK_OK};
    for (int a = 1; a < n; a++) {
        for (int b = a + 1; b < n && status == KK_OK; b++) {
            const int touches = c->touches[(size_t)a * (size_t)n + (size_t)b];
            const bool has_boxes = c->first[a] < c->first[a + 1] && c->first[b] < c->first[b + 1];
            if (has_boxes && !are_joined(c->spec, a, b) && (touches == 0 || touches == POSES)) {
                const kk_exclude_def def = {.body = {a, b}};
                status = kk_spec_add_exclude(c->loader->spec, &def, NULL, &error);
            }
        }
    }
    if (status != KK_OK) {
        kki_diagnostics_add_error(c->loader->diagnostics, &error);
    }
    return status;
}

// ---- the whole

static bool allocate(cleaning *c) {
    const kk_allocator *a = &c->loader->allocator;
    const size_t n = (size_t)c->spec->nbody, shapes = (size_t)c->spec->nshape;
    c->q = kki_allocate_array_zeroed(a, (size_t)kk_model_nq(c->model), sizeof *c->q);
    c->boxes = kki_allocate_array(a, shapes, sizeof *c->boxes);
    c->X_W = kki_allocate_array(a, shapes, sizeof *c->X_W);
    c->first = kki_allocate_array_zeroed(a, n + 1, sizeof *c->first);
    c->touches = kki_allocate_array_zeroed(a, n * n, sizeof *c->touches);
    return c->q && c->boxes && c->X_W && c->first && c->touches;
}

static void release(cleaning *c) {
    const kk_allocator *a = &c->loader->allocator;
    const size_t n = (size_t)c->spec->nbody, shapes = (size_t)c->spec->nshape;
    if (c->model) {
        kki_release_array(a, c->q, (size_t)kk_model_nq(c->model), sizeof *c->q);
    }
    kki_release_array(a, c->boxes, shapes, sizeof *c->boxes);
    kki_release_array(a, c->X_W, shapes, sizeof *c->X_W);
    kki_release_array(a, c->first, n + 1, sizeof *c->first);
    kki_release_array(a, c->touches, n * n, sizeof *c->touches);
    kk_data_free(c->data);
    kk_model_free(c->model);
}

static kk_status run(cleaning *c) {
    kk_error error = {.status = KK_OK};
    kk_status status = kk_model_compile(c->spec, &c->loader->allocator, &c->model, &error);
    status = status ? status : kki_data_create_for_poses(c->model, &c->loader->allocator, &c->data);
    if (status == KK_OK && !allocate(c)) {
        status = KK_OUT_OF_MEMORY;
    }
    if (status != KK_OK) {
        if (error.status == KK_OK) {
            kki_error_set(&error, status, "no memory to compare the shapes");
        }
        return kki_diagnostics_add_error(c->loader->diagnostics, &error);
    }
    fill_boxes(c);
    kk_model_start(c->model, c->q);
    count_touches(c);
    for (int pose = 1; pose < POSES; pose++) {
        draw_pose(c, pose);
        count_touches(c);
    }
    return exclude_pairs(c);
}

kk_status kki_clean_collisions(kki_loader *loader) {
    cleaning c = {.loader = loader, .spec = loader->spec};
    if ((double)c.spec->nbody * c.spec->nbody > MOST_PAIRS) {
        kki_diagnostics_add(loader->diagnostics,
                            &(kki_finding){.severity = KKI_NOTE,
                                           .file = loader->path,
                                           .text = "there are too many bodies to find the pairs that never touch",
                                           .remedy = ""});
        return KK_OK;
    }
    const kk_status status = run(&c);
    release(&c);
    return status;
}
