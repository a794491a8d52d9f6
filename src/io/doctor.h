/// What the files of the doctor share.
#ifndef KARAKURI_IO_DOCTOR_H
#define KARAKURI_IO_DOCTOR_H

#include <karakuri/doctor.h>

#include "io/diagnostics.h"
#include "model/spec.h"

typedef struct kki_doctor {
    kk_spec *spec;
    const kk_doctor_options *options;
    kki_diagnostics *list;
    kk_allocator allocator;
    kk_transform *X_WB; ///< [nbody] with every joint at zero
    double *extent;     ///< [nbody] farthest point of its shapes from the center of mass; 0: it has no shapes
    bool tells_once;    ///< what is found in several copies of an element
    double size;        ///< of the robot: the largest edge of the box round origins of bodies; at least 1e-3
} kki_doctor;

/// A finding. `is_repaired` where the doctor repairs and this has a repair.
__attribute__((format(printf, 6, 7))) void kki_doctor_report(kki_doctor *doctor, kki_severity severity, bool has_repair,
                                                             const kk_origin *origin, const char *remedy,
                                                             const char *format, ...);

/// Three digits of a positive number, for people.
double kki_doctor_round(double value);

/// What was made by calls has no place in a file; the loaders have told about the rest.
static inline bool kki_is_made_by_calls(const kk_origin *origin) {
    return !origin->file || !origin->file[0];
}

void kki_doctor_meshes(kki_doctor *doctor);
void kki_doctor_inertias(kki_doctor *doctor);
kk_status kki_doctor_mirrors(kki_doctor *doctor);
void kki_doctor_joints(kki_doctor *doctor);
void kki_doctor_numbers(kki_doctor *doctor);
kk_status kki_doctor_names(kki_doctor *doctor);
kk_status kki_doctor_unused(kki_doctor *doctor);
kk_status kki_doctor_actuators(kki_doctor *doctor);
kk_status kki_doctor_treat(kki_doctor *doctor);
kk_status kki_doctor_pose(kki_doctor *doctor);

#endif
