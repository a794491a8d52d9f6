/// Origins and inertials of URDF links.
#include <karakuri/elementary.h>

#include "io/text.h"
#include "io/urdf.h"

void kki_urdf_origin(kki_urdf *u, int32_t node, kk_transform *X) {
    const int32_t n = kki_xml_first(u->xml, node, "origin");
    if (n == KKI_XML_NONE) {
        return;
    }
    static const char *const known[] = {"xyz", "rpy", "quat_xyzw", NULL};
    double xyz[3] = {0}, rpy[3] = {0}, quat[4] = {0, 0, 0, 1};
    kki_report_unknown_attributes(&u->reader, n, known);
    kki_read_vector(&u->reader, n, "xyz", KKI_OPTIONAL, 3, xyz);
    kki_read_vector(&u->reader, n, "rpy", KKI_OPTIONAL, 3, rpy);
    X->p = kk_vec3_make(xyz[0], xyz[1], xyz[2]);
    X->R = kk_mat3_from_rpy(rpy[0], rpy[1], rpy[2]);
    const int32_t attribute = kki_xml_find(u->xml, n, "quat_xyzw");
    if (attribute == KKI_XML_NONE || kki_read_vector(&u->reader, n, "quat_xyzw", KKI_OPTIONAL, 4, quat) != KK_OK) {
        return;
    }
    const kk_quat q = {quat[3], quat[0], quat[1], quat[2]};
    const double norm = kk_sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(norm > 1e-6) || !(norm < 1e6)) {
        kki_urdf_report_value(u, KKI_ERROR, KK_INVALID_MODEL, attribute, "write a quaternion of length 1",
                              "the quaternion is no rotation");
        return;
    }
    X->R = kk_quat_to_mat3(kk_quat_normalize(q));
}

static const char *link_name(const kki_urdf *u, int32_t link_node) {
    const char *name = kki_xml_value(u->xml, link_node, "name");
    return name ? name : "";
}

static double read_mass(kki_urdf *u, int32_t link_node, int32_t inertial) {
    const kki_short_text name = kki_shorten_string(link_name(u, link_node));
    const int32_t n = kki_xml_first(u->xml, inertial, "mass");
    double mass = 0;
    if (n == KKI_XML_NONE) {
        kki_urdf_report(u, KKI_WARNING, KK_OK, inertial, "add <mass value=\"...\"/>",
                        "link '%s': <inertial> has no <mass>, it is taken as 0", name.text);
        return 0;
    }
    if (kki_read_double(&u->reader, n, "value", KKI_REQUIRED, &mass) == KK_OK && mass < 0) {
        kki_urdf_report_value(u, kki_fault(u->loader), KK_INVALID_MODEL, kki_xml_find(u->xml, n, "value"),
                              "write a positive mass in kg", "link '%s': the mass is negative", name.text);
        return -mass;
    }
    return mass;
}

static kk_sym3 read_moment(kki_urdf *u, int32_t link_node, int32_t inertial) {
    static const char *const known[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz", NULL};
    const int32_t n = kki_xml_first(u->xml, inertial, "inertia");
    kk_sym3 I = {0};
    if (n == KKI_XML_NONE) {
        kki_urdf_report(u, KKI_WARNING, KK_OK, inertial,
                        "add <inertia ixx=... ixy=... ixz=... iyy=... iyz=... izz=.../>",
                        "link '%s': <inertial> has no <inertia>, it is taken as a point mass",
                        kki_shorten_string(link_name(u, link_node)).text);
        return I;
    }
    double *const entry[] = {&I.xx, &I.xy, &I.xz, &I.yy, &I.yz, &I.zz};
    kki_report_unknown_attributes(&u->reader, n, known);
    for (int i = 0; i < 6; i++) {
        kki_read_double(&u->reader, n, known[i], i == 0 || i == 3 || i == 5 ? KKI_REQUIRED : KKI_OPTIONAL, entry[i]);
    }
    return I;
}

static bool is_zero(kk_sym3 I) {
    return I.xx == 0 && I.yy == 0 && I.zz == 0 && I.xy == 0 && I.xz == 0 && I.yz == 0;
}

/// What no rigid body can have becomes the nearest that one can.
static void make_possible(kki_urdf *u, int32_t link_node, int32_t inertial, kk_inertia *I) {
    const kki_short_text name = kki_shorten_string(link_name(u, link_node));
    if (I->mass == 0 && is_zero(I->moment)) {
        I->com = kk_vec3_make(0, 0, 0);
        return;
    }
    if (I->mass == 0) {
        I->mass = 1e-9;
        kki_urdf_report(u, KKI_REPAIRED_WARNING, KK_OK, inertial, "give it a mass",
                        "link '%s' has moments of inertia, but no mass; it gets 1e-9 kg", name.text);
    }
    if (kki_inertia_repair(I)) {
        kki_urdf_report(
            u, KKI_REPAIRED_WARNING, KK_OK, inertial,
            "check units, axes and signs; no principal moment may be negative or larger than the sum of the "
            "others",
            "link '%s': no body has these moments of inertia; the nearest possible ones are taken", name.text);
    }
}

kk_inertia kki_urdf_inertial(kki_urdf *u, int32_t link_node) {
    static const char *const known[] = {"origin", "mass", "inertia", NULL};
    const int32_t n = kki_xml_first(u->xml, link_node, "inertial");
    kk_inertia I = {0};
    if (n == KKI_XML_NONE) {
        return I;
    }
    kk_transform X = kk_transform_identity();
    kki_report_unknown_elements(&u->reader, n, known);
    kki_urdf_origin(u, n, &X);
    I.mass = read_mass(u, link_node, n);
    I.moment = read_moment(u, link_node, n);
    I = kk_inertia_to(X, I);
    make_possible(u, link_node, n, &I);
    return I;
}
