/// The doctor: what is likely wrong with a robot, beyond what keeps it from loading, and repairs.
///
/// A file is best read with `repair` set in its load options, so that the doctor sees as much of it as there is:
///
///     kk_load_options load = {.repair = 1};
///     kk_load_file(path, &load, NULL, &spec, &messages, &error);
///     kk_doctor_examine(spec, &(kk_doctor_options){.repair = 1}, messages, &error);
#ifndef KARAKURI_DOCTOR_H
#define KARAKURI_DOCTOR_H

#include <karakuri/load.h>

KK_BEGIN_DECLS

/// Zero-initialized means: look, change nothing.
typedef struct kk_doctor_options {
    int repair;         ///< 1: repair in the spec what has an obvious or physically nearest repair
    double least_depth; ///< m; overlaps of the rest pose less deep than this are not told; 0: 1 mm
} kk_doctor_options;

/// Looks through a spec and adds what it finds, each with the place it was written at:
/// meshes in millimeters, negative masses, mass without moments and moments without mass, inertias that no rigid body has, inertias and centers of
/// mass in another unit, left and right twins whose inertias differ by a sign, axes of no length, limits upside down, limits
/// in degrees, names that stand twice, meshes and materials that nothing uses, numbers
/// that must not be negative, whatever else kk_model_compile refuses (weak joints get an armature, what cannot be made is left
/// out), joints that nothing drives, bodies that overlap with every joint at zero.
/// @param options  may be NULL: only look
/// @return KK_OK also where something was found; KK_OUT_OF_MEMORY
KK_API kk_status kk_doctor_examine(kk_spec *spec, const kk_doctor_options *options, kk_messages *messages,
                                   kk_error *error);

/// Makes an inertia possible: the nearest one whose second moments of mass are not negative, with a positive mass.
/// @return 1 where it was changed
KK_API int kk_inertia_repair(kk_inertia *inertia);

KK_END_DECLS
#endif
