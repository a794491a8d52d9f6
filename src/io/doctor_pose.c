/// Whether the spec compiles, and which bodies overlap with every joint at zero.
#include <karakuri/collision.h>

#include "base/allocator.h"
#include "base/float_bits.h"
#include "base/sort.h"
#include "collision/query.h"
#include "dynamics/data.h"
#include "geometry/surface.h"
#include "io/doctor.h"
#include "io/text.h"
#include "model/compile.h"

enum {
    MOST_OVERLAPS = 4096,
    MOST_TOLD = 20,
    MOST_TESTS = 100000,
    MOST_LOOKS = 100000000,
    MOST_FACES = 2000000,
    OVERLAPPING = 4
};

static const double LEAST_DEPTH = 1e-3;

typedef struct patient {
    kk_model *model;
    kk_data *data;
    double *q;
    kk_overlap *overlap;
    int count;
    int64_t
        faces; ///< of the meshes that were tested, those that overlap several times: depths take a look at all of them
    bool is_cut; ///< there may be more
} patient;

static const kk_origin *origin_of(const kki_doctor *d, const kk_overlap *o) {
    const kk_origin *shape = &d->spec->shape[o->shape[1]].origin;
    return shape->line ? shape : &d->spec->body[o->body[1]].origin;
}

/// The deepest overlap of the same two bodies is told, the others are not.
static bool is_deepest(const patient *p, int index) {
    const kk_overlap *o = &p->overlap[index];
    for (int i = 0; i < p->count; i++) {
        const kk_overlap *x = &p->overlap[i];
        const bool is_same = x->body[0] == o->body[0] && x->body[1] == o->body[1];
        if (is_same && (x->at.distance < o->at.distance || (x->at.distance == o->at.distance && i < index))) {
            return false;
        }
    }
    return true;
}

static void tell_overlaps(kki_doctor *d, const patient *p) {
    static const kk_origin nowhere = {0};
    int told = 0;
    for (int i = 0; i < p->count; i++) {
        const kk_overlap *o = &p->overlap[i];
        if (!is_deepest(p, i) || told++ >= MOST_TOLD) {
            continue;
        }
        kki_doctor_report(d, KKI_WARNING, false, origin_of(d, o),
                          "exclude the pair, make the shapes smaller, or start in another pose",
                          "bodies '%s' and '%s' overlap by %s mm with every joint at zero",
                          kki_shorten_string(kk_model_body_name(p->model, o->body[0])).text,
                          kki_shorten_string(kk_model_body_name(p->model, o->body[1])).text,
                          KKI_NUMBER(kki_doctor_round(-o->at.distance * 1e3)));
    }
    if (told > MOST_TOLD) {
        kki_doctor_report(d, KKI_WARNING, false, &nowhere, "load it with clean collisions",
                          "%d more pairs of bodies overlap with every joint at zero", told - MOST_TOLD);
    }
    if (p->is_cut) {
        kki_doctor_report(d, KKI_NOTE, false, &nowhere, "move the bodies apart",
                          "so many shapes are in one place that not all pairs of them were looked at");
    }
}

// ---- looking for them

/// What a shape's ball takes up of an axis.
typedef struct stretch {
    double lower, upper;
    kki_ball ball;
    int shape;
} stretch;

/// The axis along which the shapes are spread most.
static int widest_axis(const patient *p) {
    double best = -1;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        double sum = 0, squares = 0, count = 0;
        for (int i = 0; i < p->model->ncollider; i++) {
            const double x = kk_vec3_get(kki_shape_ball(p->model, p->data, p->model->collider[i]).center, k);
            if (kki_is_finite(x)) {
                sum += x;
                squares += x * x;
                count++;
            }
        }
        const double spread = count > 0 ? squares - sum * sum / count : 0;
        if (spread > best) {
            best = spread;
            axis = k;
        }
    }
    return axis;
}

/// Rising doubles as rising numbers; none comes first.
static uint64_t key_of(double x) {
    const uint64_t bits = kki_is_nan(x) ? KKI_INFINITY_BITS | KKI_SIGN_BIT : kki_bits(x);
    return bits & KKI_SIGN_BIT ? ~bits : bits | KKI_SIGN_BIT;
}

static void make_stretches(const patient *p, int axis, stretch *by_lower, kki_sort_item *item) {
    const int n = p->model->ncollider;
    for (int i = 0; i < n; i++) {
        const kki_ball b = kki_shape_ball(p->model, p->data, p->model->collider[i]);
        item[i] = (kki_sort_item){key_of(kk_vec3_get(b.center, axis) - b.radius), (uint64_t)i};
    }
    kki_sort(item, (size_t)n, item + n);
    for (int i = 0; i < n; i++) {
        const int shape = p->model->collider[item[i].payload];
        const kki_ball b = kki_shape_ball(p->model, p->data, shape);
        by_lower[i] =
            (stretch){kk_vec3_get(b.center, axis) - b.radius, kk_vec3_get(b.center, axis) + b.radius, b, shape};
    }
}

static bool are_balls_near(const stretch *a, const stretch *b) {
    return !(kk_vec3_norm(kk_vec3_sub(a->ball.center, b->ball.center)) > a->ball.radius + b->ball.radius);
}

static int faces_of(const kk_model *m, int shape) {
    const kki_surface *surface = m->shape[shape].shape.surface;
    return surface ? surface->face_count : 0;
}

/// One pair; true where it was near enough to be tested.
static bool look_at(patient *p, const stretch *x, const stretch *y, double reach) {
    const int a = x->shape < y->shape ? x->shape : y->shape, b = x->shape + y->shape - a;
    if (!are_balls_near(x, y) || !kki_model_pair_may_touch(p->model, a, b, NULL)) {
        return false;
    }
    const bool overlap = kki_shapes_overlap(p->model, p->data, a, b, reach, &p->overlap[p->count]);
    p->faces += (overlap ? OVERLAPPING : 1) * (faces_of(p->model, a) + faces_of(p->model, b));
    p->count += overlap;
    return true;
}

/// Pairs whose stretches meet, in the order in which they begin. Bounds keep a heap of shapes in one place from taking
/// for ever: the first overlaps tell enough.
static void sweep(patient *p, const stretch *by_lower, double reach) {
    const int n = p->model->ncollider;
    int64_t looks = 0, tests = 0;
    for (int i = 0; i < n && !p->is_cut; i++) {
        for (int j = i + 1; j < n && !(by_lower[j].lower > by_lower[i].upper) && !p->is_cut; j++) {
            tests += look_at(p, &by_lower[i], &by_lower[j], reach);
            p->is_cut =
                p->count == MOST_OVERLAPS || tests == MOST_TESTS || ++looks == MOST_LOOKS || p->faces > MOST_FACES;
        }
    }
}

static kk_status find_overlaps(kki_doctor *d, patient *p, double reach) {
    const size_t n = (size_t)p->model->ncollider + 1;
    stretch *by_lower = kki_allocate_array(&d->allocator, n, sizeof *by_lower);
    kki_sort_item *item = kki_allocate_array(&d->allocator, 2 * n, sizeof *item);
    const bool has_memory = by_lower && item;
    if (has_memory) {
        make_stretches(p, widest_axis(p), by_lower, item);
        sweep(p, by_lower, reach);
    }
    kki_release_array(&d->allocator, item, 2 * n, sizeof *item);
    kki_release_array(&d->allocator, by_lower, n, sizeof *by_lower);
    return has_memory ? KK_OK : KK_OUT_OF_MEMORY;
}

static kk_status look(kki_doctor *d, patient *p) {
    const double depth = d->options->least_depth > 0 ? d->options->least_depth : LEAST_DEPTH;
    p->q = kki_allocate_array(&d->allocator, (size_t)kk_model_nq(p->model) + 1, sizeof *p->q);
    p->overlap = kki_allocate_array(&d->allocator, MOST_OVERLAPS, sizeof *p->overlap);
    if (!p->q || !p->overlap) {
        return KK_OUT_OF_MEMORY;
    }
    kk_model_start(p->model, p->q);
    kk_couplings_apply(p->model, p->q, NULL);
    kk_kinematics(p->model, p->data, p->q);
    const kk_status status = find_overlaps(d, p, -depth);
    if (status == KK_OK) {
        tell_overlaps(d, p);
    }
    return status;
}

kk_status kki_doctor_pose(kki_doctor *doctor) {
    patient p = {0};
    kk_error error = {.status = KK_OK};
    kk_status status = kk_model_compile(doctor->spec, &doctor->allocator, &p.model, &error);
    if (status != KK_OK && status != KK_OUT_OF_MEMORY) {
        // where the list has it, it has been told already
        if (!doctor->list->has_error) {
            kki_diagnostics_add_error(doctor->list, &error);
        }
        return KK_OK;
    }
    status = status ? status : kki_data_create_for_poses(p.model, &doctor->allocator, &p.data);
    status = status ? status : look(doctor, &p);
    if (p.q) {
        kki_release_array(&doctor->allocator, p.q, (size_t)kk_model_nq(p.model) + 1, sizeof *p.q);
    }
    if (p.overlap) {
        kki_release_array(&doctor->allocator, p.overlap, MOST_OVERLAPS, sizeof *p.overlap);
    }
    kk_data_free(p.data);
    kk_model_free(p.model);
    return status;
}
