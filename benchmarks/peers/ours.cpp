/// Ours, through the public C API alone.
#include "robot.hpp"

#include <cstdio>
#include <cstdlib>

namespace peers {

namespace {

using index = std::size_t;

index at(int i) {
    return static_cast<index>(i);
}

void push_vec3(numbers &to, kk_vec3 v) {
    to.insert(to.end(), {v.x, v.y, v.z});
}
void push_pose(numbers &to, const kk_transform &X) {
    to.insert(to.end(), X.R.m, X.R.m + 9);
    push_vec3(to, X.p);
}
void push_motion(numbers &to, const kk_motion &m) {
    push_vec3(to, m.angular);
    push_vec3(to, m.linear);
}
void push_force(numbers &to, const kk_force &f) {
    push_vec3(to, f.angular);
    push_vec3(to, f.linear);
}

class our_robot final : public robot {
  public:
    explicit our_robot(const kk_model *compiled)
        : m(compiled), nq(kk_model_nq(m)), nv(kk_model_nv(m)), nbody(kk_model_nbody(m)), nframe(kk_model_nframe(m)),
          out(at(nv)), J(at(6 * nv)) {
        if (kk_data_create(m, nullptr, &d) != KK_OK) {
            std::fprintf(stderr, "kk_data_create failed\n");
            std::abort();
        }
    }
    ~our_robot() override {
        kk_data_free(d);
    }
    our_robot(const our_robot &) = delete;
    our_robot &operator=(const our_robot &) = delete;

    void load(const states &given) override {
        all = given;
    }
    int variants(algorithm) const override {
        return 1;
    }
    void run(algorithm what, int variant, int rounds) override;
    numbers result(quantity what, int state) override;

  private:
    numbers poses(int s);
    numbers motions(quantity what, int s);
    numbers forces(quantity what, int s);
    numbers matrices(quantity what, int s);
    numbers body_jacobians(int s, kk_reference reference, bool rate);
    numbers coriolis(int s);
    numbers regressor(int s);
    numbers frame_jacobians(int s, bool rate);
    numbers momentum(quantity what, int s);
    numbers derivatives(quantity what, int s);

    void need_matrices() {
        for (numbers *M : {&M1, &M2, &M3}) {
            M->resize(at(nv) * at(nv));
        }
    }

    const double *q(int s) const {
        return &all.q[at(s * nq)];
    }
    const double *v(int s) const {
        return &all.v[at(s * nv)];
    }
    const double *a(int s) const {
        return &all.a[at(s * nv)];
    }
    const double *tau(int s) const {
        return &all.tau[at(s * nv)];
    }
    const kk_force *external(int s) const {
        return &all.external[at(s * nbody)];
    }

    const kk_model *m;
    kk_data *d = nullptr;
    const int nq, nv, nbody, nframe;
    states all;
    numbers out, J;
    numbers M1, M2, M3; ///< [nv × nv], made when first needed: a long chain has no room for them
};

void our_robot::run(algorithm what, int, int rounds) {
    const int n = all.count;
    if (what == algorithm::minverse || what == algorithm::rnea_derivatives || what == algorithm::aba_derivatives) {
        need_matrices();
    }
    for (int round = 0; round < rounds; round++) {
        switch (what) {
        case algorithm::kinematics:
            for (int s = 0; s < n; s++) {
                kk_kinematics(m, d, q(s));
            }
            break;
        case algorithm::rnea:
            for (int s = 0; s < n; s++) {
                kk_inverse_dynamics(m, d, q(s), v(s), a(s), out.data());
            }
            break;
        case algorithm::aba:
            for (int s = 0; s < n; s++) {
                kk_forward_dynamics(m, d, q(s), v(s), tau(s), out.data());
            }
            break;
        case algorithm::crba:
            for (int s = 0; s < n; s++) {
                kk_crba(m, d, q(s));
            }
            break;
        case algorithm::minverse:
            for (int s = 0; s < n; s++) {
                kk_inertia_matrix_inverse(m, d, q(s), M1.data());
            }
            break;
        case algorithm::rnea_derivatives:
            for (int s = 0; s < n; s++) {
                kk_inverse_dynamics_derivatives(m, d, q(s), v(s), a(s), M1.data(), M2.data());
            }
            break;
        case algorithm::aba_derivatives:
            for (int s = 0; s < n; s++) {
                kk_forward_dynamics_derivatives(m, d, q(s), v(s), tau(s), out.data(), M1.data(), M2.data(), M3.data());
            }
            break;
        case algorithm::jacobians:
            for (int s = 0; s < n; s++) {
                kk_jacobians(m, d, q(s));
            }
            break;
        case algorithm::com_jacobian:
            for (int s = 0; s < n; s++) {
                kk_center_of_mass_jacobian(m, d, q(s), J.data());
            }
            break;
        case algorithm::centroidal:
            for (int s = 0; s < n; s++) {
                kk_centroidal(m, d, q(s), J.data());
            }
            break;
        }
    }
}

numbers our_robot::result(quantity what, int s) {
    switch (what) {
    case quantity::poses: return poses(s);
    case quantity::frame_poses:
    case quantity::velocities:
    case quantity::accelerations:
    case quantity::classical_accelerations: return motions(what, s);
    case quantity::rnea:
    case quantity::rnea_external:
    case quantity::bias:
    case quantity::gravity:
    case quantity::joint_wrenches:
    case quantity::floor_wrench:
    case quantity::aba:
    case quantity::aba_external: return forces(what, s);
    case quantity::aba_solved: return forces(quantity::aba, s); // ours has no other way, and needs none
    case quantity::minverse_solved: return matrices(quantity::minverse, s);
    case quantity::coriolis: return coriolis(s);
    case quantity::regressor: return regressor(s);
    case quantity::crba:
    case quantity::minverse:
    case quantity::delassus: return matrices(what, s);
    case quantity::jacobians_local: return body_jacobians(s, KK_LOCAL, false);
    case quantity::jacobians_world: return body_jacobians(s, KK_WORLD_ORIGIN, false);
    case quantity::jacobians_aligned: return body_jacobians(s, KK_WORLD_ALIGNED, false);
    case quantity::jacobian_rates_local: return body_jacobians(s, KK_LOCAL, true);
    case quantity::jacobian_rates_world: return body_jacobians(s, KK_WORLD_ORIGIN, true);
    case quantity::jacobian_rates_aligned: return body_jacobians(s, KK_WORLD_ALIGNED, true);
    case quantity::frame_jacobians: return frame_jacobians(s, false);
    case quantity::frame_jacobian_rates: return frame_jacobians(s, true);
    case quantity::com:
    case quantity::com_jacobian:
    case quantity::centroidal:
    case quantity::centroidal_rate:
    case quantity::momentum:
    case quantity::energies: return momentum(what, s);
    case quantity::rnea_derivatives_q:
    case quantity::rnea_derivatives_v:
    case quantity::aba_derivatives_q:
    case quantity::aba_derivatives_v:
    case quantity::aba_derivatives_tau:
    case quantity::aba_derivatives_timed: return derivatives(what, s);
    }
    return {};
}

numbers our_robot::poses(int s) {
    numbers result;
    kk_kinematics(m, d, q(s));
    for (int body = 0; body < nbody; body++) {
        push_pose(result, kk_body_pose(m, d, body));
    }
    return result;
}

numbers our_robot::motions(quantity what, int s) {
    numbers result;
    kk_kinematics_acceleration(m, d, q(s), v(s), a(s));
    if (what == quantity::frame_poses) {
        for (int frame = 0; frame < nframe; frame++) {
            push_pose(result, kk_frame_pose(m, d, frame));
        }
        return result;
    }
    for (int body = 0; body < nbody; body++) {
        push_motion(result, what == quantity::velocities      ? kk_body_velocity(m, d, body, KK_LOCAL)
                            : what == quantity::accelerations ? kk_body_acceleration(m, d, body, KK_LOCAL)
                                                              : kk_body_classical_acceleration(m, d, body, KK_LOCAL));
    }
    return result;
}

numbers our_robot::forces(quantity what, int s) {
    numbers result(at(nv));
    switch (what) {
    case quantity::rnea: kk_inverse_dynamics(m, d, q(s), v(s), a(s), result.data()); break;
    case quantity::rnea_external:
        kk_inverse_dynamics_external(m, d, q(s), v(s), a(s), external(s), result.data());
        break;
    case quantity::bias: kk_bias_force(m, d, q(s), v(s), result.data()); break;
    case quantity::gravity: kk_gravity_force(m, d, q(s), result.data()); break;
    case quantity::aba: kk_forward_dynamics(m, d, q(s), v(s), tau(s), result.data()); break;
    case quantity::aba_external:
        kk_forward_dynamics_external(m, d, q(s), v(s), tau(s), external(s), result.data());
        break;
    default:
        kk_inverse_dynamics(m, d, q(s), v(s), a(s), result.data());
        result.clear();
        if (what == quantity::floor_wrench) {
            push_force(result, kk_floor_wrench(m, d));
            return result;
        }
        for (int body = 1; body < nbody; body++) {
            if (kk_model_joint(m, body).nv > 0) {
                push_force(result, kk_joint_wrench(m, d, body));
            }
        }
    }
    return result;
}

numbers our_robot::coriolis(int s) {
    numbers result(at(nv), 0.0);
    need_matrices();
    kk_coriolis_matrix(m, d, q(s), v(s), M1.data());
    for (int i = 0; i < nv * nv; i++) {
        result[at(i / nv)] += M1[at(i)] * v(s)[i % nv];
    }
    return result;
}

// the regressor times the parameters of the model
numbers our_robot::regressor(int s) {
    const int columns = 10 * (nbody - 1);
    numbers Y(at(nv * columns)), parameters, result(at(nv), 0.0);
    kk_torque_regressor(m, d, q(s), v(s), a(s), Y.data());
    for (int body = 1; body < nbody; body++) {
        const kk_inertia I = kk_model_body_inertia(m, body);
        const kk_sym3 o = kk_sym3_add(I.moment, kk_sym3_point_mass(I.mass, I.com));
        parameters.push_back(I.mass);
        push_vec3(parameters, kk_vec3_scale(I.com, I.mass));
        parameters.insert(parameters.end(), {o.xx, o.xy, o.yy, o.xz, o.yz, o.zz});
    }
    for (int i = 0; i < nv * columns; i++) {
        result[at(i / columns)] += Y[at(i)] * parameters[at(i % columns)];
    }
    return result;
}

numbers our_robot::matrices(quantity what, int s) {
    numbers result(at(nv * nv));
    if (what == quantity::delassus) {
        const std::vector<kk_constraint_row> rows = constraint_rows(all, nbody, s);
        result.resize(rows.size() * rows.size());
        const kk_status status = kk_delassus(m, d, q(s), rows.data(), static_cast<int>(rows.size()), result.data());
        return status == KK_OK ? result : numbers();
    }
    if (what == quantity::crba) {
        kk_inertia_matrix(m, d, q(s), result.data());
    } else {
        kk_inertia_matrix_inverse(m, d, q(s), result.data());
    }
    return result;
}

numbers our_robot::body_jacobians(int s, kk_reference reference, bool rate) {
    numbers result;
    kk_jacobians_rate(m, d, q(s), v(s));
    for (int body = 0; body < nbody; body++) {
        if (rate) {
            kk_body_jacobian_rate(m, d, body, reference, J.data());
        } else {
            kk_body_jacobian(m, d, body, reference, J.data());
        }
        result.insert(result.end(), J.begin(), J.end());
    }
    return result;
}

numbers our_robot::frame_jacobians(int s, bool rate) {
    numbers result;
    kk_jacobians_rate(m, d, q(s), v(s));
    for (int frame = 0; frame < nframe; frame++) {
        for (kk_reference reference : {KK_LOCAL, KK_WORLD_ORIGIN, KK_WORLD_ALIGNED}) {
            if (rate) {
                kk_frame_jacobian_rate(m, d, frame, reference, J.data());
            } else {
                kk_frame_jacobian(m, d, frame, reference, J.data());
            }
            result.insert(result.end(), J.begin(), J.end());
        }
    }
    return result;
}

numbers our_robot::momentum(quantity what, int s) {
    numbers result(at(6 * nv)), rate(at(6 * nv));
    switch (what) {
    case quantity::com:
        result.clear();
        push_vec3(result, kk_center_of_mass(m, d, q(s)));
        return result;
    case quantity::com_jacobian:
        result.resize(at(3 * nv));
        kk_center_of_mass_jacobian(m, d, q(s), result.data());
        return result;
    case quantity::centroidal: kk_centroidal(m, d, q(s), result.data()); return result;
    case quantity::centroidal_rate:
        kk_centroidal_rate(m, d, q(s), v(s), result.data(), rate.data());
        result.assign(6, 0.0);
        for (int i = 0; i < 6 * nv; i++) {
            result[at(i / nv)] += rate[at(i)] * v(s)[i % nv];
        }
        return result;
    case quantity::momentum:
        result.clear();
        push_force(result, kk_centroidal_momentum(m, d, q(s), v(s)));
        return result;
    default: return {kk_kinetic_energy(m, d, q(s), v(s)), kk_potential_energy(m, d, q(s))};
    }
}

numbers our_robot::derivatives(quantity what, int s) {
    need_matrices();
    if (what == quantity::rnea_derivatives_q || what == quantity::rnea_derivatives_v) {
        kk_inverse_dynamics_derivatives(m, d, q(s), v(s), a(s), M1.data(), M2.data());
        return what == quantity::rnea_derivatives_q ? M1 : M2;
    }
    kk_forward_dynamics_derivatives(m, d, q(s), v(s), tau(s), out.data(), M1.data(), M2.data(), M3.data());
    if (what == quantity::aba_derivatives_timed) {
        numbers three = M1;
        three.insert(three.end(), M2.begin(), M2.end());
        three.insert(three.end(), M3.begin(), M3.end());
        return three;
    }
    return what == quantity::aba_derivatives_q ? M1 : what == quantity::aba_derivatives_v ? M2 : M3;
}

} // namespace

std::unique_ptr<robot> make_ours(kk_spec *, const kk_model *model) {
    return std::unique_ptr<robot>(new our_robot(model));
}

} // namespace peers
