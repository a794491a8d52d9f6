/// Pinocchio behind our conventions. See pinocchio_peer.hpp.
///
/// Joints are mapped so that every coordinate of ours is one coordinate of theirs and the maps of q, v and tau are permutations:
/// cylindrical and planar joints become composites of hinges and slides, quaternions change their order, free joints swap their
/// angular and linear halves. Each hinge gets the fastest joint Pinocchio has for its axis.
#include "pinocchio_peer.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/centroidal.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/config.hpp>
#include <pinocchio/multibody.hpp>

#include <stdexcept>

namespace peers {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Vector3d vec3_of(kk_vec3 v) {
    return Vector3d(v.x, v.y, v.z);
}

pinocchio::SE3 se3_of(const kk_transform &X) {
    Eigen::Matrix3d R;
    R << X.R.m[0], X.R.m[1], X.R.m[2], X.R.m[3], X.R.m[4], X.R.m[5], X.R.m[6], X.R.m[7], X.R.m[8];
    return pinocchio::SE3(R, vec3_of(X.p));
}

pinocchio::Inertia inertia_of(const kk_inertia &I) {
    Eigen::Matrix3d M;
    M << I.moment.xx, I.moment.xy, I.moment.xz, I.moment.xy, I.moment.yy, I.moment.yz, I.moment.xz, I.moment.yz, I.moment.zz;
    return pinocchio::Inertia(I.mass, vec3_of(I.com), M);
}

// which of x, y, z a unit vector is; −1 for none of them
int aligned(const Vector3d &axis) {
    for (int i = 0; i < 3; i++) {
        if (axis == Vector3d::Unit(i)) {
            return i;
        }
    }
    return -1;
}

pinocchio::JointModel hinge_about(const Vector3d &axis) {
    switch (aligned(axis)) {
    case 0: return pinocchio::JointModelRX();
    case 1: return pinocchio::JointModelRY();
    case 2: return pinocchio::JointModelRZ();
    default: return pinocchio::JointModelRevoluteUnaligned(axis);
    }
}

pinocchio::JointModel slide_along(const Vector3d &axis) {
    switch (aligned(axis)) {
    case 0: return pinocchio::JointModelPX();
    case 1: return pinocchio::JointModelPY();
    case 2: return pinocchio::JointModelPZ();
    default: return pinocchio::JointModelPrismaticUnaligned(axis);
    }
}

pinocchio::JointModel joint_of(const kk_joint_def &joint) {
    const Vector3d axis = vec3_of(joint.axis).normalized(), axis2 = vec3_of(joint.axis2).normalized();
    switch (joint.type) {
    case KK_JOINT_HINGE: return hinge_about(axis);
    case KK_JOINT_SLIDE: return slide_along(axis);
    case KK_JOINT_SCREW: return pinocchio::JointModelHelicalUnaligned(axis, joint.pitch);
    case KK_JOINT_UNIVERSAL: return pinocchio::JointModelUniversal(axis, axis2);
    case KK_JOINT_BALL: return pinocchio::JointModelSpherical();
    case KK_JOINT_FREE: return pinocchio::JointModelFreeFlyer();
    case KK_JOINT_CYLINDRICAL: {
        pinocchio::JointModelComposite both;
        both.addJoint(hinge_about(axis));
        both.addJoint(slide_along(axis));
        return both;
    }
    case KK_JOINT_PLANAR: {
        pinocchio::JointModelComposite three;
        three.addJoint(slide_along(axis2));
        three.addJoint(slide_along(axis.cross(axis2)));
        three.addJoint(hinge_about(axis));
        return three;
    }
    case KK_JOINT_FIXED: break;
    }
    throw std::logic_error("a fixed joint has no counterpart");
}

// place in Pinocchio's q of our coordinate k of a joint
int q_place(kk_joint_type type, int k) {
    static const int ball[4] = {3, 0, 1, 2};
    static const int free[7] = {6, 3, 4, 5, 0, 1, 2};
    return type == KK_JOINT_BALL ? ball[k] : type == KK_JOINT_FREE ? free[k] : k;
}
// the same for v
int v_place(kk_joint_type type, int k) {
    return type == KK_JOINT_FREE ? (k + 3) % 6 : k;
}

pinocchio::ReferenceFrame frame_of(kk_reference reference) {
    switch (reference) {
    case KK_LOCAL: return pinocchio::LOCAL;
    case KK_WORLD_ORIGIN: return pinocchio::WORLD;
    default: return pinocchio::LOCAL_WORLD_ALIGNED;
    }
}

pinocchio::Convention convention_of(convention how) {
    return how == convention::local ? pinocchio::Convention::LOCAL : pinocchio::Convention::WORLD;
}

} // namespace

struct pinocchio_robot::inside {
    pinocchio::Model model;
    std::unique_ptr<pinocchio::Data> data;
    // of each of our bodies: the joint that carries it, and its frame there
    std::vector<pinocchio::JointIndex> carrier;
    std::vector<pinocchio::SE3> on_carrier;
    std::vector<pinocchio::FrameIndex> frame;
    // our coordinate i is theirs q_at[i], v_at[i]
    std::vector<int> q_at, v_at;
    std::vector<VectorXd> q, v, a, tau;

    void add_body(kk_spec *spec, const kk_model *ours, int body);
    void permute(int count, const double *x, const std::vector<int> &at, std::vector<VectorXd> &result) const;
    std::vector<double> vector_back(const VectorXd &x) const;
    template <typename Matrix> std::vector<double> square_back(const Matrix &M) const;
    template <typename Matrix> std::vector<double> columns_back(const Matrix &M, bool spatial) const;
};

void pinocchio_robot::inside::add_body(kk_spec *spec, const kk_model *ours, int body) {
    const kk_body_def &def = *kk_spec_body(spec, body);
    const std::size_t id = static_cast<std::size_t>(body), parent = static_cast<std::size_t>(def.parent);
    const pinocchio::SE3 placement = on_carrier[parent] * se3_of(def.joint.placement);
    if (def.joint.type == KK_JOINT_FIXED) {
        carrier[id] = carrier[parent];
        on_carrier[id] = placement * se3_of(def.offset);
    } else {
        const kk_joint_info info = kk_model_joint(ours, body);
        carrier[id] = model.addJoint(carrier[parent], joint_of(def.joint), placement, def.name);
        on_carrier[id] = se3_of(def.offset);
        const int first_q = model.joints[carrier[id]].idx_q(), first_v = model.joints[carrier[id]].idx_v();
        for (int k = 0; k < info.nq; k++) {
            q_at[static_cast<std::size_t>(info.q_index + k)] = first_q + q_place(info.type, k);
        }
        for (int k = 0; k < info.nv; k++) {
            const int at = first_v + v_place(info.type, k);
            v_at[static_cast<std::size_t>(info.v_index + k)] = at;
            const kk_dof_def &dof = def.joint.dof[k];
            model.armature[at] = dof.armature + dof.rotor_inertia * dof.gear_ratio * dof.gear_ratio;
        }
    }
    if (def.inertia.mass > 0) {
        model.appendBodyToJoint(carrier[id], inertia_of(def.inertia), on_carrier[id]);
    }
    frame[id] = model.addFrame(pinocchio::Frame(def.name, carrier[id], 0, on_carrier[id], pinocchio::OP_FRAME), false);
}

pinocchio_robot::pinocchio_robot(kk_spec *spec, const kk_model *model) : in(new inside) {
    const int n = kk_spec_body_count(spec);
    const std::size_t count = static_cast<std::size_t>(n);
    in->carrier.assign(count, 0);
    in->on_carrier.assign(count, pinocchio::SE3::Identity());
    in->frame.assign(count, 0);
    in->q_at.assign(static_cast<std::size_t>(kk_model_nq(model)), -1);
    in->v_at.assign(static_cast<std::size_t>(kk_model_nv(model)), -1);

    // depth first, as Pinocchio's algorithms expect: the last child pushed is the next visited
    std::vector<std::vector<int>> children(count);
    for (int i = n - 1; i > 0; i--) {
        children[static_cast<std::size_t>(kk_spec_body(spec, i)->parent)].push_back(i);
    }
    std::vector<int> stack = children[KK_WORLD];
    while (!stack.empty()) {
        const int body = stack.back();
        stack.pop_back();
        in->add_body(spec, model, body);
        const std::vector<int> &more = children[static_cast<std::size_t>(body)];
        stack.insert(stack.end(), more.begin(), more.end());
    }
    in->model.gravity.linear() = vec3_of(kk_model_gravity(model));
    in->data.reset(new pinocchio::Data(in->model));
}

pinocchio_robot::~pinocchio_robot() = default;

std::string pinocchio_robot::version() {
    return PINOCCHIO_VERSION;
}

std::string pinocchio_robot::build() {
#ifdef PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION
    std::string text = "library of the wheel";
#else
    std::string text = "templates compiled here";
#endif
#ifdef __clang__
    text += ", clang " __clang_version__;
#else
    text += ", gcc " __VERSION__;
#endif
#ifdef __AVX512F__
    text += ", AVX-512";
#elif defined(__AVX2__)
    text += ", AVX2";
#endif
    return text;
}

int pinocchio_robot::nq() const {
    return in->model.nq;
}
int pinocchio_robot::nv() const {
    return in->model.nv;
}

// ---- states

void pinocchio_robot::inside::permute(int count, const double *x, const std::vector<int> &at,
                                      std::vector<VectorXd> &result) const {
    const int n = static_cast<int>(at.size());
    result.assign(static_cast<std::size_t>(count), VectorXd(n));
    for (int s = 0; s < count; s++) {
        for (int i = 0; i < n; i++) {
            result[static_cast<std::size_t>(s)][at[static_cast<std::size_t>(i)]] = x[s * n + i];
        }
    }
}

void pinocchio_robot::load(int count, const double *q, const double *v, const double *a, const double *tau) {
    in->permute(count, q, in->q_at, in->q);
    in->permute(count, v, in->v_at, in->v);
    in->permute(count, a, in->v_at, in->a);
    in->permute(count, tau, in->v_at, in->tau);
}

void pinocchio_robot::run(algorithm what, convention how, int rounds) {
    const pinocchio::Model &m = in->model;
    pinocchio::Data &d = *in->data;
    const std::vector<VectorXd> &q = in->q, &v = in->v, &a = in->a, &tau = in->tau;
    const pinocchio::Convention c = convention_of(how);
    const std::size_t n = q.size();
    for (int round = 0; round < rounds; round++) {
        switch (what) {
        case algorithm::kinematics:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::forwardKinematics(m, d, q[s]);
            }
            break;
        case algorithm::rnea:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::rnea(m, d, q[s], v[s], a[s]);
            }
            break;
        case algorithm::aba:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::aba(m, d, q[s], v[s], tau[s], c);
            }
            break;
        case algorithm::crba:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::crba(m, d, q[s], c);
            }
            break;
        case algorithm::rnea_derivatives:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::computeRNEADerivatives(m, d, q[s], v[s], a[s]);
            }
            break;
        case algorithm::aba_derivatives:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::computeABADerivatives(m, d, q[s], v[s], tau[s]);
            }
            break;
        case algorithm::jacobians:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::computeJointJacobians(m, d, q[s]);
            }
            break;
        case algorithm::com_jacobian:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::jacobianCenterOfMass(m, d, q[s], false);
            }
            break;
        case algorithm::centroidal:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::computeCentroidalMap(m, d, q[s]);
            }
            break;
        case algorithm::minverse:
            for (std::size_t s = 0; s < n; s++) {
                pinocchio::computeMinverse(m, d, q[s]);
            }
            break;
        }
    }
}

// ---- back to our conventions

std::vector<double> pinocchio_robot::inside::vector_back(const VectorXd &x) const {
    std::vector<double> result;
    for (int at : v_at) {
        result.push_back(x[at]);
    }
    return result;
}

template <typename Matrix> std::vector<double> pinocchio_robot::inside::square_back(const Matrix &M) const {
    std::vector<double> result;
    for (int row : v_at) {
        for (int column : v_at) {
            result.push_back(M(row, column));
        }
    }
    return result;
}

// columns of a 3-row or spatial matrix; spatial rows swap their linear and angular halves
template <typename Matrix>
std::vector<double> pinocchio_robot::inside::columns_back(const Matrix &M, bool spatial) const {
    std::vector<double> result;
    const int rows = static_cast<int>(M.rows());
    for (int row = 0; row < rows; row++) {
        for (int column : v_at) {
            result.push_back(M(spatial ? (row + 3) % 6 : row, column));
        }
    }
    return result;
}

namespace {

void push_motion(std::vector<double> &result, const pinocchio::Motion &m) {
    for (int i = 0; i < 3; i++) {
        result.push_back(m.angular()[i]);
    }
    for (int i = 0; i < 3; i++) {
        result.push_back(m.linear()[i]);
    }
}

template <typename Matrix> void fill_lower(Matrix &M) {
    M.template triangularView<Eigen::StrictlyLower>() = M.transpose().template triangularView<Eigen::StrictlyLower>();
}

} // namespace

#define STATE(x) in->x[static_cast<std::size_t>(state)]

std::vector<double> pinocchio_robot::body_poses(int state) {
    pinocchio::forwardKinematics(in->model, *in->data, STATE(q));
    std::vector<double> result;
    for (std::size_t body = 0; body < in->carrier.size(); body++) {
        const pinocchio::SE3 X = in->data->oMi[in->carrier[body]] * in->on_carrier[body];
        for (int i = 0; i < 9; i++) {
            result.push_back(X.rotation()(i / 3, i % 3));
        }
        for (int i = 0; i < 3; i++) {
            result.push_back(X.translation()[i]);
        }
    }
    return result;
}

std::vector<double> pinocchio_robot::body_velocities(int state) {
    pinocchio::forwardKinematics(in->model, *in->data, STATE(q), STATE(v));
    std::vector<double> result;
    for (std::size_t body = 0; body < in->carrier.size(); body++) {
        push_motion(result, in->on_carrier[body].actInv(in->data->v[in->carrier[body]]));
    }
    return result;
}

std::vector<double> pinocchio_robot::body_accelerations(int state) {
    pinocchio::forwardKinematics(in->model, *in->data, STATE(q), STATE(v), STATE(a));
    std::vector<double> result;
    for (std::size_t body = 0; body < in->carrier.size(); body++) {
        push_motion(result, in->on_carrier[body].actInv(in->data->a[in->carrier[body]]));
    }
    return result;
}

std::vector<double> pinocchio_robot::rnea(int state) {
    return in->vector_back(pinocchio::rnea(in->model, *in->data, STATE(q), STATE(v), STATE(a)));
}

std::vector<double> pinocchio_robot::aba(int state, convention how) {
    return in->vector_back(pinocchio::aba(in->model, *in->data, STATE(q), STATE(v), STATE(tau), convention_of(how)));
}

std::vector<double> pinocchio_robot::crba(int state, convention how) {
    in->data->M.setZero();
    pinocchio::crba(in->model, *in->data, STATE(q), convention_of(how));
    fill_lower(in->data->M);
    return in->square_back(in->data->M);
}

std::vector<double> pinocchio_robot::minverse(int state) {
    in->data->Minv.setZero();
    pinocchio::computeMinverse(in->model, *in->data, STATE(q));
    fill_lower(in->data->Minv);
    return in->square_back(in->data->Minv);
}

std::vector<double> pinocchio_robot::body_jacobian(int state, int body, kk_reference reference) {
    pinocchio::computeJointJacobians(in->model, *in->data, STATE(q));
    pinocchio::updateFramePlacements(in->model, *in->data);
    pinocchio::Data::Matrix6x J = pinocchio::Data::Matrix6x::Zero(6, in->model.nv);
    pinocchio::getFrameJacobian(in->model, *in->data, in->frame[static_cast<std::size_t>(body)], frame_of(reference), J);
    return in->columns_back(J, true);
}

std::vector<double> pinocchio_robot::body_jacobian_rate(int state, int body, kk_reference reference) {
    pinocchio::computeJointJacobiansTimeVariation(in->model, *in->data, STATE(q), STATE(v));
    pinocchio::updateFramePlacements(in->model, *in->data);
    pinocchio::Data::Matrix6x dJ = pinocchio::Data::Matrix6x::Zero(6, in->model.nv);
    pinocchio::getFrameJacobianTimeVariation(in->model, *in->data, in->frame[static_cast<std::size_t>(body)],
                                             frame_of(reference), dJ);
    return in->columns_back(dJ, true);
}

std::vector<double> pinocchio_robot::com(int state) {
    const Vector3d c = pinocchio::centerOfMass(in->model, *in->data, STATE(q));
    return {c[0], c[1], c[2]};
}

std::vector<double> pinocchio_robot::com_jacobian(int state) {
    return in->columns_back(pinocchio::jacobianCenterOfMass(in->model, *in->data, STATE(q), false), false);
}

std::vector<double> pinocchio_robot::centroidal(int state) {
    return in->columns_back(pinocchio::computeCentroidalMap(in->model, *in->data, STATE(q)), true);
}

std::vector<double> pinocchio_robot::centroidal_rate(int state) {
    return in->columns_back(pinocchio::computeCentroidalMapTimeVariation(in->model, *in->data, STATE(q), STATE(v)), true);
}

std::vector<double> pinocchio_robot::energies(int state) {
    const double kinetic = pinocchio::computeKineticEnergy(in->model, *in->data, STATE(q), STATE(v));
    return {kinetic, pinocchio::computePotentialEnergy(in->model, *in->data, STATE(q))};
}

std::vector<double> pinocchio_robot::coriolis(int state) {
    return in->square_back(pinocchio::computeCoriolisMatrix(in->model, *in->data, STATE(q), STATE(v)));
}

std::vector<double> pinocchio_robot::rnea_derivatives(int state) {
    pinocchio::computeRNEADerivatives(in->model, *in->data, STATE(q), STATE(v), STATE(a));
    std::vector<double> result = in->square_back(in->data->dtau_dq);
    const std::vector<double> dv = in->square_back(in->data->dtau_dv);
    result.insert(result.end(), dv.begin(), dv.end());
    return result;
}

std::vector<double> pinocchio_robot::aba_derivatives(int state) {
    pinocchio::computeABADerivatives(in->model, *in->data, STATE(q), STATE(v), STATE(tau));
    fill_lower(in->data->Minv);
    std::vector<double> result = in->square_back(in->data->ddq_dq);
    const std::vector<double> dv = in->square_back(in->data->ddq_dv), dtau = in->square_back(in->data->Minv);
    result.insert(result.end(), dv.begin(), dv.end());
    result.insert(result.end(), dtau.begin(), dtau.end());
    return result;
}

} // namespace peers
