/// What both ways of identification share: parameters by ids, checks of the log, smoothing.
#ifndef KKI_MOTION_IDENTIFY_H
#define KKI_MOTION_IDENTIFY_H

#include <karakuri/identify.h>

enum { KKI_PARAMETERS = 64 }; ///< at most

/// A model of the spec, and where its parameters are.
typedef struct kki_identifier {
    kk_allocator allocator;
    const kk_measurement *log;
    kk_identify_options options;
    kk_model *model;
    const kk_parameter *parameter;
    int count;
    int id[KKI_PARAMETERS]; ///< body of a mass, else degree of freedom or actuator
} kki_identifier;

/// Checks log and names, compiles the spec. To be ended in any case.
kk_status kki_identifier_begin(kki_identifier *x, const kk_spec *spec, const kk_measurement *log,
                               const kk_identify_options *options, const kk_parameter *parameter, int count,
                               kk_error *error);
void kki_identifier_end(kki_identifier *x);

/// Configuration, velocity and acceleration at a row, smoothed: cubics through the rows of the window. @param q [nq], v, a [nv]
void kki_smooth_row(const kki_identifier *x, int row, double *q, double *v, double *a);
/// The same of joint forces and of controls, which are zero where there are none. @param tau [nv], control [actuators]
void kki_smooth_forces(const kki_identifier *x, int row, double *tau);
void kki_smooth_controls(const kki_identifier *x, int row, double *control);

/// Solves the normal equations N x = y in place, N [n × n] scaled by its diagonal, which becomes that of its inverse. KK_SINGULAR with the parameter's name.
kk_status kki_solve_normal(const kki_identifier *x, double *N, double *y, double *diagonal, kk_error *error);

#endif
