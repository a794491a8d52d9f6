/// A stabilizer for bipeds whose joints are position-controlled: it bends the planned motion so that the robot stays on its feet.
///
/// Three loops, as in S. Kajita et al., "Biped walking stabilization based on linear inverted pendulum tracking", IROS 2010:
/// - the center of mass and its rate, against the plan, ask for another ZMP (by the divergent component, T. Sugihara 2009);
/// - that ZMP asks each foot for a force and for moments about its sole; soles are turned until the floor gives these moments
///   (damping control), and one leg is made longer, the other shorter, until it gives the forces;
/// - joints follow by inverse kinematics.
/// A controller calls kk_stabilizer_step once a period with what it measures, and hands the posture to the servos. No call allocates.
#ifndef KARAKURI_STABILIZER_H
#define KARAKURI_STABILIZER_H

#include <karakuri/walk.h>

KK_BEGIN_DECLS

/// Zero-initialized means: the defaults.
typedef struct kk_stabilizer_options {
    double period;                  ///< s between two calls; 0: 0.001
    double gain;                    ///< of the divergent component, > 1; 0: 3
    double integral;                ///< of its sum, 1/s; 0: 1
    double sole_length, sole_width; ///< m; the ZMP is asked for within 80 % of them; 0: 0.24, 0.14
    double ankle_damping;           ///< N m s/rad: moment that is missing for 1 rad/s of turning; 0: 80
    double ankle_return;            ///< s in which soles turn back; 0: 2
    double leg_damping;             ///< N s/m; 0: 8000
    double leg_return;              ///< s; 0: 1
    double filter;                  ///< s, of the forces that are felt; 0: 0.005
    double most_turn, most_length;  ///< limits, rad and m; 0: 0.2, 0.03
} kk_stabilizer_options;

/// What the robot feels. Forces are on the feet, world axes about the world's origin: kk_simulator_contact_wrench, or force sensors.
typedef struct kk_stabilizer_input {
    const double *q, *v; ///< [nq], [nv] with an estimate of the base
    kk_force floor[2];   ///< on the left and the right foot
} kk_stabilizer_input;

/// What it does, for plots.
typedef struct kk_stabilizer_output {
    kk_vec3 zmp;        ///< measured; NaN in the air
    kk_vec3 zmp_wanted; ///< asked for
    kk_vec3 com_error;
    double turn[2][2]; ///< of each sole: about its x and y, rad
    double length;     ///< left leg longer, right leg shorter, m
} kk_stabilizer_output;

typedef struct kk_stabilizer kk_stabilizer;

/// @param walk  the plan; must outlive the stabilizer
KK_API kk_status kk_stabilizer_create(const kk_model *model, const kk_walk *walk, const kk_stabilizer_options *options,
                                      const kk_allocator *allocator, kk_stabilizer **stabilizer);
KK_API void kk_stabilizer_free(kk_stabilizer *stabilizer);
/// @param time  into the walk, of the end of the coming period
/// @param q [nq], v [nv] results: posture and its rate for the servos    @param output may be NULL
KK_API kk_status kk_stabilizer_step(kk_stabilizer *stabilizer, double time, const kk_stabilizer_input *input, double *q,
                                    double *v, kk_stabilizer_output *output);

KK_END_DECLS
#endif
