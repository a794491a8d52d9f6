/// Keyframes: MuJoCo's coordinates become ours.
///
/// Hinges, slides and balls have the same coordinates. A free joint's are position and quaternion in the world there; ours are
/// quaternion and position from the body's place in the file. Its velocity is [linear in the world; angular in the body] there,
/// [angular; linear] in the body here.
///
/// A keyframe of an attached model has numbers for that model alone: what came along of it gets them, all else is as at the start.
#include <string.h>

#include "base/allocator.h"
#include "io/mjcf.h"

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

/// What the joint has at the reference pose.
static void put_start(const kki_mjcf_joint *joint, double *to) {
    if (joint->type == KK_JOINT_FREE || joint->type == KK_JOINT_BALL) {
        put_quat(kk_quat_identity(), to);
    } else {
        to[0] = joint->ref;
    }
}

/// @param offset  [joint_count] of each joint's numbers in `from`; −1: it has none there
static void convert_q(const kki_mjcf *m, const double *from, const int *offset, double *to) {
    for (int i = 0; i < m->joint_count; i++) {
        const kki_mjcf_joint *joint = &m->joint[i];
        const double *q = from + offset[i];
        if (offset[i] < 0) {
            put_start(joint, to);
        } else if (joint->type == KK_JOINT_FREE) {
            const kk_transform rest = kk_spec_body_const(m->loader->spec, joint->body)->joint.placement;
            const kk_transform X = kk_transform_mul(kk_transform_inverse(rest), free_pose(q));
            put_quat(kk_quat_from_mat3(X.R), to);
            put_vec(X.p, to + 4);
        } else if (joint->type == KK_JOINT_BALL) {
            put_quat(unit(q), to);
        } else {
            to[0] = q[0];
        }
        to += kki_mjcf_joint_nq(joint->type);
    }
}

/// @param q  of the same keyframe, with its offsets; NULL: none
static void convert_v(const kki_mjcf *m, const double *q, const int *q_offset, const double *from, const int *offset,
                      double *to) {
    for (int i = 0; i < m->joint_count; i++) {
        const kki_mjcf_joint *joint = &m->joint[i];
        const int n = kki_mjcf_joint_nv(joint->type);
        const double *v = from + offset[i];
        if (offset[i] >= 0 && joint->type == KK_JOINT_FREE) {
            const kk_transform rest = kk_spec_body_const(m->loader->spec, joint->body)->joint.placement;
            const kk_mat3 R = q && q_offset[i] >= 0 ? free_pose(q + q_offset[i]).R : rest.R;
            put_vec(kk_vec3_make(v[3], v[4], v[5]), to);
            put_vec(kk_mat3_tmul_vec(R, kk_vec3_make(v[0], v[1], v[2])), to + 3);
        } else if (offset[i] >= 0) {
            memcpy(to, v, (size_t)n * sizeof *to);
        }
        to += n;
    }
}

// ---- whose numbers they are

static const kki_mjcf_key_layout *layout_of(const kki_mjcf *m, int32_t node) {
    for (int i = 0; i < m->tree->layout_count; i++) {
        if (m->tree->layout[i].key == node) {
            return &m->tree->layout[i];
        }
    }
    return NULL;
}

/// Offsets in an attached model's keyframe, which has numbers for all joints of that model. The first copy of it gets them.
static int64_t lay_out_attached(const kki_mjcf *m, const kki_mjcf_key_layout *l, int (*size)(kk_joint_type),
                                int *offset) {
    int64_t at = 0;
    int next = 0;
    for (const char *c = l->joints; *c; c++) {
        const bool is_attached = *c >= 'A' && *c <= 'Z';
        const char letter = is_attached ? (char)(*c + 'a' - 'A') : *c;
        while (is_attached && next < m->joint_count &&
               (m->joint[next].node < l->first || m->joint[next].node >= l->end)) {
            next++;
        }
        if (is_attached && offset && next < m->joint_count) {
            offset[next++] = (int)at;
        }
        at += size(letter == 'f' ? KK_JOINT_FREE : letter == 'b' ? KK_JOINT_BALL : KK_JOINT_HINGE);
    }
    return at;
}

/// Whether a scope is another or one attached to it.
static bool is_within(const kki_mjcf *m, int scope, int outer) {
    while (scope > outer) {
        scope = m->tree->scope[scope].outer;
    }
    return scope == outer;
}

/// @param offset  [joint_count], filled with −1 before; NULL: only the sum is asked for
static int64_t lay_out(const kki_mjcf *m, const kki_mjcf_key_layout *l, int (*size)(kk_joint_type), int *offset) {
    int64_t at = 0;
    if (l) {
        return lay_out_attached(m, l, size, offset);
    }
    for (int i = 0; i < m->joint_count; i++) {
        if (offset) {
            offset[i] = (int)at;
        }
        at += m->joint[i].copies * size(m->joint[i].type);
    }
    return at;
}

/// The same for controls. An actuator of the attached model that did not come along has a number, too.
static int64_t lay_out_controls(const kki_mjcf *m, int32_t key, const kki_mjcf_key_layout *l, int *offset) {
    const char *letter = l ? l->controls : "";
    int64_t at = 0;
    for (int i = 0; i < m->control_count; i++) {
        const bool is_its = !l || is_within(m, kki_mjcf_scope_of(m, m->control[i].node), kki_mjcf_scope_of(m, key));
        for (; is_its && *letter == 'n'; letter++) {
            at++;
        }
        if (is_its && (!l || *letter == 'y')) {
            if (offset) {
                offset[i] = (int)at;
            }
            at++;
            letter += l ? 1 : 0;
        }
    }
    return at + (int64_t)strlen(letter);
}

/// An array of the right length, or NULL; a wrong one is reported. A model with others attached to it may have keyframes that were written
/// without them: MuJoCo takes the numbers from the first one on.
static double *read_array(kki_mjcf *m, int32_t node, const char *name, int64_t wanted, size_t *length, bool *is_wrong) {
    const int32_t attribute = kki_xml_find(m->xml, node, name);
    size_t count;
    *length = 0;
    if (attribute == KKI_XML_NONE || kki_mjcf_is_blank(m->xml, attribute)) {
        return NULL;
    }
    double *values = kki_mjcf_all_numbers(m, node, attribute, &count);
    *length = count;
    if (values && count < (size_t)wanted && m->tree->scope_count > 1) {
        kki_mjcf_report(
            m, KKI_WARNING, KK_OK, node, name,
            "%s of the keyframe has %d numbers where the model with what is attached has %d; the others are "
            "as at the start",
            name, (int)count, (int)wanted);
        return values;
    }
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

static void convert_control(const kki_mjcf *m, const double *from, const int *offset, double *to) {
    for (int i = 0; i < m->control_count; i++) {
        if (m->control[i].actuator >= 0 && offset[i] >= 0) {
            to[m->control[i].actuator] = from[offset[i]];
        }
    }
}

static void release(const kki_mjcf *m, double *array, size_t count) {
    kki_release_array(&m->loader->allocator, array, count, sizeof *array);
}

/// In a trial that has left copies out: a keyframe has numbers for all of them.
static void try_key(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const kki_mjcf_key_layout *l = layout_of(m, node);
    const char *const name[3] = {"qpos", "qvel", "ctrl"};
    const int64_t wanted[3] = {lay_out(m, l, kki_mjcf_joint_nq, NULL) + (l ? 0 : m->q_left_out),
                               lay_out(m, l, kki_mjcf_joint_nv, NULL) + (l ? 0 : m->v_left_out),
                               l ? lay_out_controls(m, node, l, NULL) : m->control_count + m->controls_left_out};
    bool is_wrong = false;
    for (int i = 0; i < 3; i++) {
        size_t length;
        double *value = read_array(m, node, name[i], wanted[i], &length, &is_wrong);
        release(m, value, length);
    }
    if (!is_wrong) {
        kki_mjcf_number(&at, "time", 0);
        kki_mjcf_name_put(m, KKI_MJCF_KEY, kki_mjcf_own_name(m, node), 0, node);
    }
}

enum { Q, V, CONTROL, ARRAYS };

/// A keyframe's arrays as the file has them, and where the numbers of each joint and control are.
typedef struct key {
    int32_t node;
    double *value[ARRAYS];
    size_t count[ARRAYS];
    int *offset[ARRAYS]; ///< [joint_count], [joint_count], [control_count]
    bool is_wrong;
} key;

/// What starts in numbers that are not there has none.
static void cut_offsets(int *offset, int count, size_t length, const kki_mjcf *m, int (*size)(kk_joint_type)) {
    for (int i = 0; i < count; i++) {
        const int n = size ? size(m->joint[i].type) : 1;
        offset[i] = offset[i] >= 0 && (size_t)(offset[i] + n) > length ? -1 : offset[i];
    }
}

static void read_arrays(kki_mjcf *m, key *k) {
    static const char *const names[ARRAYS] = {"qpos", "qvel", "ctrl"};
    int (*const size[ARRAYS])(kk_joint_type) = {kki_mjcf_joint_nq, kki_mjcf_joint_nv, NULL};
    const kki_mjcf_key_layout *l = layout_of(m, k->node);
    for (int i = 0; i < ARRAYS; i++) {
        const int64_t wanted =
            size[i] ? lay_out(m, l, size[i], k->offset[i]) : lay_out_controls(m, k->node, l, k->offset[i]);
        k->value[i] = read_array(m, k->node, names[i], wanted, &k->count[i], &k->is_wrong);
        cut_offsets(k->offset[i], size[i] ? m->joint_count : m->control_count, k->count[i], m, size[i]);
    }
}

static void add_key(kki_mjcf *m, const key *k, double *made, int nq, int nv) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, k->node);
    kk_keyframe_def def = kk_keyframe_def_default();
    def.name = kki_mjcf_own_name(m, k->node);
    def.time = kki_mjcf_number(&at, "time", 0);
    def.origin = kki_origin_of_node(m->xml, k->node);
    if (k->value[Q]) {
        convert_q(m, k->value[Q], k->offset[Q], made);
        def.q = made;
        def.q_count = nq;
    }
    if (k->value[V]) {
        convert_v(m, k->value[Q], k->offset[Q], k->value[V], k->offset[V], made + nq);
        def.v = made + nq;
        def.v_count = nv;
    }
    if (k->value[CONTROL]) {
        convert_control(m, k->value[CONTROL], k->offset[CONTROL], made + nq + nv);
        def.control = made + nq + nv;
        def.control_count = kk_spec_actuator_count(m->loader->spec);
    }
    kki_mjcf_name_put(m, KKI_MJCF_KEY, def.name, 0, k->node);
    kki_mjcf_stop(m, kk_spec_add_keyframe(m->loader->spec, &def, NULL, &m->error));
}

static void read_key(kki_mjcf *m, int32_t node) {
    key k = {.node = node};
    const kk_allocator *a = &m->loader->allocator;
    const int nq = (int)lay_out(m, NULL, kki_mjcf_joint_nq, NULL), nv = (int)lay_out(m, NULL, kki_mjcf_joint_nv, NULL);
    const size_t numbers = (size_t)nq + (size_t)nv + (size_t)kk_spec_actuator_count(m->loader->spec),
                 offsets = 2 * (size_t)m->joint_count + (size_t)m->control_count;
    double *made = kki_allocate_array_zeroed(a, numbers, sizeof *made);
    int *offset = kki_allocate_array(a, offsets, sizeof *offset);
    if (made && offset) {
        memset(offset, 0xff, offsets * sizeof *offset);
        k.offset[Q] = offset;
        k.offset[V] = offset + m->joint_count;
        k.offset[CONTROL] = offset + 2 * (size_t)m->joint_count;
        read_arrays(m, &k);
        if (!k.is_wrong && m->status == KK_OK) {
            add_key(m, &k, made, nq, nv);
        }
    } else {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
    }
    for (int i = 0; i < ARRAYS; i++) {
        release(m, k.value[i], k.count[i]);
    }
    kki_release_array(a, offset, offsets, sizeof *offset);
    kki_release_array(a, made, numbers, sizeof *made);
}

void kki_mjcf_keyframe(kki_mjcf *m, int32_t section) {
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        if (kki_mjcf_is_read(m, "keyframe", c)) {
            (m->is_short || m->is_check ? try_key : read_key)(m, c);
        }
    }
}

void kki_mjcf_size(kki_mjcf *m, int32_t section) {
    enum { MOST_KEYS = 1000 };
    const kki_mjcf_at at = kki_mjcf_element_here(m, section);
    const int64_t keys = kki_mjcf_whole(&at, "nkey", -1, MOST_KEYS, -1);
    while (m->scope == 0 && !m->is_short && !m->is_check && m->status == KK_OK &&
           kk_spec_keyframe_count(m->loader->spec) < keys) {
        kk_keyframe_def def = kk_keyframe_def_default();
        def.origin = kki_origin_of_node(m->xml, section);
        kki_mjcf_stop(m, kk_spec_add_keyframe(m->loader->spec, &def, NULL, &m->error));
    }
}
