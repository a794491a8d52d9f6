/// Keyframes: MuJoCo's coordinates become ours.
///
/// Hinges, slides and balls have the same coordinates. A free joint's are position and quaternion in the world there; ours are
/// quaternion and position from the body's place in the file. Its velocity is [linear in the world; angular in the body] there,
/// [angular; linear] in the body here.
#include <string.h>

#include "base/allocator.h"
#include "io/mjcf.h"

static int64_t sum_of(const kki_mjcf *m, int64_t left_out, int (*size)(kk_joint_type)) {
    int64_t sum = left_out;
    for (int i = 0; i < m->joint_count; i++) {
        sum += m->joint[i].copies * size(m->joint[i].type);
    }
    return sum;
}

static kk_quat unit(const double *v) {
    const kk_quat q = {v[0], v[1], v[2], v[3]};
    const double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return n > 0 ? kk_quat_normalize(q) : kk_quat_identity();
}

static void put_quat(kk_quat q, double *to) {
    memcpy(to, (const double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof *to);
}

static void put_vec(kk_vec3 v, double *to) {
    memcpy(to, (const double[3]){v.x, v.y, v.z}, 3 * sizeof *to);
}

static kk_transform free_pose(const double *q) {
    return kk_transform_make(kk_quat_to_mat3(unit(q + 3)), kk_vec3_make(q[0], q[1], q[2]));
}

static void convert_q(const kki_mjcf *m, const double *from, double *to) {
    for (int i = 0; i < m->joint_count; i++) {
        const kki_mjcf_joint *joint = &m->joint[i];
        const int n = kki_mjcf_joint_nq(joint->type);
        if (joint->type == KK_JOINT_FREE) {
            const kk_transform rest = kk_spec_body_const(m->loader->spec, joint->body)->joint.placement;
            const kk_transform X = kk_transform_mul(kk_transform_inverse(rest), free_pose(from));
            put_quat(kk_quat_from_mat3(X.R), to);
            put_vec(X.p, to + 4);
        } else if (joint->type == KK_JOINT_BALL) {
            put_quat(unit(from), to);
        } else {
            to[0] = from[0];
        }
        from += n;
        to += n;
    }
}

static void convert_v(const kki_mjcf *m, const double *q, const double *from, double *to) {
    for (int i = 0; i < m->joint_count; i++) {
        const kki_mjcf_joint *joint = &m->joint[i];
        const int n = kki_mjcf_joint_nv(joint->type);
        if (joint->type == KK_JOINT_FREE) {
            const kk_transform rest = kk_spec_body_const(m->loader->spec, joint->body)->joint.placement;
            const kk_mat3 R = q ? free_pose(q).R : rest.R;
            put_vec(kk_vec3_make(from[3], from[4], from[5]), to);
            put_vec(kk_mat3_tmul_vec(R, kk_vec3_make(from[0], from[1], from[2])), to + 3);
        } else {
            memcpy(to, from, (size_t)n * sizeof *to);
        }
        if (q) {
            q += kki_mjcf_joint_nq(joint->type);
        }
        from += n;
        to += n;
    }
}

/// An array of the right length, or NULL; a wrong one is reported.
static double *read_array(kki_mjcf *m, int32_t node, const char *name, int64_t wanted, bool *is_wrong) {
    const int32_t attribute = kki_xml_find(m->xml, node, name);
    size_t count;
    if (attribute == KKI_XML_NONE) {
        return NULL;
    }
    double *values = kki_mjcf_all_numbers(m, node, attribute, &count);
    if (values && count == (size_t)wanted) {
        return values;
    }
    *is_wrong = true;
    if (values && !m->is_cut) {
        // keyframes alone, for another file to include, are no mistake
        const bool is_fragment = m->body_count + m->bodies_left_out == 1;
        kki_mjcf_report(m, is_fragment ? KKI_WARNING : kki_fault(m->loader), is_fragment ? KK_OK : KK_SIZE_MISMATCH,
                        node, name, "%s of the keyframe has %d numbers where the model has %d; %s", name, (int)count,
                        (int)wanted, is_fragment ? "it is left out" : "correct it");
    }
    kki_release_array(&m->loader->allocator, values, count, sizeof *values);
    return NULL;
}

static void convert_control(const kki_mjcf *m, const double *from, double *to) {
    for (int i = 0; i < m->control_count; i++) {
        if (m->control[i] >= 0) {
            to[m->control[i]] = from[i];
        }
    }
}

static void release(const kki_mjcf *m, double *array, int64_t count) {
    kki_release_array(&m->loader->allocator, array, (size_t)count, sizeof *array);
}

/// In a trial that has left copies out: a keyframe has numbers for all of them.
static void try_key(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const char *const name[3] = {"qpos", "qvel", "ctrl"};
    const int64_t wanted[3] = {sum_of(m, m->q_left_out, kki_mjcf_joint_nq), sum_of(m, m->v_left_out, kki_mjcf_joint_nv),
                               m->control_count + m->controls_left_out};
    bool is_wrong = false;
    for (int i = 0; i < 3; i++) {
        release(m, read_array(m, node, name[i], wanted[i], &is_wrong), wanted[i]);
    }
    if (!is_wrong) {
        kki_mjcf_number(&at, "time", 0);
        kki_mjcf_name_put(m, KKI_MJCF_KEY, kki_mjcf_own_name(m, node), 0, node);
    }
}

static void read_key(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const int nq = (int)sum_of(m, 0, kki_mjcf_joint_nq), nv = (int)sum_of(m, 0, kki_mjcf_joint_nv),
              nu = m->control_count;
    const int actuators = kk_spec_actuator_count(m->loader->spec);
    bool is_wrong = false;
    double *qpos = read_array(m, node, "qpos", nq, &is_wrong), *qvel = read_array(m, node, "qvel", nv, &is_wrong);
    double *ctrl = read_array(m, node, "ctrl", nu, &is_wrong);
    double *made =
        kki_allocate_array_zeroed(&m->loader->allocator, (size_t)nq + (size_t)nv + (size_t)actuators, sizeof *made);
    if (!made) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
    } else if (!is_wrong && m->status == KK_OK) {
        kk_keyframe_def def = kk_keyframe_def_default();
        def.name = kki_mjcf_own_name(m, node);
        def.time = kki_mjcf_number(&at, "time", 0);
        def.origin = kki_origin_of_node(m->xml, node);
        if (qpos) {
            convert_q(m, qpos, made);
            def.q = made;
            def.q_count = nq;
        }
        if (qvel) {
            convert_v(m, qpos, qvel, made + nq);
            def.v = made + nq;
            def.v_count = nv;
        }
        if (ctrl) {
            convert_control(m, ctrl, made + nq + nv);
            def.control = made + nq + nv;
            def.control_count = actuators;
        }
        kki_mjcf_name_put(m, KKI_MJCF_KEY, def.name, 0, node);
        kki_mjcf_stop(m, kk_spec_add_keyframe(m->loader->spec, &def, NULL, &m->error));
    }
    release(m, made, (int64_t)nq + nv + actuators);
    release(m, ctrl, nu);
    release(m, qvel, nv);
    release(m, qpos, nq);
}

void kki_mjcf_keyframe(kki_mjcf *m, int32_t section) {
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        if (kki_mjcf_is_read(m, "keyframe", c)) {
            (m->is_short || m->is_check ? try_key : read_key)(m, c);
        }
    }
}
