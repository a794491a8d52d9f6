/// Positions and orientations, in all of MJCF's ways.
#include "io/mjcf.h"

static const double TINY = 1e-14;

static kk_mat3 rotation_about(char axis, double angle) {
    const kk_vec3 v = {axis == 'x' || axis == 'X', axis == 'y' || axis == 'Y', axis == 'z' || axis == 'Z'};
    return kk_mat3_from_axis_angle(v, angle);
}

kk_mat3 kki_mjcf_euler(const kki_mjcf *m, const double angles[3]) {
    kk_mat3 R = kk_mat3_identity();
    for (int i = 0; i < 3; i++) {
        const char axis = m->set.euler[i];
        const kk_mat3 turn = rotation_about(axis, angles[i] * m->set.angle);
        // small letters turn with the frame, capitals about axes that stay
        R = axis >= 'x' ? kk_mat3_mul(R, turn) : kk_mat3_mul(turn, R);
    }
    return R;
}

kk_mat3 kki_mjcf_z_to(kk_vec3 v) {
    const kk_vec3 z = kk_vec3_make(0, 0, 1);
    const kk_vec3 axis = kk_vec3_cross(z, v);
    const double s = kk_vec3_norm(axis);
    if (s < TINY * kk_vec3_norm(v)) {
        return v.z < 0 ? kk_mat3_from_axis_angle(kk_vec3_make(1, 0, 0), KK_PI) : kk_mat3_identity();
    }
    return kk_mat3_from_axis_angle(kk_vec3_scale(axis, 1 / s), kk_atan2(s, v.z));
}

static kk_mat3 no_rotation(const kki_mjcf_at *at, const char *name) {
    kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, name,
                    "%s of <%s> gives no direction; its length must not be zero", name,
                    kki_xml_name(at->m->xml, at->node));
    return kk_mat3_identity();
}

static kk_mat3 from_quat(const kki_mjcf_at *at, const double q[4]) {
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return n > TINY * TINY ? kk_quat_to_mat3(kk_quat_normalize((kk_quat){q[0], q[1], q[2], q[3]}))
                           : no_rotation(at, "quat");
}

static kk_mat3 from_axis_angle(const kki_mjcf_at *at, const double v[4]) {
    const kk_vec3 axis = kk_vec3_make(v[0], v[1], v[2]);
    const double n = kk_vec3_norm(axis);
    return n > TINY ? kk_mat3_from_axis_angle(kk_vec3_scale(axis, 1 / n), v[3] * at->m->set.angle)
                    : no_rotation(at, "axisangle");
}

static kk_mat3 from_xy_axes(const kki_mjcf_at *at, const double v[6]) {
    kk_vec3 x = kk_vec3_make(v[0], v[1], v[2]), y = kk_vec3_make(v[3], v[4], v[5]);
    const double nx = kk_vec3_norm(x);
    if (!(nx > TINY)) {
        return no_rotation(at, "xyaxes");
    }
    x = kk_vec3_scale(x, 1 / nx);
    y = kk_vec3_sub(y, kk_vec3_scale(x, kk_vec3_dot(x, y)));
    const double ny = kk_vec3_norm(y);
    if (!(ny > TINY)) {
        return no_rotation(at, "xyaxes");
    }
    y = kk_vec3_scale(y, 1 / ny);
    return kk_mat3_from_columns(x, y, kk_vec3_cross(x, y));
}

static kk_mat3 from_z_axis(const kki_mjcf_at *at, const double v[3]) {
    const kk_vec3 z = kk_vec3_make(v[0], v[1], v[2]);
    return kk_vec3_norm(z) > TINY ? kki_mjcf_z_to(z) : no_rotation(at, "zaxis");
}

/// By the first of the ways that the element has.
static bool rotation_in(const kki_mjcf_at *at, kk_mat3 *R) {
    double v[6];
    if (kki_mjcf_numbers(at, "axisangle", 4, 4, v)) {
        *R = from_axis_angle(at, v);
    } else if (kki_mjcf_numbers(at, "xyaxes", 6, 6, v)) {
        *R = from_xy_axes(at, v);
    } else if (kki_mjcf_numbers(at, "zaxis", 3, 3, v)) {
        *R = from_z_axis(at, v);
    } else if (kki_mjcf_numbers(at, "euler", 3, 3, v)) {
        *R = kki_mjcf_euler(at->m, v);
    } else if (kki_mjcf_numbers(at, "quat", 4, 4, v)) {
        *R = from_quat(at, v);
    } else {
        return false;
    }
    return true;
}

kk_mat3 kki_mjcf_rotation(const kki_mjcf_at *at) {
    // an orientation of the element's own comes before one of its class, whatever its way
    const kki_mjcf_at own = {at->m, at->node, NULL};
    kk_mat3 R = kk_mat3_identity();
    if (!rotation_in(&own, &R) && at->list) {
        rotation_in(at, &R);
    }
    return R;
}

kk_transform kki_mjcf_pose(const kki_mjcf_at *at) {
    return kk_transform_make(kki_mjcf_rotation(at), kki_mjcf_vector(at, "pos", kk_vec3_make(0, 0, 0)));
}

bool kki_mjcf_fromto(const kki_mjcf_at *at, kk_transform *pose, double *length) {
    double v[6];
    if (kki_mjcf_numbers(at, "fromto", 6, 6, v) != 6) {
        return false;
    }
    const kk_vec3 a = kk_vec3_make(v[0], v[1], v[2]), b = kk_vec3_make(v[3], v[4], v[5]);
    const kk_vec3 along = kk_vec3_sub(a, b);
    *length = kk_vec3_norm(along);
    if (!(*length > TINY)) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_INVALID_ARGUMENT, at->node, "fromto",
                        "the two ends of fromto are the same point; move one of them");
        *length = 1;
        return true;
    }
    *pose = kk_transform_make(kki_mjcf_z_to(along), kk_vec3_scale(kk_vec3_add(a, b), 0.5));
    return true;
}
