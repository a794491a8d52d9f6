/// MuJoCo behind our conventions.
///
/// The model is built through mjSpec, so no number passes through text. A joint of several degrees of freedom becomes
/// several joints of one body, outermost first. MuJoCo's velocities differ from ours for two joints: a ball turns in
/// the axes of the body, a free body's linear velocity is that of its origin in world axes. Hence a matrix T(q) with
/// v_mujoco = T v; then a_mujoco = T a + Ṫ v, tau = Tᵀ tau_mujoco, M = Tᵀ M_mujoco T.
#include "robot.hpp"

#include <Eigen/Dense>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <stdexcept>

namespace peers {

namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;
using row_matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using index = std::size_t;

index at(int i) {
    return static_cast<index>(i);
}

Vector3d vec3_of(kk_vec3 v) {
    return Vector3d(v.x, v.y, v.z);
}
Matrix3d mat3_of(const kk_mat3 &R) {
    return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R.m);
}
Matrix3d skew(const Vector3d &p) {
    Matrix3d S;
    S << 0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0;
    return S;
}
void put(double *to, const Vector3d &v) {
    Eigen::Map<Vector3d>{to} = v;
}
void put(double *to, const Quaterniond &q) {
    to[0] = q.w();
    to[1] = q.x();
    to[2] = q.y();
    to[3] = q.z();
}

/// What is needed of a joint to carry a state over.
struct joint {
    kk_joint_type type;
    int q_ours, v_ours, nv; ///< where it sits in our q and v
    int q_theirs, v_theirs;
    Matrix3d R_WJ0, R_JB; ///< placement (of a joint on the world) and offset
    Vector3d p_WJ0, p_JB;
};

class mujoco_robot final : public robot {
  public:
    mujoco_robot(kk_spec *spec, const kk_model *ours);
    ~mujoco_robot() override {
        mj_deleteData(d);
        mj_deleteModel(m);
    }
    mujoco_robot(const mujoco_robot &) = delete;
    mujoco_robot &operator=(const mujoco_robot &) = delete;

    void load(const states &given) override {
        all = given;
    }
    numbers result(quantity what, int state) override;
    int variants(algorithm) const override {
        return 0;
    }
    void run(algorithm, int, int) override {
    }

  private:
    void add_joint(mjsBody *body, const kk_body_def &def, mjtJoint type, kk_vec3 axis, int dof);
    void add_joints(mjsBody *body, const kk_body_def &def);
    void find_joint(const kk_model *ours, const kk_body_def &def, int body);
    void set_state(int s);
    void set_free(const joint &j, const double *q, const double *v);
    numbers vector_back(const VectorXd &force) const;
    numbers inverse(const double *acceleration, bool with_v, bool with_external, int s);
    numbers forward(bool with_external, int s);
    numbers body_jacobians(bool rate);
    void apply_external(int s);

    mjModel *m = nullptr;
    mjData *d = nullptr;
    int nq, nv, nbody;
    std::vector<joint> joints;
    std::vector<int> body_id; ///< theirs, of each of ours
    states all;
    MatrixXd T, dT;
};

// ---- conversion of the model

void mujoco_robot::add_joint(mjsBody *body, const kk_body_def &def, mjtJoint type, kk_vec3 axis, int dof) {
    // the joint's frame seen from the body
    const Matrix3d R_BJ = mat3_of(def.offset.R).transpose();
    mjsJoint *joint = mjs_addJoint(body, nullptr);
    joint->type = type;
    joint->align = mjALIGNFREE_FALSE;
    joint->limited = mjLIMITED_FALSE;
    joint->armature = def.joint.dof[dof].armature +
                      def.joint.dof[dof].rotor_inertia * def.joint.dof[dof].gear_ratio * def.joint.dof[dof].gear_ratio;
    if (type != mjJNT_FREE) {
        put(joint->pos, Vector3d(-R_BJ * vec3_of(def.offset.p)));
        put(joint->axis, Vector3d(R_BJ * vec3_of(axis).normalized()));
    }
}

void mujoco_robot::add_joints(mjsBody *body, const kk_body_def &def) {
    const kk_vec3 axis = def.joint.axis, axis2 = def.joint.axis2;
    switch (def.joint.type) {
    case KK_JOINT_FIXED: break;
    case KK_JOINT_HINGE: add_joint(body, def, mjJNT_HINGE, axis, 0); break;
    case KK_JOINT_SLIDE: add_joint(body, def, mjJNT_SLIDE, axis, 0); break;
    case KK_JOINT_BALL: add_joint(body, def, mjJNT_BALL, axis, 0); break;
    case KK_JOINT_FREE: add_joint(body, def, mjJNT_FREE, axis, 0); break;
    case KK_JOINT_CYLINDRICAL:
        add_joint(body, def, mjJNT_HINGE, axis, 0);
        add_joint(body, def, mjJNT_SLIDE, axis, 1);
        break;
    case KK_JOINT_UNIVERSAL:
        add_joint(body, def, mjJNT_HINGE, axis, 0);
        add_joint(body, def, mjJNT_HINGE, axis2, 1);
        break;
    case KK_JOINT_PLANAR:
        add_joint(body, def, mjJNT_SLIDE, axis2, 0);
        add_joint(body, def, mjJNT_SLIDE, kk_vec3_cross(axis, axis2), 1);
        add_joint(body, def, mjJNT_HINGE, axis, 2);
        break;
    case KK_JOINT_SCREW: throw std::logic_error("MuJoCo has no screw");
    }
}

void set_inertia(mjsBody *body, const kk_inertia &I) {
    const double full[6] = {I.moment.xx, I.moment.yy, I.moment.zz, I.moment.xy, I.moment.xz, I.moment.yz};
    body->explicitinertial = 1;
    body->mass = I.mass;
    put(body->ipos, vec3_of(I.com));
    std::copy(full, full + 6, body->fullinertia);
}

void mujoco_robot::find_joint(const kk_model *ours, const kk_body_def &def, int body) {
    const kk_joint_info info = kk_model_joint(ours, body);
    if (info.nv == 0) {
        return;
    }
    const int first = m->body_jntadr[body_id[at(body)]];
    joint j = {info.type,
               info.q_index,
               info.v_index,
               info.nv,
               m->jnt_qposadr[first],
               m->jnt_dofadr[first],
               mat3_of(def.joint.placement.R),
               mat3_of(def.offset.R),
               vec3_of(def.joint.placement.p),
               vec3_of(def.offset.p)};
    joints.push_back(j);
}

mujoco_robot::mujoco_robot(kk_spec *spec, const kk_model *ours)
    : nq(kk_model_nq(ours)), nv(kk_model_nv(ours)), nbody(kk_spec_body_count(spec)), T(MatrixXd::Zero(nv, nv)),
      dT(MatrixXd::Zero(nv, nv)) {
    mjSpec *theirs = mj_makeSpec();
    theirs->compiler.degree = 0;
    theirs->option.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_SPRING | mjDSBL_DAMPER;
    const kk_vec3 g = kk_model_gravity(ours);
    put(theirs->option.gravity, vec3_of(g));
    std::vector<mjsBody *> made(at(nbody), mjs_findBody(theirs, "world"));
    for (int i = 1; i < nbody; i++) {
        const kk_body_def &def = *kk_spec_body(spec, i);
        const kk_transform X_PB = kk_transform_mul(def.joint.placement, def.offset);
        mjsBody *body = made[at(i)] = mjs_addBody(made[at(def.parent)], nullptr);
        mjs_setName(body->element, def.name);
        put(body->pos, vec3_of(X_PB.p));
        put(body->quat, Quaterniond(mat3_of(X_PB.R)));
        if (def.inertia.mass > 0) {
            set_inertia(body, def.inertia);
        }
        add_joints(body, def);
    }
    m = mj_compile(theirs, nullptr);
    if (!m) {
        throw std::runtime_error(std::string("MuJoCo: ") + mjs_getError(theirs));
    }
    mj_deleteSpec(theirs);
    d = mj_makeData(m);
    body_id.assign(at(nbody), 0);
    for (int i = 1; i < nbody; i++) {
        const kk_body_def &def = *kk_spec_body(spec, i);
        body_id[at(i)] = mj_name2id(m, mjOBJ_BODY, def.name);
        find_joint(ours, def, i);
    }
}

// ---- states

void mujoco_robot::set_free(const joint &j, const double *q, const double *v) {
    const Matrix3d R_WJ = j.R_WJ0 * Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
    const Vector3d p_WJ = j.R_WJ0 * Vector3d(q[4], q[5], q[6]) + j.p_WJ0, omega(v[0], v[1], v[2]);
    put(d->qpos + j.q_theirs, Vector3d(R_WJ * j.p_JB + p_WJ));
    put(d->qpos + j.q_theirs + 3, Quaterniond(R_WJ * j.R_JB));
    // linear velocity of the body's origin in the world, and its rate; angular velocity in the body
    T.block<3, 3>(j.v_theirs, j.v_ours) = -R_WJ * skew(j.p_JB);
    T.block<3, 3>(j.v_theirs, j.v_ours + 3) = R_WJ;
    T.block<3, 3>(j.v_theirs + 3, j.v_ours) = j.R_JB.transpose();
    dT.block<3, 3>(j.v_theirs, j.v_ours) = -R_WJ * skew(omega) * skew(j.p_JB);
    dT.block<3, 3>(j.v_theirs, j.v_ours + 3) = R_WJ * skew(omega);
}

void mujoco_robot::set_state(int s) {
    const double *q = &all.q[at(s * nq)], *v = &all.v[at(s * nv)];
    for (const joint &j : joints) {
        const double *jq = q + j.q_ours;
        if (j.type == KK_JOINT_FREE) {
            set_free(j, jq, v + j.v_ours);
        } else if (j.type == KK_JOINT_BALL) {
            const Vector3d turned = j.R_JB.transpose() * Vector3d(jq[1], jq[2], jq[3]);
            put(d->qpos + j.q_theirs, Quaterniond(jq[0], turned[0], turned[1], turned[2]));
            T.block<3, 3>(j.v_theirs, j.v_ours) = j.R_JB.transpose();
        } else {
            for (int k = 0; k < j.nv; k++) {
                d->qpos[j.q_theirs + k] = jq[k];
                T(j.v_theirs + k, j.v_ours + k) = 1;
            }
        }
    }
    Eigen::Map<VectorXd>(d->qvel, nv) = T * Eigen::Map<const VectorXd>(v, nv);
    Eigen::Map<VectorXd>(d->qacc, nv).setZero();
    Eigen::Map<VectorXd>(d->qfrc_applied, nv).setZero();
    Eigen::Map<VectorXd>(d->xfrc_applied, 6 * m->nbody).setZero();
}

// MuJoCo wants world axes, [force; moment] about the body's center of mass
void mujoco_robot::apply_external(int s) {
    mj_kinematics(m, d);
    for (int body = 1; body < nbody; body++) {
        const kk_force &f = all.external[at(s * nbody + body)];
        const int id = body_id[at(body)];
        const Matrix3d R = Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(d->xmat + 9 * id);
        const Vector3d force = R * vec3_of(f.linear), com = Eigen::Map<Vector3d>(d->xipos + 3 * id),
                       origin = Eigen::Map<Vector3d>(d->xpos + 3 * id);
        put(d->xfrc_applied + 6 * id, force);
        put(d->xfrc_applied + 6 * id + 3, Vector3d(R * vec3_of(f.angular) - (com - origin).cross(force)));
    }
}

// ---- back to our conventions

numbers copy(const row_matrix &M) {
    return numbers(M.data(), M.data() + M.size());
}

numbers mujoco_robot::vector_back(const VectorXd &force) const {
    return copy(T.transpose() * force);
}

// inverse dynamics; acceleration may be NULL for none
numbers mujoco_robot::inverse(const double *acceleration, bool with_v, bool with_external, int s) {
    Eigen::Map<VectorXd> qvel(d->qvel, nv), qacc(d->qacc, nv);
    if (!with_v) {
        qvel.setZero();
    } else {
        const Eigen::Map<const VectorXd> v(&all.v[at(s * nv)], nv);
        qacc = dT * v;
    }
    if (acceleration) {
        qacc += T * Eigen::Map<const VectorXd>(acceleration, nv);
    }
    mj_inverse(m, d);
    VectorXd tau = Eigen::Map<VectorXd>(d->qfrc_inverse, nv);
    if (with_external) {
        // inverse dynamics is linear in outer forces: take off what they do
        apply_external(s);
        VectorXd pushed = VectorXd::Zero(nv);
        for (int id = 1; id < m->nbody; id++) {
            mj_applyFT(m, d, d->xfrc_applied + 6 * id, d->xfrc_applied + 6 * id + 3, d->xipos + 3 * id, id,
                       pushed.data());
        }
        tau -= pushed;
    }
    return vector_back(tau);
}

numbers mujoco_robot::forward(bool with_external, int s) {
    const Eigen::Map<const VectorXd> tau(&all.tau[at(s * nv)], nv), v(&all.v[at(s * nv)], nv);
    const Eigen::PartialPivLU<MatrixXd> lu(T);
    Eigen::Map<VectorXd>(d->qfrc_applied, nv) = T.transpose().partialPivLu().solve(VectorXd(tau));
    if (with_external) {
        apply_external(s);
    }
    mj_forward(m, d);
    return copy(lu.solve(VectorXd(Eigen::Map<VectorXd>(d->qacc, nv) - dT * v)));
}

// world axes about each body's origin
numbers mujoco_robot::body_jacobians(bool rate) {
    numbers result(at(6 * nv), 0.0);
    row_matrix linear(3, nv), angular(3, nv), J(6, nv), dJ(6, nv);
    for (int body = 1; body < nbody; body++) {
        const int id = body_id[at(body)];
        mj_jacBody(m, d, linear.data(), angular.data(), id);
        J << angular, linear;
        row_matrix mapped = J * T;
        if (rate) {
            mj_jacDot(m, d, linear.data(), angular.data(), d->xpos + 3 * id, id);
            dJ << angular, linear;
            mapped = dJ * T + J * dT;
        }
        const numbers block = copy(mapped);
        result.insert(result.end(), block.begin(), block.end());
    }
    return result;
}

numbers mujoco_robot::result(quantity what, int s) {
    set_state(s);
    mj_fwdPosition(m, d);
    mj_fwdVelocity(m, d);
    const double *a = &all.a[at(s * nv)];
    row_matrix three(3, nv), M(nv, nv);
    numbers result;
    switch (what) {
    case quantity::poses:
        for (int id : body_id) {
            result.insert(result.end(), d->xmat + 9 * id, d->xmat + 9 * id + 9);
            result.insert(result.end(), d->xpos + 3 * id, d->xpos + 3 * id + 3);
        }
        return result;
    case quantity::velocities:
        for (int id : body_id) {
            mjtNum velocity[6];
            mj_objectVelocity(m, d, mjOBJ_XBODY, id, velocity, 1);
            result.insert(result.end(), velocity, velocity + 6);
        }
        return result;
    case quantity::rnea: return inverse(a, true, false, s);
    case quantity::rnea_external: return inverse(a, true, true, s);
    case quantity::bias: return inverse(nullptr, true, false, s);
    case quantity::gravity: return inverse(nullptr, false, false, s);
    case quantity::aba: return forward(false, s);
    case quantity::aba_external: return forward(true, s);
    case quantity::crba: mj_fullM(m, d, M.data()); return copy(T.transpose() * M * T);
    case quantity::jacobians_aligned: return body_jacobians(false);
    case quantity::jacobian_rates_aligned: return body_jacobians(true);
    case quantity::com: return numbers(d->subtree_com, d->subtree_com + 3);
    case quantity::com_jacobian: mj_jacSubtreeCom(m, d, three.data(), 0); return copy(three * T);
    case quantity::centroidal: {
        row_matrix A(6, nv);
        mj_angmomMat(m, d, three.data(), 0);
        A.topRows(3) = three;
        mj_jacSubtreeCom(m, d, three.data(), 0);
        A.bottomRows(3) = three * m->body_subtreemass[0];
        return copy(A * T);
    }
    case quantity::energies:
        mj_energyPos(m, d);
        mj_energyVel(m, d);
        return {d->energy[1], d->energy[0]};
    default: return {};
    }
}

} // namespace

std::unique_ptr<robot> make_mujoco(kk_spec *spec, const kk_model *model) {
    return std::unique_ptr<robot>(new mujoco_robot(spec, model));
}

std::string mujoco_version() {
    return mj_versionString();
}

} // namespace peers
