/// Pinocchio behind our conventions.
///
/// Joints are mapped so that every coordinate of ours is one coordinate of theirs and the maps of q, v and tau are
/// permutations: quaternions change their order, free joints swap their angular and linear halves, cylindrical,
/// universal and planar joints become hinges and slides one behind the other with nothing between them. (Whole joints
/// can be asked for, but rates and derivatives of Pinocchio 4.1 leave out that the axes of a universal or composite
/// joint move within it.) Each hinge gets the fastest joint Pinocchio has for its axis.
#include "robot.hpp"

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

namespace peers {

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
    M << I.moment.xx, I.moment.xy, I.moment.xz, I.moment.xy, I.moment.yy, I.moment.yz, I.moment.xz, I.moment.yz,
        I.moment.zz;
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

// the simple joints a joint consists of, outermost first
std::vector<pinocchio::JointModel> simple_joints(const kk_joint_def &joint) {
    const Vector3d axis = vec3_of(joint.axis).normalized(), axis2 = vec3_of(joint.axis2).normalized();
    switch (joint.type) {
    case KK_JOINT_FIXED: break;
    case KK_JOINT_HINGE: return {hinge_about(axis)};
    case KK_JOINT_SLIDE: return {slide_along(axis)};
    case KK_JOINT_SCREW: return {pinocchio::JointModelHelicalUnaligned(axis, joint.pitch)};
    case KK_JOINT_CYLINDRICAL: return {hinge_about(axis), slide_along(axis)};
    case KK_JOINT_UNIVERSAL: return {hinge_about(axis), hinge_about(axis2)};
    case KK_JOINT_PLANAR: return {slide_along(axis2), slide_along(axis.cross(axis2)), hinge_about(axis)};
    case KK_JOINT_BALL: return {pinocchio::JointModelSpherical()};
    case KK_JOINT_FREE: return {pinocchio::JointModelFreeFlyer()};
    }
    return {};
}

// the same as one joint of theirs
pinocchio::JointModel whole_joint(const kk_joint_def &joint) {
    const std::vector<pinocchio::JointModel> parts = simple_joints(joint);
    if (parts.size() == 1) {
        return parts[0];
    }
    if (joint.type == KK_JOINT_UNIVERSAL) {
        return pinocchio::JointModelUniversal(vec3_of(joint.axis).normalized(), vec3_of(joint.axis2).normalized());
    }
    pinocchio::JointModelComposite composite;
    for (const pinocchio::JointModel &part : parts) {
        composite.addJoint(part);
    }
    return composite;
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

void push_motion(numbers &to, const pinocchio::Motion &m) {
    to.insert(to.end(), {m.angular()[0], m.angular()[1], m.angular()[2], m.linear()[0], m.linear()[1], m.linear()[2]});
}

void push_pose(numbers &to, const pinocchio::SE3 &X) {
    for (int i = 0; i < 9; i++) {
        to.push_back(X.rotation()(i / 3, i % 3));
    }
    to.insert(to.end(), {X.translation()[0], X.translation()[1], X.translation()[2]});
}

template <typename Matrix> void fill_lower(Matrix &M) {
    M.template triangularView<Eigen::StrictlyLower>() = M.transpose().template triangularView<Eigen::StrictlyLower>();
}

using index = std::size_t;

index at(int i) {
    return static_cast<index>(i);
}

class pinocchio_robot final : public robot {
  public:
    pinocchio_robot(kk_spec *spec, const kk_model *ours, bool whole_joints);
    void load(const states &all) override;
    int variants(algorithm what) const override {
        return what == algorithm::aba || what == algorithm::crba ? 2 : 1;
    }
    void run(algorithm what, int variant, int rounds) override;
    numbers result(quantity what, int state) override;

  private:
    void add_body(kk_spec *spec, const kk_model *ours, int body);
    std::vector<VectorXd> permute(int count, const numbers &x, const std::vector<int> &places) const;
    std::vector<pinocchio::Force> joint_forces(const kk_force *on_bodies) const;
    numbers vector_back(const VectorXd &x) const;
    template <typename Matrix> numbers square_back(const Matrix &M) const;
    template <typename Matrix> numbers columns_back(const Matrix &M) const;

    numbers body_motions(quantity what, int s);
    numbers joint_wrenches(int s);
    numbers body_jacobians(int s, kk_reference reference, bool rate);
    numbers frame_jacobians(int s, bool rate);
    numbers floor_wrench(int s);
    numbers delassus(int s);
    numbers solved(quantity what, int s);
    numbers aba_derivatives(quantity what, int s);

    const bool whole;
    pinocchio::Model m;
    std::unique_ptr<pinocchio::Data> data;
    // of each of our bodies: the joint that carries it, its frame there, and whether that joint is its own
    std::vector<pinocchio::JointIndex> carrier;
    std::vector<pinocchio::SE3> on_carrier;
    std::vector<pinocchio::FrameIndex> body_frame;
    std::vector<bool> moves;
    std::vector<pinocchio::FrameIndex> frames;
    // our coordinate i is theirs q_place[i], v_place[i]
    std::vector<int> q_places, v_places;
    states given;
    std::vector<VectorXd> q, v, a, tau;
    std::vector<std::vector<pinocchio::Force>> external;
};

// ---- conversion of the model

void pinocchio_robot::add_body(kk_spec *spec, const kk_model *ours, int body) {
    const kk_body_def &def = *kk_spec_body(spec, body);
    const index id = at(body), parent = at(def.parent);
    const pinocchio::SE3 placement = on_carrier[parent] * se3_of(def.joint.placement);
    if (def.joint.type == KK_JOINT_FIXED) {
        carrier[id] = carrier[parent];
        on_carrier[id] = placement * se3_of(def.offset);
    } else {
        const kk_joint_info info = kk_model_joint(ours, body);
        const int first_q = m.nq, first_v = m.nv;
        carrier[id] = carrier[parent];
        pinocchio::SE3 where = placement;
        for (const pinocchio::JointModel &part :
             whole ? std::vector<pinocchio::JointModel>{whole_joint(def.joint)} : simple_joints(def.joint)) {
            carrier[id] = m.addJoint(carrier[id], part, where, def.name + std::to_string(m.njoints));
            where.setIdentity();
        }
        on_carrier[id] = se3_of(def.offset);
        moves[id] = true;
        for (int k = 0; k < info.nq; k++) {
            q_places[at(info.q_index + k)] = first_q + q_place(info.type, k);
        }
        for (int k = 0; k < info.nv; k++) {
            const int place = first_v + v_place(info.type, k);
            v_places[at(info.v_index + k)] = place;
            m.armature[place] = kk_model_dof(ours, info.v_index + k).armature;
        }
    }
    if (def.inertia.mass > 0) {
        m.appendBodyToJoint(carrier[id], inertia_of(def.inertia), on_carrier[id]);
    }
    body_frame[id] = m.addFrame(pinocchio::Frame(def.name, carrier[id], 0, on_carrier[id], pinocchio::OP_FRAME), false);
}

pinocchio_robot::pinocchio_robot(kk_spec *spec, const kk_model *ours, bool whole_joints) : whole(whole_joints) {
    const int n = kk_spec_body_count(spec);
    carrier.assign(at(n), 0);
    on_carrier.assign(at(n), pinocchio::SE3::Identity());
    body_frame.assign(at(n), 0);
    moves.assign(at(n), false);
    q_places.assign(at(kk_model_nq(ours)), -1);
    v_places.assign(at(kk_model_nv(ours)), -1);

    // depth first, as Pinocchio's algorithms expect: the last child pushed is the next visited
    std::vector<std::vector<int>> children(at(n));
    for (int i = n - 1; i > 0; i--) {
        children[at(kk_spec_body(spec, i)->parent)].push_back(i);
    }
    std::vector<int> stack = children[KK_WORLD];
    while (!stack.empty()) {
        const int body = stack.back();
        stack.pop_back();
        add_body(spec, ours, body);
        stack.insert(stack.end(), children[at(body)].begin(), children[at(body)].end());
    }
    for (int i = 0; i < kk_spec_frame_count(spec); i++) {
        const kk_frame_def &def = *kk_spec_frame(spec, i);
        const pinocchio::SE3 X = on_carrier[at(def.body)] * se3_of(def.placement);
        frames.push_back(
            m.addFrame(pinocchio::Frame(def.name, carrier[at(def.body)], 0, X, pinocchio::OP_FRAME), false));
    }
    m.gravity.linear() = vec3_of(kk_model_gravity(ours));
    data.reset(new pinocchio::Data(m));
}

// ---- states

std::vector<VectorXd> pinocchio_robot::permute(int count, const numbers &x, const std::vector<int> &places) const {
    const int n = static_cast<int>(places.size());
    std::vector<VectorXd> result(at(count), VectorXd(n));
    for (int s = 0; s < count; s++) {
        for (int i = 0; i < n; i++) {
            result[at(s)][places[at(i)]] = x[at(s * n + i)];
        }
    }
    return result;
}

// forces on bodies, each in its body's frame, summed on the joints that carry them
std::vector<pinocchio::Force> pinocchio_robot::joint_forces(const kk_force *on_bodies) const {
    std::vector<pinocchio::Force> result(m.joints.size(), pinocchio::Force::Zero());
    for (index body = 0; body < carrier.size(); body++) {
        const kk_force &f = on_bodies[body];
        result[carrier[body]] += on_carrier[body].act(pinocchio::Force(vec3_of(f.linear), vec3_of(f.angular)));
    }
    return result;
}

void pinocchio_robot::load(const states &all) {
    given = all;
    q = permute(all.count, all.q, q_places);
    v = permute(all.count, all.v, v_places);
    a = permute(all.count, all.a, v_places);
    tau = permute(all.count, all.tau, v_places);
    external.clear();
    for (int s = 0; s < all.count; s++) {
        external.push_back(joint_forces(&all.external[at(s) * carrier.size()]));
    }
}

// ---- what is timed

void pinocchio_robot::run(algorithm what, int variant, int rounds) {
    pinocchio::Data &d = *data;
    const pinocchio::Convention c = variant == 0 ? pinocchio::Convention::LOCAL : pinocchio::Convention::WORLD;
    const index n = q.size();
    for (int round = 0; round < rounds; round++) {
        switch (what) {
        case algorithm::kinematics:
            for (index s = 0; s < n; s++) {
                pinocchio::forwardKinematics(m, d, q[s]);
            }
            break;
        case algorithm::rnea:
            for (index s = 0; s < n; s++) {
                pinocchio::rnea(m, d, q[s], v[s], a[s]);
            }
            break;
        case algorithm::aba:
            for (index s = 0; s < n; s++) {
                pinocchio::aba(m, d, q[s], v[s], tau[s], c);
            }
            break;
        case algorithm::crba:
            for (index s = 0; s < n; s++) {
                pinocchio::crba(m, d, q[s], c);
            }
            break;
        case algorithm::minverse:
            for (index s = 0; s < n; s++) {
                pinocchio::computeMinverse(m, d, q[s]);
            }
            break;
        case algorithm::rnea_derivatives:
            for (index s = 0; s < n; s++) {
                pinocchio::computeRNEADerivatives(m, d, q[s], v[s], a[s]);
            }
            break;
        case algorithm::aba_derivatives:
            for (index s = 0; s < n; s++) {
                pinocchio::computeABADerivatives(m, d, q[s], v[s], tau[s]);
            }
            break;
        case algorithm::jacobians:
            for (index s = 0; s < n; s++) {
                pinocchio::computeJointJacobians(m, d, q[s]);
            }
            break;
        case algorithm::com_jacobian:
            for (index s = 0; s < n; s++) {
                pinocchio::jacobianCenterOfMass(m, d, q[s], false);
            }
            break;
        case algorithm::centroidal:
            for (index s = 0; s < n; s++) {
                pinocchio::computeCentroidalMap(m, d, q[s]);
            }
            break;
        }
    }
}

// ---- back to our conventions

numbers pinocchio_robot::vector_back(const VectorXd &x) const {
    numbers result;
    for (int place : v_places) {
        result.push_back(x[place]);
    }
    return result;
}

template <typename Matrix> numbers pinocchio_robot::square_back(const Matrix &M) const {
    numbers result;
    for (int row : v_places) {
        for (int column : v_places) {
            result.push_back(M(row, column));
        }
    }
    return result;
}

// a matrix of three rows, or of six, whose linear and angular halves are swapped
template <typename Matrix> numbers pinocchio_robot::columns_back(const Matrix &M) const {
    numbers result;
    const int rows = static_cast<int>(M.rows());
    for (int row = 0; row < rows; row++) {
        for (int column : v_places) {
            result.push_back(M(rows == 6 ? (row + 3) % 6 : row, column));
        }
    }
    return result;
}

numbers pinocchio_robot::body_motions(quantity what, int state) {
    const index s = at(state);
    numbers result;
    pinocchio::forwardKinematics(m, *data, q[s], v[s], a[s]);
    if (what == quantity::frame_poses) {
        pinocchio::updateFramePlacements(m, *data);
        for (pinocchio::FrameIndex frame : frames) {
            push_pose(result, data->oMf[frame]);
        }
        return result;
    }
    for (index body = 0; body < carrier.size(); body++) {
        const pinocchio::SE3 &X = on_carrier[body];
        const pinocchio::Motion V = X.actInv(data->v[carrier[body]]);
        pinocchio::Motion A = X.actInv(data->a[carrier[body]]);
        switch (what) {
        case quantity::poses: push_pose(result, data->oMi[carrier[body]] * X); break;
        case quantity::velocities: push_motion(result, V); break;
        case quantity::accelerations: push_motion(result, A); break;
        default: A.linear() += V.angular().cross(V.linear()); push_motion(result, A);
        }
    }
    return result;
}

numbers pinocchio_robot::joint_wrenches(int state) {
    const index s = at(state);
    numbers result;
    pinocchio::rnea(m, *data, q[s], v[s], a[s]);
    for (index body = 1; body < carrier.size(); body++) {
        if (moves[body]) {
            const pinocchio::Force f = on_carrier[body].actInv(data->f[carrier[body]]);
            push_motion(result, pinocchio::Motion(f.linear(), f.angular()));
        }
    }
    return result;
}

numbers pinocchio_robot::body_jacobians(int state, kk_reference reference, bool rate) {
    const index s = at(state);
    numbers result;
    pinocchio::computeJointJacobiansTimeVariation(m, *data, q[s], v[s]);
    pinocchio::updateFramePlacements(m, *data);
    for (pinocchio::FrameIndex frame : body_frame) {
        pinocchio::Data::Matrix6x J = pinocchio::Data::Matrix6x::Zero(6, m.nv);
        if (frame == 0) {
            // the world: nothing moves it
        } else if (rate) {
            pinocchio::getFrameJacobianTimeVariation(m, *data, frame, frame_of(reference), J);
        } else {
            pinocchio::getFrameJacobian(m, *data, frame, frame_of(reference), J);
        }
        const numbers back = columns_back(J);
        result.insert(result.end(), back.begin(), back.end());
    }
    return result;
}

numbers pinocchio_robot::frame_jacobians(int state, bool rate) {
    const index s = at(state);
    numbers result;
    pinocchio::computeJointJacobiansTimeVariation(m, *data, q[s], v[s]);
    pinocchio::updateFramePlacements(m, *data);
    for (pinocchio::FrameIndex frame : frames) {
        for (kk_reference reference : {KK_LOCAL, KK_WORLD_ORIGIN, KK_WORLD_ALIGNED}) {
            pinocchio::Data::Matrix6x J = pinocchio::Data::Matrix6x::Zero(6, m.nv);
            if (rate) {
                pinocchio::getFrameJacobianTimeVariation(m, *data, frame, frame_of(reference), J);
            } else {
                pinocchio::getFrameJacobian(m, *data, frame, frame_of(reference), J);
            }
            const numbers back = columns_back(J);
            result.insert(result.end(), back.begin(), back.end());
        }
    }
    return result;
}

// what the world does to the roots, in the world
numbers pinocchio_robot::floor_wrench(int state) {
    const index s = at(state);
    pinocchio::forwardKinematics(m, *data, q[s]); // rnea leaves no poses in the world
    pinocchio::rnea(m, *data, q[s], v[s], a[s]);
    pinocchio::Force sum = pinocchio::Force::Zero();
    for (index joint = 1; joint < m.joints.size(); joint++) {
        if (m.parents[joint] == 0) {
            sum += data->oMi[joint].act(data->f[joint]);
        }
    }
    numbers result;
    push_motion(result, pinocchio::Motion(sum.linear(), sum.angular()));
    return result;
}

// J M⁻¹ Jᵀ by the factor of M: an explicit inverse would lose digits
numbers pinocchio_robot::delassus(int state) {
    const index s = at(state);
    const int nbody = static_cast<int>(carrier.size());
    const std::vector<kk_constraint_row> rows = constraint_rows(given, nbody, state);
    const int n = static_cast<int>(rows.size());
    data->M.setZero();
    pinocchio::crba(m, *data, q[s]);
    fill_lower(data->M);
    pinocchio::computeJointJacobians(m, *data, q[s]);
    pinocchio::updateFramePlacements(m, *data);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(n, m.nv);
    for (int i = 0; i < n; i++) {
        const kk_constraint_row &row = rows[at(i)];
        Eigen::Matrix<double, 6, 1> direction;
        direction << vec3_of(row.direction.linear), vec3_of(row.direction.angular);
        for (const auto &end : {std::make_pair(row.body, 1.0), std::make_pair(row.other, -1.0)}) {
            if (end.first != KK_WORLD) {
                pinocchio::Data::Matrix6x one = pinocchio::Data::Matrix6x::Zero(6, m.nv);
                pinocchio::getFrameJacobian(m, *data, body_frame[at(end.first)], pinocchio::WORLD, one);
                J.row(i) += end.second * direction.transpose() * one;
            }
        }
    }
    const Eigen::MatrixXd G = J * Eigen::LLT<Eigen::MatrixXd>(data->M).solve(J.transpose());
    return numbers(G.data(), G.data() + G.size());
}

// from Pinocchio's M and bias, in extended precision: computeMinverse and aba lose up to two digits more than M does
numbers pinocchio_robot::solved(quantity what, int state) {
    using long_matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const index s = at(state);
    data->M.setZero();
    pinocchio::crba(m, *data, q[s]);
    fill_lower(data->M);
    const Eigen::LDLT<long_matrix> M(data->M.cast<long double>());
    if (what == quantity::minverse_solved) {
        const long_matrix inverse = M.solve(long_matrix::Identity(m.nv, m.nv));
        return square_back(Eigen::MatrixXd(inverse.cast<double>()));
    }
    const VectorXd rest = tau[s] - pinocchio::nonLinearEffects(m, *data, q[s], v[s]);
    const long_matrix found = M.solve(long_matrix(rest.cast<long double>()));
    return vector_back(VectorXd(found.cast<double>()));
}

// −M⁻¹ ∂τ/∂q by a stable solution. Pinocchio's own call multiplies by an explicit inverse, which on badly conditioned
// forests leaves as few as eight digits
numbers pinocchio_robot::aba_derivatives(quantity what, int state) {
    const index s = at(state);
    data->M.setZero();
    pinocchio::crba(m, *data, q[s]);
    fill_lower(data->M);
    const Eigen::LLT<Eigen::MatrixXd> M(data->M);
    if (what == quantity::aba_derivatives_tau) {
        return square_back(Eigen::MatrixXd(M.solve(Eigen::MatrixXd::Identity(m.nv, m.nv))));
    }
    const VectorXd found = pinocchio::aba(m, *data, q[s], v[s], tau[s]);
    pinocchio::computeRNEADerivatives(m, *data, q[s], v[s], found);
    const Eigen::MatrixXd rhs = what == quantity::aba_derivatives_q ? -data->dtau_dq : -data->dtau_dv;
    return square_back(Eigen::MatrixXd(M.solve(rhs)));
}

numbers pinocchio_robot::result(quantity what, int state) {
    const index s = at(state);
    pinocchio::Data &d = *data;
    switch (what) {
    case quantity::poses:
    case quantity::frame_poses:
    case quantity::velocities:
    case quantity::accelerations:
    case quantity::classical_accelerations: return body_motions(what, state);
    case quantity::rnea: return vector_back(pinocchio::rnea(m, d, q[s], v[s], a[s]));
    case quantity::rnea_external: return vector_back(pinocchio::rnea(m, d, q[s], v[s], a[s], external[s]));
    case quantity::bias: return vector_back(pinocchio::nonLinearEffects(m, d, q[s], v[s]));
    case quantity::gravity: return vector_back(pinocchio::computeGeneralizedGravity(m, d, q[s]));
    case quantity::joint_wrenches: return joint_wrenches(state);
    case quantity::floor_wrench: return floor_wrench(state);
    case quantity::coriolis: {
        const VectorXd all_of_it = pinocchio::nonLinearEffects(m, d, q[s], v[s]);
        return vector_back(all_of_it - pinocchio::computeGeneralizedGravity(m, d, q[s]));
    }
    case quantity::regressor:
        return vector_back(pinocchio::rnea(m, d, q[s], v[s], a[s]) - VectorXd(m.armature.cwiseProduct(a[s])));
    case quantity::delassus: return delassus(state);
    case quantity::aba_solved:
    case quantity::minverse_solved: return solved(what, state);
    case quantity::aba: return vector_back(pinocchio::aba(m, d, q[s], v[s], tau[s]));
    case quantity::aba_external: return vector_back(pinocchio::aba(m, d, q[s], v[s], tau[s], external[s]));
    case quantity::crba:
        d.M.setZero();
        pinocchio::crba(m, d, q[s]);
        fill_lower(d.M);
        return square_back(d.M);
    case quantity::minverse:
        d.Minv.setZero();
        pinocchio::computeMinverse(m, d, q[s]);
        fill_lower(d.Minv);
        return square_back(d.Minv);
    case quantity::jacobians_local: return body_jacobians(state, KK_LOCAL, false);
    case quantity::jacobians_world: return body_jacobians(state, KK_WORLD_ORIGIN, false);
    case quantity::jacobians_aligned: return body_jacobians(state, KK_WORLD_ALIGNED, false);
    case quantity::jacobian_rates_local: return body_jacobians(state, KK_LOCAL, true);
    case quantity::jacobian_rates_world: return body_jacobians(state, KK_WORLD_ORIGIN, true);
    case quantity::jacobian_rates_aligned: return body_jacobians(state, KK_WORLD_ALIGNED, true);
    case quantity::frame_jacobians: return frame_jacobians(state, false);
    case quantity::frame_jacobian_rates: return frame_jacobians(state, true);
    case quantity::com: {
        const Vector3d c = pinocchio::centerOfMass(m, d, q[s]);
        return {c[0], c[1], c[2]};
    }
    case quantity::com_jacobian: return columns_back(pinocchio::jacobianCenterOfMass(m, d, q[s], false));
    case quantity::centroidal: return columns_back(pinocchio::computeCentroidalMap(m, d, q[s]));
    case quantity::centroidal_rate: {
        const Eigen::Matrix<double, 6, 1> h = pinocchio::computeCentroidalMapTimeVariation(m, d, q[s], v[s]) * v[s];
        return {h[3], h[4], h[5], h[0], h[1], h[2]};
    }
    case quantity::momentum: {
        numbers result;
        const pinocchio::Force h = pinocchio::computeCentroidalMomentum(m, d, q[s], v[s]);
        push_motion(result, pinocchio::Motion(h.linear(), h.angular()));
        return result;
    }
    case quantity::energies: {
        // not computeKineticEnergy: version 4.1 leaves out the armature of hinges and screws about slanted axes
        d.M.setZero();
        pinocchio::crba(m, d, q[s]);
        fill_lower(d.M);
        return {0.5 * v[s].dot(d.M * v[s]), pinocchio::computePotentialEnergy(m, d, q[s])};
    }
    case quantity::rnea_derivatives_q:
    case quantity::rnea_derivatives_v:
        pinocchio::computeRNEADerivatives(m, d, q[s], v[s], a[s]);
        return what == quantity::rnea_derivatives_q ? square_back(d.dtau_dq) : square_back(d.dtau_dv);
    case quantity::aba_derivatives_q:
    case quantity::aba_derivatives_v:
    case quantity::aba_derivatives_tau: return aba_derivatives(what, state);
    case quantity::aba_derivatives_timed: {
        numbers three;
        pinocchio::computeABADerivatives(m, d, q[s], v[s], tau[s]);
        fill_lower(d.Minv);
        for (const numbers &one : {square_back(d.ddq_dq), square_back(d.ddq_dv), square_back(d.Minv)}) {
            three.insert(three.end(), one.begin(), one.end());
        }
        return three;
    }
    }
    return {};
}

} // namespace

std::unique_ptr<robot> make_pinocchio(kk_spec *spec, const kk_model *model, bool whole_joints) {
    return std::unique_ptr<robot>(new pinocchio_robot(spec, model, whole_joints));
}

std::string pinocchio_version() {
    return PINOCCHIO_VERSION;
}

std::string pinocchio_build() {
#ifdef PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION
    std::string text = "library of the wheel";
#else
    std::string text = "templates compiled here";
#endif
#ifdef __clang__
    text += ", clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    text += ", gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
#ifdef __AVX512F__
    text += ", AVX-512";
#elif defined(__AVX2__)
    text += ", AVX2";
#endif
    return text + ", Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION);
}

} // namespace peers
