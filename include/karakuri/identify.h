/// Numbers of a robot from a log of it: masses, friction, gains.
///
/// Two ways, one after the other. The *regressor* knows that joint forces are linear in these numbers (Atkeson, An and Hollerbach 1986): with velocities and
/// accelerations from the log they follow by least squares, in one go, without a guess, but noise that is differentiated spoils them. The *search* simulates the
/// robot under the log's controls and changes the numbers until the simulation runs as the log did (output error, Gauss-Newton): it needs a start, and is as
/// exact as the noise allows.
#ifndef KARAKURI_IDENTIFY_H
#define KARAKURI_IDENTIFY_H

#include <karakuri/simulate.h>
#include <karakuri/spec.h>

KK_BEGIN_DECLS

typedef enum kk_parameter_type {
    KK_PARAMETER_MASS,      ///< of a body, kg; its moments of inertia go with it
    KK_PARAMETER_DAMPING,   ///< of a joint's degree
    KK_PARAMETER_FRICTION,  ///< dry friction of a joint's degree
    KK_PARAMETER_STIFFNESS, ///< spring of a joint's degree
    KK_PARAMETER_ARMATURE,  ///< of a joint's degree
    KK_PARAMETER_GAIN,      ///< of an actuator that drives a joint; its bias goes with it
    KK_PARAMETER_TYPES
} kk_parameter_type;
/// "mass", "damping", "friction", "stiffness", "armature", "gain"; "" for any other number.
KK_API const char *kk_parameter_type_name(kk_parameter_type type);

/// A number that is looked for.
typedef struct kk_parameter {
    kk_parameter_type type;
    const char *name; ///< of the body, joint or actuator
    int dof;          ///< which degree of the joint
    double value;     ///< found; the search starts from it
    double deviation; ///< that noise leaves it with, one standard deviation
} kk_parameter;

/// A log of the robot. Rows may be any time apart; the control of a row is what the step that ends there was given.
typedef struct kk_measurement {
    int count, coordinates, velocities, controls;
    const double *time;    ///< [count] s, rising
    const double *q;       ///< [count × coordinates]
    const double *v;       ///< [count × velocities] NULL: not measured
    const double *tau;     ///< [count × velocities] forces of the actuators in the joints; NULL: not measured
    const double *control; ///< [count × controls] NULL: zero
    const double
        *start_q; ///< [coordinates] where the robot is known to be at the first time; NULL: as measured, smoothed
    const double *start_v; ///< [velocities] likewise
} kk_measurement;

/// Zero-initialized means: the defaults.
typedef struct kk_identify_options {
    double window;   ///< s, over which the regressor smooths; 0: 15 rows
    int iterations;  ///< of the search, at most; 0: 30
    double timestep; ///< s of the simulation; 0: the model's
} kk_identify_options;

/// What came of it.
typedef struct kk_identification {
    double residual; ///< mean of what is left of each measured number, as a share of its span in the log
    int iterations, simulations;
    int rows; ///< equations that the regressor took
} kk_identification;

/// The spec's own numbers, as a start. KK_NOT_FOUND with the name of what is not there.
KK_API kk_status kk_parameters_read(const kk_spec *spec, kk_parameter *parameter, int count, kk_error *error);
/// Writes the values into the spec.
KK_API kk_status kk_parameters_write(kk_spec *spec, const kk_parameter *parameter, int count, kk_error *error);

/// Least squares on the equations of motion. Joint forces are those measured, else what the actuators' laws give; gains need the laws, and forces beside them where
/// no mass is known. The robot touches nothing, or what touches it is measured as joint forces. KK_SINGULAR where the motion does not tell the numbers apart.
/// @param parameter  [count] values and deviations are results    @param options  may be NULL    @param result  may be NULL
KK_API kk_status kk_identify_by_regressor(const kk_spec *spec, const kk_measurement *log,
                                          const kk_identify_options *options, kk_parameter *parameter, int count,
                                          kk_identification *result, kk_error *error);
/// Output error: the simulation from the log's first row under its controls comes as near to the log as it can. KK_NOT_CONVERGED where it does not settle.
/// @param parameter  [count] values are starts and results    @param options  may be NULL    @param result  may be NULL
KK_API kk_status kk_identify_by_search(const kk_spec *spec, const kk_measurement *log,
                                       const kk_identify_options *options, kk_parameter *parameter, int count,
                                       kk_identification *result, kk_error *error);

KK_END_DECLS
#endif
