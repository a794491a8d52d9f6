/// Whether the spec compiles, and which bodies overlap with every joint at zero.
#include <karakuri/collision.h>

#include "base/allocator.h"
#include "io/doctor.h"
#include "io/text.h"
#include "model/compile.h"

enum { MOST_OVERLAPS = 4096, MOST_TOLD = 20 };

static const double LEAST_DEPTH = 1e-3;

typedef struct patient {
    kk_model *model;
    kk_data *data;
    double *q;
    kk_overlap *overlap;
    int count;
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
}

static kk_status look(kki_doctor *d, patient *p) {
    const double depth = d->options->least_depth > 0 ? d->options->least_depth : LEAST_DEPTH;
    p->q = kki_allocate_array(&d->allocator, (size_t)kk_model_nq(p->model) + 1, sizeof *p->q);
    p->overlap = kki_allocate_array(&d->allocator, MOST_OVERLAPS, sizeof *p->overlap);
    if (!p->q || !p->overlap) {
        return KK_OUT_OF_MEMORY;
    }
    kk_model_neutral(p->model, p->q);
    kk_couplings_apply(p->model, p->q, NULL);
    kk_kinematics(p->model, p->data, p->q);
    const int count = kk_model_overlaps(p->model, p->data, -depth, p->overlap, MOST_OVERLAPS);
    p->count = count < MOST_OVERLAPS ? count : MOST_OVERLAPS;
    tell_overlaps(d, p);
    return KK_OK;
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
    status = status ? status : kk_data_create(p.model, &doctor->allocator, &p.data);
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
