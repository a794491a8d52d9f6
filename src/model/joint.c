/// Joint types as data, and the directions that their nodes turn to z.
#include "model/joint.h"

static const kki_joint_type types[] = {
    [KK_JOINT_FIXED] = {"fixed", 0, 0, 0, {{KKI_NODE_WORLD, KKI_AXIS_NONE}}},
    [KK_JOINT_HINGE] = {"hinge", 1, 1, 1, {{KKI_NODE_HINGE, KKI_AXIS_FIRST}}},
    [KK_JOINT_SLIDE] = {"slide", 1, 1, 1, {{KKI_NODE_SLIDE, KKI_AXIS_FIRST}}},
    [KK_JOINT_SCREW] = {"screw", 1, 1, 1, {{KKI_NODE_SCREW, KKI_AXIS_FIRST}}},
    [KK_JOINT_CYLINDRICAL] =
        {"cylindrical", 2, 2, 2, {{KKI_NODE_HINGE, KKI_AXIS_FIRST}, {KKI_NODE_SLIDE, KKI_AXIS_FIRST}}},
    [KK_JOINT_UNIVERSAL] =
        {"universal", 2, 2, 2, {{KKI_NODE_HINGE, KKI_AXIS_FIRST}, {KKI_NODE_HINGE, KKI_AXIS_SECOND}}},
    [KK_JOINT_PLANAR] = {"planar",
                         3,
                         3,
                         3,
                         {{KKI_NODE_SLIDE, KKI_AXIS_SECOND},
                          {KKI_NODE_SLIDE, KKI_AXIS_CROSS},
                          {KKI_NODE_HINGE, KKI_AXIS_FIRST}}},
    [KK_JOINT_BALL] = {"ball", 4, 3, 1, {{KKI_NODE_BALL, KKI_AXIS_NONE}}},
    [KK_JOINT_FREE] = {"free", 7, 6, 1, {{KKI_NODE_FREE, KKI_AXIS_NONE}}},
};

const kki_joint_type *kki_joint_type_of(kk_joint_type type) {
    return (unsigned)type < sizeof types / sizeof types[0] ? &types[(unsigned)type] : NULL;
}

// ---- directions

static double largest_component(kk_vec3 a) {
    const double x = __builtin_fabs(a.x), y = __builtin_fabs(a.y), z = __builtin_fabs(a.z);
    const double xy = x > y ? x : y;
    return xy > z ? xy : z;
}

kk_vec3 kki_unit(kk_vec3 a) {
    const double largest = largest_component(a);
    if (!(largest > 0)) {
        return kk_vec3_make(0, 0, 0);
    }
    const kk_vec3 b = kk_vec3_make(a.x / largest, a.y / largest, a.z / largest);
    const double norm = kk_vec3_norm(b);
    return kk_vec3_make(b.x / norm, b.y / norm, b.z / norm);
}

/// 0, 1, 2 if z is exactly along x, y, z or against it; −1 otherwise.
static int coordinate_axis(const double z[3]) {
    for (int i = 0; i < 3; i++) {
        if (z[(i + 1) % 3] == 0 && z[(i + 2) % 3] == 0) {
            return i;
        }
    }
    return -1;
}

/// x = the next axis, y = ± the one after, z = ± the axis itself.
static kk_mat3 signed_permutation(int axis, double sign) {
    kk_mat3 R = {{0}};
    R.m[3 * ((axis + 1) % 3)] = 1;
    R.m[3 * ((axis + 2) % 3) + 1] = sign;
    R.m[3 * axis + 2] = sign;
    return R;
}

static kk_vec3 least_aligned_axis(const double z[3]) {
    int least = 0;
    for (int i = 1; i < 3; i++) {
        if (__builtin_fabs(z[i]) < __builtin_fabs(z[least])) {
            least = i;
        }
    }
    return kk_vec3_make(least == 0, least == 1, least == 2);
}

kk_mat3 kki_rotation_with_z(kk_vec3 z) {
    const double component[3] = {z.x, z.y, z.z};
    const int axis = coordinate_axis(component);
    if (axis >= 0) {
        return signed_permutation(axis, component[axis] < 0 ? -1.0 : 1.0);
    }
    const kk_vec3 y = kki_unit(kk_vec3_cross(z, least_aligned_axis(component)));
    return kk_mat3_from_columns(kk_vec3_cross(y, z), y, z);
}

kki_joint_axes kki_joint_axes_of(const kk_joint_def *joint) {
    const kk_vec3 first = kki_unit(joint->axis);
    kk_vec3 second = kki_unit(joint->axis2);
    if (joint->type == KK_JOINT_PLANAR) {
        second = kki_unit(kk_vec3_sub(second, kk_vec3_scale(first, kk_vec3_dot(first, second))));
    }
    return (kki_joint_axes){{
        [KKI_AXIS_FIRST] = first,
        [KKI_AXIS_SECOND] = second,
        [KKI_AXIS_CROSS] = kki_unit(kk_vec3_cross(first, second)),
    }};
}
