/// Writes golden results of Pinocchio and MuJoCo for a few models: tests/golden/dynamics/<model>.inc, rows of golden_record.
///
///     make_dynamics FOLDER COMMAND    (run by make_dynamics.py; COMMAND goes into the header of each file)
///
/// Vectors are stored for every state, matrices for the first alone, so that all files together stay small.
#include "../../benchmarks/peers/testbed.hpp"
#include "dynamics_models.h"

#include <charconv>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

using namespace peers;

namespace {

constexpr int state_count = 5;

std::string shortest(double x) {
    char text[40];
    const std::to_chars_result end = std::to_chars(text, text + sizeof text, x);
    std::string word(text, end.ptr);
    // C reads 3 as an int, which is as good, but -0 as +0
    return x == 0 ? "0.0" : word;
}

void write_record(std::ostream &out, const char *who, const char *what, int state, const double *x, std::size_t n) {
    out << "{\"" << who << "\", \"" << what << "\", " << state << ", " << n << ",\n (const double[]){";
    std::size_t column = 19;
    for (std::size_t i = 0; i < n; i++) {
        const std::string word = shortest(x[i]) + (i + 1 < n ? "," : "");
        if (column + word.size() > 118) {
            out << "\n  ";
            column = 2;
        }
        out << word;
        column += word.size();
    }
    out << "}},\n";
}

bool is_matrix(quantity what) {
    switch (what) {
    case quantity::crba:
    case quantity::com_jacobian:
    case quantity::centroidal:
    case quantity::rnea_derivatives_q:
    case quantity::rnea_derivatives_v:
    case quantity::aba_derivatives_q:
    case quantity::aba_derivatives_v:
    case quantity::accelerations:
    case quantity::frame_jacobians: return true;
    default: return false;
    }
}

// what tests/golden/test_dynamics.c knows how to compute
const quantity kept[] = {
    quantity::poses,
    quantity::accelerations,
    quantity::rnea,
    quantity::rnea_external,
    quantity::aba,
    quantity::aba_external,
    quantity::com,
    quantity::energies,
    quantity::centroidal_rate,
    quantity::crba,
    quantity::com_jacobian,
    quantity::centroidal,
    quantity::frame_jacobians,
    quantity::rnea_derivatives_q,
    quantity::rnea_derivatives_v,
    quantity::aba_derivatives_q,
    quantity::aba_derivatives_v,
};

void write_results(std::ostream &out, const char *who, robot &r) {
    for (int s = 0; s < state_count; s++) {
        for (quantity what : kept) {
            // long ones of the first state alone; of MuJoCo only what is short, and the inertia matrix
            if (s > 0 && (is_matrix(what) || what == quantity::poses)) {
                continue;
            }
            const numbers x = r.result(what, s);
            if (!x.empty()) {
                write_record(out, who, quantities()[static_cast<std::size_t>(what)].name, s, x.data(), x.size());
            }
        }
    }
}

void write_inputs(std::ostream &out, const testbed &bed, const states &all) {
    const std::size_t nq = static_cast<std::size_t>(kk_model_nq(bed.model)), nv = all.v.size() / state_count,
                      nbody = static_cast<std::size_t>(kk_model_nbody(bed.model));
    for (std::size_t s = 0; s < state_count; s++) {
        const int state = static_cast<int>(s);
        write_record(out, "input", "q", state, &all.q[s * nq], nq);
        write_record(out, "input", "v", state, &all.v[s * nv], nv);
        write_record(out, "input", "a", state, &all.a[s * nv], nv);
        write_record(out, "input", "tau", state, &all.tau[s * nv], nv);
        write_record(out, "input", "external", state, &all.external[s * nbody].angular.x, 6 * nbody);
    }
}

// outer forces of few digits: they take up room and need no more
void round_inputs(states &all) {
    for (kk_force &f : all.external) {
        for (double *x : {&f.angular.x, &f.angular.y, &f.angular.z, &f.linear.x, &f.linear.y, &f.linear.z}) {
            *x = std::round(*x * 4) / 4;
        }
    }
    for (numbers *list : {&all.v, &all.a, &all.tau}) {
        for (double &x : *list) {
            x = std::round(x * 1024) / 1024;
        }
    }
}

void write_model(const std::string &folder, const std::string &command, const golden_model &model) {
    const testbed bed(model.build);
    states all = bed.random_states(state_count, 2026);
    round_inputs(all);
    std::ofstream out(folder + "/" + model.name + ".inc");
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    out << "// Golden results of articulated dynamics: " << model.name << ". Not to be edited.\n"
        << "// Pinocchio " << pinocchio_version() << " (" << pinocchio_build() << ")";
    if (model.in_mujoco) {
        out << ", MuJoCo " << mujoco_version();
    }
    out << "\n// by " << command << ", " << date << "\n"
        << "// who, what, state, how many, numbers: the shortest that give the same double\n";
    write_inputs(out, bed, all);
    const auto pinocchio = make_pinocchio(bed.spec, bed.model);
    pinocchio->load(all);
    write_results(out, "Pinocchio", *pinocchio);
    if (model.in_mujoco) {
        const auto mujoco = make_mujoco(bed.spec, bed.model);
        mujoco->load(all);
        write_results(out, "MuJoCo", *mujoco);
    }
    if (!out.flush()) {
        throw std::runtime_error("cannot write into " + folder);
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: make_dynamics FOLDER COMMAND\n");
        return 2;
    }
    for (int i = 0; i < golden_model_count; i++) {
        write_model(argv[1], argv[2], golden_models[i]);
    }
    return 0;
}
