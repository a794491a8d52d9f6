/// What a motion means for the robot: center of mass, zero-moment point, support and its margin, joint torque, power and energy.
///
/// The robot stands on a link that is known (Z-DYNAFORM, S2): a schedule says from when on which one. The base then follows from the joints, and inverse
/// dynamics gives the wrench of the floor and every joint's force. Where the schedule changes, the new link is pinned where the old one had
/// put it, so nothing jumps.
#ifndef KARAKURI_ANALYSIS_H
#define KARAKURI_ANALYSIS_H

#include <karakuri/dynamics.h>
#include <karakuri/sequence.h>
#include <karakuri/simulate.h>

KK_BEGIN_DECLS

// ---- the zero-moment point and the polygon around it

/// Where on the plane z = height a wrench has no horizontal moment; NaN if it has no vertical force.
/// @param floor  what the floor does to the robot, world axes about the world's origin
KK_API kk_vec3 kk_zero_moment_point(kk_force floor, double height);

/// Convex hull in the xy plane, counter-clockwise, in place and without points on its edges. @return how many are left
KK_API int kk_polygon_hull(kk_vec3 *points, int count);
/// Distance from a point to the border of a convex counter-clockwise polygon, in the xy plane: positive inside, negative outside. A polygon of two
/// points is a line, of one a point; −infinity without points.
KK_API double kk_polygon_margin(const kk_vec3 *polygon, int count, kk_vec3 point);
/// Points of a body's colliding shapes that are lowest, within `reach` of the floor: what it stands on. Of round shapes the lowest point, of
/// flat round ones sixteen around. After any kk_kinematics call. @param points [capacity] result    @return how many, at most `capacity`
KK_API int kk_support_points(const kk_model *model, const kk_data *data, int body, double height, double reach,
                             kk_vec3 *points, int capacity);

/// What all contacts between the world and the rest of the model do to it in the last step, world axes about the world's origin.
KK_API kk_force kk_simulator_floor_wrench(const kk_simulator *simulator, const kk_model *model);

// ---- analysis of a motion

/// From `time` on the robot stands on `body`, alone or with others.
typedef struct kk_support {
    double time;
    int body;  ///< pinned; −1: none, the base moves as the motion says (a jump, a recording)
    int other; ///< also on the floor, for the polygon; −1: none
} kk_support;

/// Zero-initialized means: the defaults.
typedef struct kk_analysis_def {
    const kk_support *
        support; ///< [support_count] by rising time; the first counts from the beginning. None: the base moves as given
    int support_count;
    double floor;        ///< height of the floor, m
    const kk_pin *start; ///< where the first link stands; NULL: where it is in the first frame as given
    double sole;         ///< m above the floor at which points still carry; 0: 5 mm
} kk_analysis_def;

/// One frame. Arrays belong to the analysis and hold until its next frame.
typedef struct kk_analysis_frame {
    double time;
    int support;    ///< number in the schedule; −1: none
    kk_force floor; ///< what the floor does to the robot, world axes about the world's origin
    kk_vec3 com, zmp;
    double margin; ///< m of the zero-moment point within the support polygon; NaN without points on the floor
    double power;  ///< W, of all joints
    const double *q, *v, *a, *tau; ///< base found from the pin
    const double *joint_power;     ///< [nv] W
} kk_analysis_frame;

/// What a degree of freedom did over all frames so far.
typedef struct kk_joint_effort {
    double peak_torque, rms_torque; ///< N m, N
    double peak_power;              ///< W, the largest |power|
    double peak_speed;
    double positive_work, negative_work; ///< J, the second ≤ 0
} kk_joint_effort;

typedef struct kk_analysis kk_analysis;

/// Everything that frames need is made here. The model must outlive it. @param def  may be NULL
KK_API kk_status kk_analysis_create(const kk_model *model, const kk_analysis_def *def, const kk_allocator *allocator,
                                    kk_analysis **analysis, kk_error *error);
KK_API void kk_analysis_free(kk_analysis *analysis);
/// Back to before the first frame.
KK_API void kk_analysis_reset(kk_analysis *analysis);

/// The next frame; times rise. Nothing is allocated. @param q [nq], v [nv], a [nv]  the base's are not read while a link is pinned
KK_API kk_status kk_analysis_add(kk_analysis *analysis, double time, const double *q, const double *v, const double *a,
                                 kk_analysis_frame *frame, kk_error *error);
/// The same at a time of a sequence.
KK_API kk_status kk_analysis_add_sequence(kk_analysis *analysis, const kk_sequence *sequence, double time,
                                          kk_analysis_frame *frame, kk_error *error);

KK_API kk_joint_effort kk_analysis_effort(const kk_analysis *analysis, int dof);
/// The data of the last frame: poses, kk_joint_wrench.
KK_API const kk_data *kk_analysis_data(const kk_analysis *analysis);
/// The last frame's support polygon, counter-clockwise. @return [*count]
KK_API const kk_vec3 *kk_analysis_polygon(const kk_analysis *analysis, int *count);

KK_END_DECLS
#endif
