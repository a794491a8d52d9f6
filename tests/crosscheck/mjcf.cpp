/// Our reader of MJCF against MuJoCo's, file by file: the same mass, joints, places, inertia matrix, inverse dynamics,
/// limits, actuators, tendons, keyframes.
///
///     mjcf [--states N] FILE...
///
/// A file that both refuse agrees. Ends with failure where an error is over 1e-9 (relative to the largest entry).
#include <karakuri/karakuri.h>
#include <karakuri/load.h>

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr double bar = 1e-9;

struct checker {
    std::map<std::string, double> worst;
    int faults = 0;

    void near(const std::string &what, double ours, double theirs, double scale = 1) {
        const double error = std::fabs(ours - theirs) / std::max({scale, 1e-3});
        double &w = worst[what];
        w = std::isnan(error) ? 1e300 : std::max(w, error);
        if (!(error <= bar) && faults++ < 5) {
            std::printf("    %s: ours %.17g, MuJoCo's %.17g\n", what.c_str(), ours, theirs);
        }
    }
    void equal(const std::string &what, long ours, long theirs) {
        if (ours != theirs && faults++ < 5) {
            std::printf("    %s: ours %ld, MuJoCo's %ld\n", what.c_str(), ours, theirs);
        }
    }
};

/// One file in both engines.
struct twin {
    kk_spec *spec = nullptr;
    kk_model *model = nullptr;
    kk_data *data = nullptr;
    mjModel *m = nullptr;
    mjData *d = nullptr;
    std::vector<int> joint; ///< our body of MuJoCo's joint
    std::vector<int> body;  ///< our body of MuJoCo's body
};

double uniform(std::uint64_t &seed) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed >> 11) / 9007199254740992.0 * 2 - 1;
}

kk_mat3 matrix_of(const mjtNum *q) {
    return kk_quat_to_mat3(kk_quat_normalize(kk_quat{q[0], q[1], q[2], q[3]}));
}

void find_bodies(twin &t, checker &c) {
    for (int i = 1; i < kk_spec_body_count(t.spec); i++) {
        if (kk_spec_body(t.spec, i)->joint.type != KK_JOINT_FIXED) {
            t.joint.push_back(i);
        }
    }
    c.equal("joints", static_cast<long>(t.joint.size()), t.m->njnt);
    for (int i = 0; i < t.m->nbody; i++) {
        const char *name = mj_id2name(t.m, mjOBJ_BODY, i);
        const int found = kk_model_find_body(t.model, name ? name : ("body" + std::to_string(i)).c_str());
        c.equal("body found", found >= 0, 1);
        t.body.push_back(found < 0 ? 0 : found);
    }
}

/// MuJoCo's q as ours.
std::vector<double> our_q(const twin &t, const mjtNum *qpos) {
    std::vector<double> q(static_cast<std::size_t>(kk_model_nq(t.model)));
    for (int j = 0; j < t.m->njnt; j++) {
        const int b = t.joint[static_cast<std::size_t>(j)];
        double *to = &q[static_cast<std::size_t>(kk_model_joint(t.model, b).q_index)];
        const mjtNum *from = qpos + t.m->jnt_qposadr[j];
        if (t.m->jnt_type[j] == mjJNT_FREE) {
            const kk_transform rest = kk_spec_body(t.spec, b)->joint.placement;
            const kk_transform X =
                kk_transform_mul(kk_transform_inverse(rest),
                                 kk_transform_make(matrix_of(from + 3), kk_vec3_make(from[0], from[1], from[2])));
            const kk_quat r = kk_quat_from_mat3(X.R);
            const double made[7] = {r.w, r.x, r.y, r.z, X.p.x, X.p.y, X.p.z};
            std::copy(made, made + 7, to);
        } else {
            std::copy(from, from + (t.m->jnt_type[j] == mjJNT_BALL ? 4 : 1), to);
        }
    }
    return q;
}

/// d(our v)/d(MuJoCo's v), by columns of MuJoCo's: [nv × nv], ours by row.
std::vector<double> velocity_map(const twin &t) {
    const int nv = static_cast<int>(t.m->nv);
    std::vector<double> S(static_cast<std::size_t>(nv * nv));
    for (int j = 0; j < t.m->njnt; j++) {
        const int at = kk_model_joint(t.model, t.joint[static_cast<std::size_t>(j)]).v_index, adr = t.m->jnt_dofadr[j];
        const auto set = [&](int row, int column, double value) {
            S[static_cast<std::size_t>((at + row) * nv + adr + column)] = value;
        };
        if (t.m->jnt_type[j] == mjJNT_FREE) {
            const mjtNum *R = t.d->xmat + 9 * t.m->jnt_bodyid[j];
            for (int i = 0; i < 3; i++) {
                set(i, 3 + i, 1);
                for (int k = 0; k < 3; k++) {
                    set(3 + i, k, R[3 * k + i]);
                }
            }
        } else {
            for (int i = 0; i < (t.m->jnt_type[j] == mjJNT_BALL ? 3 : 1); i++) {
                set(i, i, 1);
            }
        }
    }
    return S;
}

std::vector<double> apply(const std::vector<double> &S, const std::vector<double> &x, bool transposed) {
    const std::size_t n = x.size();
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; i++) {
        for (std::size_t k = 0; k < n; k++) {
            y[i] += (transposed ? S[k * n + i] : S[i * n + k]) * x[k];
        }
    }
    return y;
}

double largest(const mjtNum *x, int n) {
    double w = 1;
    for (int i = 0; i < n; i++) {
        w = std::max(w, std::fabs(x[i]));
    }
    return w;
}

void compare_pose(checker &c, const char *what, kk_transform X, const mjtNum *p, const mjtNum *R, double slack = 1) {
    const double mine[3] = {X.p.x, X.p.y, X.p.z};
    const double scale = largest(p, 3) * slack;
    for (int i = 0; i < 3; i++) {
        c.near(what, mine[i], p[i], scale);
    }
    for (int i = 0; i < 9; i++) {
        c.near(what, X.R.m[i], R[i], slack);
    }
}

void compare_state(twin &t, checker &c, std::uint64_t &seed) {
    const int nv = static_cast<int>(t.m->nv);
    const auto n = static_cast<std::size_t>(nv);
    std::vector<double> v(n), a(n), tau(n), ours(n), S;
    std::vector<mjtNum> M(n * n), Ma(n);
    for (std::size_t i = 0; i < n; i++) {
        t.d->qvel[i] = v[i] = uniform(seed);
        a[i] = uniform(seed);
    }
    mj_forward(t.m, t.d);
    const std::vector<double> q = our_q(t, t.d->qpos);
    kk_kinematics(t.model, t.data, q.data());
    for (int i = 0; i < t.m->nbody; i++) {
        compare_pose(c, "pose", kk_body_pose(t.model, t.data, t.body[static_cast<std::size_t>(i)]), t.d->xpos + 3 * i,
                     t.d->xmat + 9 * i);
    }
    for (int i = 0; i < t.m->nsite; i++) {
        compare_pose(c, "site", kk_frame_pose(t.model, t.data, i), t.d->site_xpos + 3 * i, t.d->site_xmat + 9 * i);
    }
    for (int i = 0; i < t.m->ntendon; i++) {
        const kk_tendon_def *def = kk_spec_tendon(t.spec, i);
        double length = 0, divisor = 1;
        const kk_frame_def *last = nullptr;
        kk_vec3 from{};
        for (int k = 0; k < def->item_count; k++) {
            const kk_tendon_item &item = def->item[k];
            if (def->type == KK_TENDON_FIXED) {
                const int b = kk_model_find_joint(t.model, item.name);
                length += item.coefficient * q[static_cast<std::size_t>(kk_model_joint(t.model, b).q_index)];
            } else if (!item.name) {
                divisor = item.coefficient;
                last = nullptr;
            } else {
                const int frame = kk_model_find_frame(t.model, item.name);
                const kk_vec3 here = kk_frame_pose(t.model, t.data, frame).p;
                length += last ? kk_vec3_norm(kk_vec3_sub(here, from)) / divisor : 0;
                last = kk_spec_frame(t.spec, frame);
                from = here;
            }
        }
        bool wraps = false;
        for (int k = 0; k < t.m->tendon_num[i]; k++) {
            const int type = t.m->wrap_type[t.m->tendon_adr[i] + k];
            wraps = wraps || type == mjWRAP_SPHERE || type == mjWRAP_CYLINDER;
        }
        if (!wraps) {
            c.near("tendon", length, t.d->ten_length[i]);
        }
    }
    if (nv == 0) {
        return;
    }
    S = velocity_map(t);
    std::vector<double> w = apply(S, v, false), b = apply(S, a, false);
    for (int j = 0; j < t.m->njnt; j++) { // the body's axes turn: d/dt (Rᵀ v) = Rᵀ a − ω × Rᵀ v
        if (t.m->jnt_type[j] == mjJNT_FREE) {
            const auto at =
                static_cast<std::size_t>(kk_model_joint(t.model, t.joint[static_cast<std::size_t>(j)]).v_index);
            const kk_vec3 x =
                kk_vec3_cross(kk_vec3_make(w[at], w[at + 1], w[at + 2]), kk_vec3_make(w[at + 3], w[at + 4], w[at + 5]));
            b[at + 3] -= x.x;
            b[at + 4] -= x.y;
            b[at + 5] -= x.z;
        }
    }
    kk_inverse_dynamics(t.model, t.data, q.data(), w.data(), b.data(), ours.data());
    tau = apply(S, ours, true);
    mj_mulM(t.m, t.d, Ma.data(), a.data());
    const double scale = std::max(largest(Ma.data(), nv), largest(t.d->qfrc_bias, nv));
    for (std::size_t i = 0; i < n; i++) {
        c.near("inverse dynamics", tau[i], Ma[i] + t.d->qfrc_bias[i], scale);
    }
    std::vector<double> mine(n * n);
    kk_inertia_matrix(t.model, t.data, q.data(), mine.data());
    std::vector<mjtNum> unit(n), column(n);
    double size = 1;
    std::vector<double> theirs(n * n);
    for (std::size_t i = 0; i < n; i++) {
        std::fill(unit.begin(), unit.end(), 0);
        unit[i] = 1;
        mj_mulM(t.m, t.d, column.data(), unit.data());
        size = std::max(size, largest(column.data(), nv));
        std::copy(column.begin(), column.end(), theirs.begin() + static_cast<std::ptrdiff_t>(i * n));
    }
    for (std::size_t i = 0; i < n; i++) {
        std::vector<double> e(n);
        e[i] = 1;
        const std::vector<double> s = apply(S, e, false), x = apply(mine, s, false), y = apply(S, x, true);
        for (std::size_t k = 0; k < n; k++) {
            c.near("inertia matrix", y[k], theirs[i * n + k], size);
        }
    }
}

void compare_joints(const twin &t, checker &c) {
    for (int j = 0; j < t.m->njnt; j++) {
        const kk_dof_def &dof = kk_spec_body(t.spec, t.joint[static_cast<std::size_t>(j)])->joint.dof[0];
        const int adr = t.m->jnt_dofadr[j];
        c.near("stiffness", dof.stiffness, t.m->jnt_stiffness[j], dof.stiffness);
        c.near("damping", dof.damping, t.m->dof_damping[adr], dof.damping);
        c.near("friction", dof.friction, t.m->dof_frictionloss[adr]);
        c.near("armature", dof.armature, t.m->dof_armature[adr]);
        const bool is_scalar = t.m->jnt_type[j] == mjJNT_HINGE || t.m->jnt_type[j] == mjJNT_SLIDE;
        c.equal("limited", std::isfinite(dof.upper), t.m->jnt_limited[j]);
        if (t.m->jnt_limited[j]) {
            c.near("upper limit", dof.upper, t.m->jnt_range[2 * j + 1]);
        }
        if (t.m->jnt_limited[j] && is_scalar) {
            c.near("lower limit", dof.lower, t.m->jnt_range[2 * j]);
        }
        if (is_scalar) {
            c.near("rest", dof.rest, t.m->qpos_spring[t.m->jnt_qposadr[j]]);
        }
    }
}

bool is_ours(const mjModel *m, int i) {
    return m->actuator_gaintype[i] == mjGAIN_FIXED &&
           (m->actuator_biastype[i] == mjBIAS_NONE || m->actuator_biastype[i] == mjBIAS_AFFINE) &&
           m->actuator_trntype[i] != mjTRN_BODY && m->actuator_trntype[i] != mjTRN_SLIDERCRANK;
}

void compare_actuators(const twin &t, checker &c) {
    if (kk_spec_actuator_count(t.spec) != t.m->nu) {
        return; // some are not supported, which is reported
    }
    for (int i = 0; i < t.m->nu; i++) {
        if (!is_ours(t.m, i)) {
            continue;
        }
        const kk_actuator_def *def = kk_spec_actuator(t.spec, i);
        c.near("gain", def->gain, t.m->actuator_gainprm[mjNGAIN * i], std::fabs(def->gain));
        for (int k = 0; k < 3 && t.m->actuator_biastype[i] == mjBIAS_AFFINE; k++) {
            c.near("bias", def->bias[k], t.m->actuator_biasprm[mjNBIAS * i + k], std::fabs(def->gain));
        }
        if (def->transmission != KK_TRANSMISSION_FRAME && def->dof == 0) {
            c.near("gear", def->gear, t.m->actuator_gear[6 * i]);
        }
        if (t.m->actuator_ctrllimited[i]) {
            c.near("control range", def->control_lower, t.m->actuator_ctrlrange[2 * i]);
            c.near("control range", def->control_upper, t.m->actuator_ctrlrange[2 * i + 1]);
        }
        if (t.m->actuator_forcelimited[i]) {
            c.near("force range", def->force_lower, t.m->actuator_forcerange[2 * i]);
            c.near("force range", def->force_upper, t.m->actuator_forcerange[2 * i + 1]);
        }
    }
}

void compare_shapes(const twin &t, checker &c) {
    if (kk_spec_shape_count(t.spec) != t.m->ngeom) {
        return; // MuJoCo or the options left some out
    }
    for (int i = 0; i < t.m->ngeom; i++) {
        const kk_shape_def *shape = kk_spec_shape(t.spec, i);
        const mjtNum *s = t.m->geom_size + 3 * i;
        c.equal("shape's body", shape->body, t.body[static_cast<std::size_t>(t.m->geom_bodyid[i])]);
        c.equal("contype", static_cast<long>(shape->group),
                static_cast<long>(static_cast<unsigned>(t.m->geom_contype[i])));
        switch (t.m->geom_type[i]) {
        case mjGEOM_SPHERE: c.near("size", shape->size[0], s[0]); break;
        case mjGEOM_CAPSULE:
        case mjGEOM_CYLINDER:
            c.near("size", shape->size[0], s[0]);
            c.near("size", shape->size[1], 2 * s[1]);
            break;
        case mjGEOM_BOX:
        case mjGEOM_ELLIPSOID:
            for (int k = 0; k < 3; k++) {
                c.near("size", shape->size[k], (t.m->geom_type[i] == mjGEOM_BOX ? 2 : 1) * s[k]);
            }
            break;
        default: break;
        }
        if (t.m->geom_type[i] != mjGEOM_MESH && t.m->geom_dataid[i] < 0) {
            mjtNum R[9];
            mju_quat2Mat(R, t.m->geom_quat + 4 * i);
            kk_transform X = shape->placement;
            for (int k = 0; k < 3; k++) { // an axis and its opposite are the same to a shape
                const double dot = X.R.m[k] * R[k] + X.R.m[3 + k] * R[3 + k] + X.R.m[6 + k] * R[6 + k];
                for (int r = 0; dot < 0 && r < 3; r++) {
                    X.R.m[3 * r + k] = -X.R.m[3 * r + k];
                }
            }
            // MuJoCo's principal axes, to which it fits primitives, are good to about 1e-8
            compare_pose(c, "shape", X, t.m->geom_pos + 3 * i, R, kk_spec_mesh_count(t.spec) > 0 ? 100 : 1);
        }
    }
}

/// Our keyframes, through our kinematics, give MuJoCo's poses.
void compare_keys(twin &t, checker &c) {
    c.equal("keyframes", kk_spec_keyframe_count(t.spec), t.m->nkey);
    for (int k = 0; k < t.m->nkey && k < kk_spec_keyframe_count(t.spec); k++) {
        mj_resetDataKeyframe(t.m, t.d, k);
        mj_forward(t.m, t.d);
        const kk_keyframe_def *key = kk_spec_keyframe(t.spec, k);
        std::vector<double> q(static_cast<std::size_t>(kk_model_nq(t.model))),
            v(static_cast<std::size_t>(kk_model_nv(t.model)));
        kk_model_neutral(t.model, q.data());
        int at = 0, vat = 0;
        for (int i = 1; i < kk_spec_body_count(t.spec); i++) {
            const kk_joint_info info = kk_model_joint(t.model, i);
            for (int j = 0; key->q && j < info.nq; j++) {
                q[static_cast<std::size_t>(info.q_index + j)] = key->q[at + j];
            }
            for (int j = 0; key->v && j < info.nv; j++) {
                v[static_cast<std::size_t>(info.v_index + j)] = key->v[vat + j];
            }
            at += info.nq;
            vat += info.nv;
        }
        if (!key->q) {
            q = our_q(t, t.d->qpos);
        }
        kk_kinematics_velocity(t.model, t.data, q.data(), v.data());
        for (int i = 0; i < t.m->nbody; i++) {
            const int b = t.body[static_cast<std::size_t>(i)];
            compare_pose(c, "key's pose", kk_body_pose(t.model, t.data, b), t.d->xpos + 3 * i, t.d->xmat + 9 * i);
            mjtNum mine[6];
            mj_objectVelocity(t.m, t.d, mjOBJ_XBODY, i, mine, 1);
            const kk_motion u = kk_body_velocity(t.model, t.data, b, KK_LOCAL);
            const double ours[6] = {u.angular.x, u.angular.y, u.angular.z, u.linear.x, u.linear.y, u.linear.z};
            for (int j = 0; j < 6; j++) {
                c.near("key's velocity", ours[j], mine[j], largest(mine, 6));
            }
        }
        for (int i = 0; key->control && i < key->control_count && key->control_count == t.m->nu; i++) {
            c.near("key's control", key->control[i], t.d->ctrl[i]);
        }
    }
    mj_resetData(t.m, t.d);
}

/// Where the two sides of a connect stand, at the reference pose.
void compare_connects(const twin &t, checker &c) {
    int loop = 0;
    for (int i = 0; i < t.m->neq; i++) {
        const int type = t.m->eq_type[i];
        if (type != mjEQ_CONNECT && type != mjEQ_WELD) {
            continue;
        }
        const kk_loop_def *def = kk_spec_loop(t.spec, loop++);
        if (type == mjEQ_CONNECT && def && t.m->eq_objtype[i] == mjOBJ_BODY) {
            const mjtNum *a = t.m->eq_data + mjNEQDATA * i;
            for (int k = 0; k < 2; k++) {
                const kk_vec3 p = def->placement[k].p;
                const double mine[3] = {p.x, p.y, p.z};
                for (int j = 0; j < 3; j++) {
                    c.near("connect", mine[j], a[3 * k + j]);
                }
            }
        }
    }
    c.equal("loops", kk_spec_loop_count(t.spec), loop);
}

void compare_whole(const twin &t, checker &c) {
    double mass = 0;
    for (int i = 0; i < t.m->nbody; i++) {
        mass += t.m->body_mass[i];
    }
    c.near("mass", kk_model_mass(t.model), mass, mass);
    const kk_options *o = kk_spec_options(t.spec);
    c.near("timestep", o->timestep, t.m->opt.timestep);
    if (!(t.m->opt.disableflags & mjDSBL_GRAVITY)) {
        c.near("gravity", o->gravity.z, t.m->opt.gravity[2]);
    }
    c.equal("sites", kk_spec_frame_count(t.spec) >= t.m->nsite, 1);
}

void compare(twin &t, checker &c, int states) {
    std::uint64_t seed = 1;
    find_bodies(t, c);
    if (c.faults > 0) {
        return;
    }
    compare_whole(t, c);
    compare_joints(t, c);
    compare_actuators(t, c);
    compare_shapes(t, c);
    compare_connects(t, c);
    for (int s = 0; s <= states; s++) { // the first is the reference pose
        for (int i = 0; s > 0 && i < t.m->nq; i++) {
            t.d->qpos[i] = uniform(seed) * 2;
        }
        mj_normalizeQuat(t.m, t.d->qpos);
        compare_state(t, c, seed);
    }
    compare_keys(t, c);
}

bool check_file(const char *path, int states, bool is_verbose) {
    twin t;
    checker c;
    char theirs[1024] = "";
    kk_error error{};
    kk_messages *messages = nullptr;
    t.m = mj_loadXML(path, nullptr, theirs, sizeof theirs);
    kk_status status = kk_load_file(path, nullptr, nullptr, &t.spec, &messages, &error);
    status = status ? status : kk_model_compile(t.spec, nullptr, &t.model, &error);
    status = status ? status : kk_data_create_with_matrices(t.model, nullptr, &t.data);
    const char *verdict = "agrees";
    bool good = true;
    if (!t.m && status) {
        verdict = "both refuse";
    } else if (!t.m) {
        verdict = "only MuJoCo refuses";
    } else if (status) {
        verdict = "REFUSED BY US";
        good = false;
    } else {
        t.d = mj_makeData(t.m);
        compare(t, c, states);
        good = c.faults == 0;
        verdict = good ? verdict : "DIFFERS";
    }
    double worst = 0;
    for (const auto &w : c.worst) {
        worst = std::max(worst, w.second);
    }
    std::printf("%-60s %-20s %.1e\n", path, verdict, worst);
    if (status) {
        std::printf("    ours: %s:%d:%d: %s\n", error.file, error.line, error.column, error.text);
    }
    if (!t.m) {
        std::printf("    MuJoCo: %s\n", theirs);
    }
    for (int i = 0; is_verbose && messages && i < kk_messages_count(messages); i++) {
        const kk_message msg = kk_messages_get(messages, i);
        std::printf("    %d:%d: %s: %s\n", msg.line, msg.column, kk_severity_name(msg.severity), msg.text);
    }
    mj_deleteData(t.d);
    mj_deleteModel(t.m);
    kk_data_free(t.data);
    kk_model_free(t.model);
    kk_spec_free(t.spec);
    kk_messages_free(messages);
    return good;
}

} // namespace

int main(int argc, char **argv) {
    int states = 20, bad = 0, files = 0;
    bool is_verbose = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--states") == 0 && i + 1 < argc) {
            states = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--verbose") == 0) {
            is_verbose = true;
        } else {
            files++;
            bad += check_file(argv[i], states, is_verbose) ? 0 : 1;
        }
    }
    std::printf("%d of %d files differ\n", bad, files);
    return bad > 0;
}
