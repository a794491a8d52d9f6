/// What the compilation still refuses after all other repairs, one thing after another.
///
/// A joint whose motion nothing resists gets an armature: a millionth of the robot's mass at a centimetre, which is what a
/// link without inertia gets. A loop, coupling, tendon, actuator, sensor, pair or keyframe that cannot be made is left out.
/// Each is found by the place that the compilation names; what has no place or is found twice stays as it is, and is told.
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "io/doctor.h"
#include "io/text.h"
#include "model/compile.h"
#include "model/joint.h"

enum { MOST_TREATMENTS = 256 };

static const double SHARE_OF_MASS = 1e-6, RADIUS = 0.01;

static bool is_there(const kk_error *e, const kk_origin *o) {
    return o->line > 0 && e->line == o->line && e->column == o->column && o->file && strcmp(e->file, o->file) == 0;
}

// ---- joints

static double least_armature(const kk_spec *s) {
    double mass = 0;
    for (int i = 1; i < s->nbody; i++) {
        mass += s->body[i].inertia.mass;
    }
    return SHARE_OF_MASS * (mass > 0 ? mass : 1) * RADIUS * RADIUS;
}

/// The joint that the error names; copies of a file's element share its place.
static kk_body_def *find_joint(const kki_doctor *d, const kk_error *e) {
    for (int i = 1; i < d->spec->nbody; i++) {
        const kk_joint_def *j = &d->spec->body[i].joint;
        char name[KK_ERROR_TEXT_SIZE];
        snprintf(name, sizeof name, "joint \"%.200s\": ", j->name ? j->name : "");
        if (strncmp(e->text, name, strlen(name)) == 0) {
            return &d->spec->body[i];
        }
    }
    return NULL;
}

static void add_armature(kki_doctor *d, kk_body_def *b, double armature) {
    kk_joint_def *j = &b->joint;
    const int n = kki_joint_type_of(j->type)->nv;
    for (int k = 0; k < n; k++) {
        j->dof[k].armature +=
            j->type == KK_JOINT_SLIDE || (j->type == KK_JOINT_FREE && k >= 3) ? armature / (RADIUS * RADIUS) : armature;
    }
    // the joint of a floating base stands in no file
    kki_doctor_report(d, KKI_ERROR, true, j->origin.line ? &j->origin : &b->origin,
                      "give the bodies behind it an inertia",
                      "joint '%s': nothing resists its motion; it gets a little armature",
                      kki_shorten_string(j->name ? j->name : "").text);
}

static bool strengthen(kki_doctor *d, const kk_error *e) {
    kk_body_def *b = strstr(e->text, "armature") ? find_joint(d, e) : NULL;
    if (!b || b->joint.dof[0].armature > 0) {
        return false;
    }
    add_armature(d, b, least_armature(d->spec));
    return true;
}

/// Joints that move nothing, all at once: there may be many, and the compilation names one.
static kk_status strengthen_idle(kki_doctor *d) {
    const size_t count = (size_t)d->spec->nbody;
    double *mass = kki_allocate_array(&d->allocator, count, sizeof *mass);
    if (!mass) {
        return KK_OUT_OF_MEMORY;
    }
    kki_mass_behind(d->spec, mass);
    const double armature = least_armature(d->spec);
    for (int i = 1; i < d->spec->nbody; i++) {
        if (kki_moves_nothing(&d->spec->body[i].joint, mass[i])) {
            add_armature(d, &d->spec->body[i], armature);
        }
    }
    kki_release_array(&d->allocator, mass, count, sizeof *mass);
    return KK_OK;
}

// ---- what can be left out

#define LEAVE_OUT(d, e, kind)                                                                                 \
    for (int i_ = 0; i_ < (d)->spec->n##kind; i_++) {                                                         \
        if (is_there((e), &(d)->spec->kind[i_].origin)) {                                                     \
            const kk_origin origin_ = (d)->spec->kind[i_].origin;                                             \
            const size_t rest_ = (size_t)((d)->spec->n##kind - 1 - i_);                                       \
            memmove(&(d)->spec->kind[i_], &(d)->spec->kind[i_ + 1], rest_ * sizeof *(d)->spec->kind);         \
            (d)->spec->n##kind--;                                                                             \
            kki_doctor_report((d), KKI_ERROR, true, &origin_, "correct it", "%s; it is left out", (e)->text); \
            return true;                                                                                      \
        }                                                                                                     \
    }

static bool leave_out(kki_doctor *d, const kk_error *e) {
    LEAVE_OUT(d, e, loop)
    LEAVE_OUT(d, e, coupling)
    LEAVE_OUT(d, e, tendon)
    LEAVE_OUT(d, e, sensor)
    LEAVE_OUT(d, e, actuator)
    LEAVE_OUT(d, e, pair)
    LEAVE_OUT(d, e, exclude)
    LEAVE_OUT(d, e, material_pair)
    LEAVE_OUT(d, e, keyframe)
    return false;
}

kk_status kki_doctor_treat(kki_doctor *doctor) {
    const kk_status idle = doctor->options->repair ? strengthen_idle(doctor) : KK_OK;
    if (idle != KK_OK) {
        return idle;
    }
    for (int i = 0; i < MOST_TREATMENTS && doctor->options->repair && !doctor->list->has_error; i++) {
        kk_model *model = NULL;
        kk_error error = {.status = KK_OK};
        const kk_status status = kk_model_compile(doctor->spec, &doctor->allocator, &model, &error);
        kk_model_free(model);
        if (status == KK_OK || status == KK_OUT_OF_MEMORY) {
            return status;
        }
        if (!strengthen(doctor, &error) && !leave_out(doctor, &error)) {
            return KK_OK;
        }
    }
    return KK_OK;
}
