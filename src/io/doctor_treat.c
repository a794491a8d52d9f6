/// What the compilation still refuses after all other repairs, one thing after another.
///
/// A joint whose motion nothing resists gets an armature: a millionth of the robot's mass at a centimeter, which is what a
/// link without inertia gets. A loop, coupling, tendon, actuator, sensor, pair or keyframe that cannot be made is left out.
/// Each is found by the place that the compilation names; what has no place or is found twice stays as it is, and is told.
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/doctor.h"
#include "io/text.h"
#include "model/compile.h"
#include "model/joint.h"

/// After so many faults of one element its other copies are treated at once: every compilation costs the whole model.
enum { MOST_TREATMENTS = 256, MANY_COPIES = 7 };

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
        kki_print(name, sizeof name, "joint \"%.200s\": ", j->name ? j->name : "");
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

static bool strengthen(kki_doctor *d, const kk_error *e, bool all) {
    kk_body_def *b = strstr(e->text, "armature") ? find_joint(d, e) : NULL;
    if (!b || b->joint.dof[0].armature > 0) {
        return false;
    }
    const double armature = least_armature(d->spec);
    add_armature(d, b, armature);
    for (int i = 1; i < d->spec->nbody && all; i++) {
        kk_joint_def *j = &d->spec->body[i].joint;
        if (is_there(e, &j->origin) && kki_joint_type_of(j->type)->nv > 0 && j->dof[0].armature == 0) {
            add_armature(d, &d->spec->body[i], armature);
        }
    }
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

static void tell_left_out(kki_doctor *d, const kk_error *e, const kk_origin *origin, int count) {
    if (count == 1) {
        kki_doctor_report(d, KKI_ERROR, true, origin, "correct it", "%s; it is left out", e->text);
    } else {
        kki_doctor_report(d, KKI_ERROR, true, origin, "correct it", "%s; it is left out, with %d more of this place",
                          e->text, count - 1);
    }
}

/// The first one of the place that the error names, or all of them.
#define LEAVER(kind)                                                           \
    static bool leave_##kind(kki_doctor *d, const kk_error *e, bool all) {     \
        int kept = 0, left = 0;                                                \
        kk_origin origin = {0};                                                \
        for (int i = 0; i < d->spec->n##kind; i++) {                           \
            if ((all || left == 0) && is_there(e, &d->spec->kind[i].origin)) { \
                origin = d->spec->kind[i].origin;                              \
                left++;                                                        \
            } else {                                                           \
                d->spec->kind[kept++] = d->spec->kind[i];                      \
            }                                                                  \
        }                                                                      \
        d->spec->n##kind = kept;                                               \
        if (left > 0) {                                                        \
            tell_left_out(d, e, &origin, left);                                \
        }                                                                      \
        return left > 0;                                                       \
    }

LEAVER(loop)
LEAVER(coupling)
LEAVER(tendon)
LEAVER(sensor)
LEAVER(actuator)
LEAVER(pair)
LEAVER(exclude)
LEAVER(material_pair)
LEAVER(keyframe)

static bool leave_out(kki_doctor *d, const kk_error *e, bool all) {
    return leave_loop(d, e, all) || leave_coupling(d, e, all) || leave_tendon(d, e, all) || leave_sensor(d, e, all) ||
           leave_actuator(d, e, all) || leave_pair(d, e, all) || leave_exclude(d, e, all) ||
           leave_material_pair(d, e, all) || leave_keyframe(d, e, all);
}

static bool is_same_place(const kk_error *a, const kk_error *b) {
    return a->line > 0 && a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0;
}

kk_status kki_doctor_treat(kki_doctor *doctor) {
    const kk_status idle = doctor->options->repair ? strengthen_idle(doctor) : KK_OK;
    if (idle != KK_OK) {
        return idle;
    }
    kk_error last = {.status = KK_OK};
    int same = 0; // copies of one element, one after the other
    for (int i = 0; i < MOST_TREATMENTS && doctor->options->repair && !doctor->list->has_error; i++) {
        kk_model *model = NULL;
        kk_error error = {.status = KK_OK};
        const kk_status status = kk_model_compile(doctor->spec, &doctor->allocator, &model, &error);
        kk_model_free(model);
        if (status == KK_OK || status == KK_OUT_OF_MEMORY) {
            return status;
        }
        same = is_same_place(&error, &last) ? same + 1 : 0;
        last = error;
        if (!strengthen(doctor, &error, same >= MANY_COPIES) && !leave_out(doctor, &error, same >= MANY_COPIES)) {
            return KK_OK;
        }
    }
    return KK_OK;
}
