/// The doctor as a story: where everything is at rest, then the meshes' unit, masses, twins, joints, names, what is not used, what is not
/// driven, and at last whether it compiles and overlaps.
#include "io/doctor.h"

#include <stdarg.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "io/messages.h"
#include "io/standing.h"

enum { MESSAGE_SIZE = 512 };

void kki_doctor_report(kki_doctor *doctor, kki_severity severity, bool has_repair, const kk_origin *origin,
                       const char *remedy, const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (has_repair && doctor->options->repair) {
        severity = severity == KKI_ERROR ? KKI_REPAIRED_ERROR : KKI_REPAIRED_WARNING;
    }
    kki_finding finding = {.severity = severity,
                           .status = severity == KKI_ERROR ? KK_INVALID_MODEL : KK_OK,
                           .file = origin->file,
                           .line = origin->line,
                           .column = origin->column,
                           .text = text,
                           .remedy = remedy};
    if (doctor->tells_once && origin->file && origin->line > 0) {
        char place[32];
        kki_print(place, sizeof place, "%d:%d", origin->line, origin->column);
        finding.key = kki_diagnostics_key(format, origin->file, place);
    }
    kki_diagnostics_add(doctor->list, &finding);
}

double kki_doctor_round(double value) {
    double scale = 1;
    while (value * scale < 100 && scale < 1e15) {
        scale *= 10;
    }
    return value < 1e15 ? (double)(int64_t)(value * scale + 0.5) / scale : value;
}

// ---- at rest

static void place_bodies(kki_doctor *d) {
    const kk_spec *s = d->spec;
    double low[3] = {0}, high[3] = {0};
    d->X_WB[KK_WORLD] = kk_transform_identity();
    for (int i = 1; i < s->nbody; i++) {
        const kk_body_def *b = &s->body[i];
        const int parent = b->parent >= 0 && b->parent < i ? b->parent : KK_WORLD;
        d->X_WB[i] = kk_transform_mul(kk_transform_mul(d->X_WB[parent], b->joint.placement), b->offset);
        const double p[3] = {d->X_WB[i].p.x, d->X_WB[i].p.y, d->X_WB[i].p.z};
        for (int k = 0; k < 3; k++) {
            low[k] = i == 1 || p[k] < low[k] ? p[k] : low[k];
            high[k] = i == 1 || p[k] > high[k] ? p[k] : high[k];
        }
    }
    d->size = 1e-3;
    for (int k = 0; k < 3; k++) {
        d->size = high[k] - low[k] > d->size ? high[k] - low[k] : d->size;
    }
}

/// The farthest corner of a shape's box from a point of its body.
static double reach_from(const kk_spec *s, const kk_shape_def *shape, kk_vec3 point) {
    kk_vec3 center, half;
    double farthest = 0;
    if (!kki_shape_box(s, shape, &center, &half)) {
        return 0;
    }
    for (int i = 0; i < 8; i++) {
        const kk_vec3 corner = {center.x + (i & 1 ? half.x : -half.x), center.y + (i & 2 ? half.y : -half.y),
                                center.z + (i & 4 ? half.z : -half.z)};
        const double r = kk_vec3_norm(kk_vec3_sub(kk_transform_point(shape->placement, corner), point));
        farthest = r > farthest ? r : farthest;
    }
    return farthest;
}

static void measure_bodies(kki_doctor *d) {
    const kk_spec *s = d->spec;
    for (int i = 0; i < s->nshape; i++) {
        const int body = s->shape[i].body;
        if (body >= 0 && body < s->nbody) {
            const double r = reach_from(s, &s->shape[i], s->body[body].inertia.com);
            d->extent[body] = r > d->extent[body] ? r : d->extent[body];
        }
    }
}

// ---- the story

static kk_status examine(kki_doctor *d) {
    place_bodies(d);
    kki_doctor_meshes(d);
    measure_bodies(d);
    kki_doctor_inertias(d);
    kk_status status = kki_doctor_mirrors(d);
    kki_doctor_joints(d);
    kki_doctor_numbers(d);
    status = status ? status : kki_doctor_names(d);
    status = status ? status : kki_doctor_unused(d);
    status = status ? status : kki_doctor_actuators(d);
    d->tells_once = true;
    status = status ? status : kki_doctor_treat(d);
    d->tells_once = false;
    return status ? status : kki_doctor_pose(d);
}

kk_status kk_doctor_examine(kk_spec *spec, const kk_doctor_options *options, kk_messages *messages, kk_error *error) {
    static const kk_doctor_options only_look = {0};
    if (!spec || !messages) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_doctor_examine: the spec or the list of messages is NULL");
    }
    kki_doctor d = {.spec = spec,
                    .options = options ? options : &only_look,
                    .list = &messages->list,
                    .allocator = messages->allocator};
    const size_t n = (size_t)spec->nbody;
    d.X_WB = kki_allocate_array(&d.allocator, n, sizeof *d.X_WB);
    d.extent = kki_allocate_array_zeroed(&d.allocator, n, sizeof *d.extent);
    const kk_status status = d.X_WB && d.extent ? examine(&d) : KK_OUT_OF_MEMORY;
    kki_release_array(&d.allocator, d.X_WB, n, sizeof *d.X_WB);
    kki_release_array(&d.allocator, d.extent, n, sizeof *d.extent);
    return status ? kki_error_set(error, status, "no memory to examine %d bodies", spec->nbody) : KK_OK;
}
