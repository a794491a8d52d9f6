/// Walking patterns: from footsteps to joint angles (bipeds), and the crawl of quadrupeds.
///
/// A walk is worked out as a whole when it is made: ZMP from the footsteps, center of mass by preview control (Kajita et al. 2003), feet on
/// cycloids, joints by inverse kinematics, and the center of mass again so that the ZMP of the whole body, not of a point mass, is the
/// one planned. Reading frames allocates nothing. Sole frames have x forward and z up; the floor is z = 0.
#ifndef KARAKURI_WALK_H
#define KARAKURI_WALK_H

#include <karakuri/ik.h>

KK_BEGIN_DECLS

typedef enum kk_foot { KK_LEFT, KK_RIGHT } kk_foot;

/// Where a foot is put down, seen from where the robot stands at first (midway between its feet, x forward).
typedef struct kk_footstep {
    kk_foot foot;
    double x, y, yaw; ///< of the sole frame
    double duration;  ///< s, of the step with the double support behind it; 0: the walk's
} kk_footstep;

/// A step as a person would say it: the body goes so far and turns, and the foot follows.
typedef struct kk_stride {
    double forward, sideways, turn; ///< m, m, rad to the left
} kk_stride;

/// Feet in turn, half a width beside the body. @param steps [count] result
KK_API void kk_footsteps_from_strides(const kk_stride *strides, int count, kk_foot first_foot, double width,
                                      kk_footstep *steps);

/// Zero-initialized means: the defaults; the sole frames must be given.
typedef struct kk_walk_options {
    int sole[2]; ///< frames of the left and right sole
    const double
        *posture;     ///< [nq] where the robot stands; legs and base are brought into place; NULL: every joint at zero
    double width;     ///< m between the soles' middles at the start; 0: as in the posture
    double timestep;  ///< s of a frame; 0: 0.005
    double step_time; ///< s; 0: 0.9
    double double_support; ///< s of it on both feet; 0: 0.2
    double lift;           ///< m, how high feet are lifted; 0: 0.05
    double start, end;     ///< s of standing before and after; 0: 1
    double height;         ///< m of the center of mass above the floor; 0: as in the posture
    double zmp_forward;    ///< m from the middle of the sole
    double zmp_inward;     ///< m
    double preview;        ///< s; 0: 1.6
    int corrections;       ///< rounds of the whole body's ZMP; 0: 5, −1: none
} kk_walk_options;

/// One moment of a walk.
typedef struct kk_walk_frame {
    double time;
    const double *q;       ///< [nq]
    kk_vec3 zmp;           ///< planned
    kk_vec3 com, com_rate; ///< of the whole body
    kk_transform sole[2];
    double load[2]; ///< share of the weight planned on each foot, 0 … 1; 0 while in the air
} kk_walk_frame;

typedef struct kk_walk kk_walk;

/// KK_INVALID_ARGUMENT for footsteps that make no sense, KK_NOT_CONVERGED with time and foot where legs cannot reach.
KK_API kk_status kk_walk_create(const kk_model *model, const kk_walk_options *options, const kk_footstep *steps,
                                int count, const kk_allocator *allocator, kk_walk **walk, kk_error *error);
KK_API void kk_walk_free(kk_walk *walk);
KK_API int kk_walk_frame_count(const kk_walk *walk);
KK_API double kk_walk_timestep(const kk_walk *walk);
KK_API kk_walk_frame kk_walk_frame_at(const kk_walk *walk, int frame);
/// Coordinates and velocity at any time, straight between frames; the ends stand still. @param q [nq], v [nv] results
KK_API void kk_walk_sample(const kk_walk *walk, double time, double *q, double *v);
/// How far the ZMP of the whole body, by inverse dynamics of the frames, was from the plan at worst, m.
KK_API double kk_walk_zmp_error(const kk_walk *walk);

// ---- crawl (TITAN-VIII) -------------------------------------------------------------------------------------------------------------

/// Four feet in the body's frame: straight back while they bear, a cycloid forward while they do not.
/// The order is left fore, right hind, right fore, left hind, a quarter of the period apart.
typedef struct kk_crawl {
    kk_vec3 home[4]; ///< middle of the stroke: left fore, right fore, left hind, right hind
    double stride;   ///< m
    double lift;     ///< m
    double duty;     ///< share of the period on the floor
    double period;   ///< s
} kk_crawl;

/// The paper's: stride 0.18 m, lift 0.05 m, duty 0.75, period 4.8 s; feet of TITAN-VIII in posture 'A' … 'D'.
KK_API kk_crawl kk_crawl_titan8(char posture);
/// Feet in the body's frame. @param foot [4] result, order as `home`    @param is_bearing [4] result, may be NULL
KK_API void kk_crawl_feet(const kk_crawl *crawl, double time, kk_vec3 *foot, int *is_bearing);
/// Forward speed, m/s.
KK_API double kk_crawl_speed(const kk_crawl *crawl);
/// Joints of a quadruped at a time, its base as q has it; the last joint before each toe frame is turned so that the foot stays level.
/// @param toe [4] frames on the axes of these joints    @param q [nq] the frame before, then the result
KK_API kk_status kk_crawl_pose(const kk_model *model, kk_ik *ik, const kk_crawl *crawl, const int *toe, double time,
                               double *q, kk_error *error);

// ---- legs whose motors sit elsewhere -------------------------------------------------------------------------------------------------

/// A leg that is driven by wires, rods or belts is simulated as a chain of hinges; these tell what its motors do (S4, equations 1 and 2). Jacobians are of the
/// foot against the body, row-major, count × count: three rows for a point, or six; Js by the model's joints, Jp by the motors.
/// θ'p = Jp⁻¹ Js θ's. KK_SINGULAR where the leg is stretched out. @param count  1 … 6    @param parallel [count] result, may be `serial`
KK_API kk_status kk_map_velocity(int count, const double *Js, const double *Jp, const double *serial, double *parallel,
                                 kk_error *error);
/// τp = Jpᵀ (Jsᵀ)⁻¹ τs: the same power.
KK_API kk_status kk_map_torque(int count, const double *Js, const double *Jp, const double *serial, double *parallel,
                               kk_error *error);

KK_END_DECLS
#endif
