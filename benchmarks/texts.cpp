#include "texts.hpp"

#include "../models/robots.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>

namespace benchmarks {

namespace {

// appends as printf does; %.17g keeps every bit
__attribute__((format(printf, 2, 3))) void put(std::string &text, const char *format, ...) {
    char line[1000];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text += line;
}

// ---- bricks

void put_boxes(std::string &x, const peers::bricks &scene) {
    put(x, "<geom type=\"plane\" size=\"50 50 1\"/>\n");
    for (const peers::brick &b : scene.box) {
        put(x,
            "<body pos=\"%.17g %.17g %.17g\"><freejoint/><geom type=\"box\" size=\"%.17g %.17g %.17g\" "
            "mass=\"%.17g\"/></body>\n",
            b.center[0], b.center[1], b.center[2], b.half[0], b.half[1], b.half[2], b.mass);
    }
}

void put_chain(std::string &x, const peers::bricks &s) {
    for (int i = 0; i < s.chain; i++) {
        put(x,
            "<body pos=\"%.17g 0 0\"><joint type=\"hinge\" axis=\"0 1 0\"/><geom type=\"box\" size=\"%.17g %.17g "
            "%.17g\" pos=\"%.17g 0 0\" mass=\"%.17g\" contype=\"0\" conaffinity=\"0\"/>\n",
            i > 0 ? s.link_length : 0, s.link_length / 2, s.link_width / 2, s.link_width / 2, s.link_length / 2,
            s.link_mass);
    }
    for (int i = 0; i < s.chain; i++) {
        x += "</body>";
    }
}

void put_heap(std::string &x, const peers::bricks &s) {
    static const char *const names[] = {"sphere", "box", "capsule"};
    put(x, "<geom type=\"plane\" size=\"50 50 1\"/>\n");
    for (const peers::solid &b : s.heap) {
        char where[200];
        std::snprintf(where, sizeof where, "pos=\"%.9g %.9g %.9g\" quat=\"%.9g %.9g %.9g %.9g\"", b.center[0],
                      b.center[1], b.center[2], b.turn[0], b.turn[1], b.turn[2], b.turn[3]);
        const bool moves = b.mass > 0;
        if (moves) {
            put(x, "<body %s><freejoint/>", where);
        }
        put(x, "<geom type=\"%s\" size=\"%g %g %g\" ", names[b.shape], b.size[0], b.size[1], b.size[2]);
        moves ? put(x, "mass=\"%g\"/></body>\n", b.mass) : put(x, "%s/>\n", where);
    }
}

// ---- the humanoid

constexpr double sole_height = -0.105, sole_length = 0.24, sole_width = 0.14, sole_x = 0.03, sole_y = 0.01;

std::string sole_shapes(const soles &s, bool left) {
    std::string x;
    const double y = left ? sole_y : -sole_y;
    if (s.points == 0) {
        put(x, "<geom type=\"box\" size=\"%g %g 0.03\" pos=\"%g %g %.17g\"/>\n", sole_length / 2, sole_width / 2,
            sole_x, y, sole_height + 0.03);
        return x;
    }
    // balls of 5 mm on a grid as square as can be, the left foot first
    const int mine = left ? (s.points + 1) / 2 : s.points / 2;
    const int columns = static_cast<int>(std::ceil(std::sqrt(mine * sole_length / sole_width)));
    const int rows = mine > 0 ? (mine + columns - 1) / columns : 0;
    for (int i = 0; i < mine; i++) {
        const double u = (i % columns + 0.5) / columns - 0.5, v = (i / columns + 0.5) / rows - 0.5;
        put(x, "<geom type=\"sphere\" size=\"0.005\" pos=\"%.17g %.17g %.17g\"/>\n", sole_x + u * (sole_length - 0.01),
            y + v * (sole_width - 0.01), sole_height + 0.005);
    }
    return x;
}

void put_body(std::string &x, const kk_spec *spec, int id, const soles &s) {
    const kk_body_def *b = kk_spec_body_const(spec, id);
    const std::string name = b->name;
    const kk_transform X = b->joint.placement;
    const kk_quat r = kk_quat_from_mat3(X.R);
    const kk_inertia &I = b->inertia;
    const bool is_free = b->joint.type == KK_JOINT_FREE;
    put(x, "<body name=\"%s\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">\n", b->name, X.p.x, X.p.y,
        X.p.z + (is_free ? 0.6 - sole_height : 0), r.w, r.x, r.y, r.z);
    put(x, "<inertial mass=\"%.17g\" pos=\"%.17g %.17g %.17g\" fullinertia=\"%.17g %.17g %.17g %.17g %.17g %.17g\"/>\n",
        I.mass, I.com.x, I.com.y, I.com.z, I.moment.xx, I.moment.yy, I.moment.zz, I.moment.xy, I.moment.xz,
        I.moment.yz);
    if (is_free) {
        x += "<freejoint/>\n";
    } else if (b->joint.type == KK_JOINT_HINGE) {
        // damping is the joint's, not the servo's: MuJoCo's default integrator takes the joint's implicitly, and a servo's shakes a foot to pieces
        const kk_dof_def &d = b->joint.dof[0];
        put(x,
            "<joint name=\"%s\" type=\"hinge\" axis=\"%g %g %g\" range=\"%.17g %.17g\" armature=\"0.01\" "
            "damping=\"%g\"/>\n",
            b->name, b->joint.axis.x, b->joint.axis.y, b->joint.axis.z, d.lower, d.upper, 0.3 * d.effort_limit);
    }
    if (name == "left_foot" || name == "right_foot") {
        x += sole_shapes(s, name[0] == 'l');
    }
    for (int child = id + 1; child < kk_spec_body_count(spec); child++) {
        if (kk_spec_body_const(spec, child)->parent == id) {
            put_body(x, spec, child, s);
        }
    }
    x += "</body>\n";
}

void put_servos(std::string &x, const kk_spec *spec) {
    x += "<actuator>\n";
    for (int i = 1; i < kk_spec_body_count(spec); i++) {
        const kk_body_def *b = kk_spec_body_const(spec, i);
        if (b->joint.type == KK_JOINT_HINGE) {
            const double effort = b->joint.dof[0].effort_limit;
            put(x, "<position name=\"%s\" joint=\"%s\" kp=\"%g\" forcerange=\"%g %g\"/>\n", b->name, b->name,
                12 * effort, -effort, effort);
        }
    }
    x += "</actuator>\n";
}

} // namespace

peers::bricks stack10() {
    peers::bricks s;
    s.friction = 0.6;
    s.timestep = 0.002;
    for (int i = 0; i < 10; i++) {
        s.box.push_back({{0, 0, 0.1 + 0.2 * i}, {0.1, 0.1, 0.1}, 8});
    }
    return s;
}

peers::bricks tower27() {
    peers::bricks s;
    s.friction = 0.6;
    s.timestep = 0.002;
    for (int layer = 0; layer < 9; layer++) {
        for (int k = -1; k <= 1; k++) {
            const bool across = layer % 2 == 1;
            const double z = 0.06 + 0.12 * layer;
            s.box.push_back(across ? peers::brick{{0.2 * k, 0, z}, {0.0999, 0.3, 0.06}, 8}
                                   : peers::brick{{0, 0.2 * k, z}, {0.3, 0.0999, 0.06}, 8});
        }
    }
    return s;
}

peers::bricks tower102() {
    peers::bricks s;
    s.friction = 0.6;
    s.timestep = 0.01;
    for (int layer = 0; layer < 34; layer++) {
        for (int k = -1; k <= 1; k++) {
            const bool across = layer % 2 == 1;
            const double z = 0.02 + 0.04 * layer;
            s.box.push_back(across ? peers::brick{{0.09 * k, 0, z}, {0.03, 0.12, 0.02}, 0.2}
                                   : peers::brick{{0, 0.09 * k, z}, {0.12, 0.03, 0.02}, 0.2});
        }
    }
    return s;
}

namespace {

/// Four walls round a square of half side `half`.
peers::bricks bin(double half, double friction) {
    peers::bricks s;
    s.friction = friction;
    s.timestep = 0.002;
    for (int k = 0; k < 4; k++) {
        const double side = (k % 2 ? -1 : 1) * (half + 0.1), thin = 0.1, wide = half + 0.2;
        s.heap.push_back({peers::solid::box,
                          {k < 2 ? thin : wide, k < 2 ? wide : thin, 1.5},
                          {k < 2 ? side : 0, k < 2 ? 0 : side, 1.5},
                          {1, 0, 0, 0},
                          0});
    }
    return s;
}

/// Between −1 and 1, the same in every run.
double jitter(unsigned &seed) {
    seed = seed * 1664525u + 1013904223u;
    return seed / 2147483648.0 - 1;
}

} // namespace

peers::bricks pile100(unsigned seed) {
    using peers::solid;
    static const solid shapes[] = {{solid::sphere, {0.08, 0, 0}, {}, {}, 2.1},
                                   {solid::box, {0.07, 0.06, 0.05}, {}, {}, 1.7},
                                   {solid::capsule, {0.05, 0.06, 0}, {}, {}, 1.5}};
    peers::bricks s = bin(0.5, 0.6);
    for (int i = 0; i < 100; i++) {
        solid one = shapes[i % 3];
        one.center = {0.24 * (i / 4 % 4 - 1.5), 0.24 * (i % 4 - 1.5), 0.15 + 0.25 * (i / 16)};
        for (double &e : one.turn) {
            e = jitter(seed);
        }
        for (int k = 0; k < 2; k++) {
            one.center[static_cast<std::size_t>(k)] += 0.02 * jitter(seed);
        }
        s.heap.push_back(one);
    }
    return s;
}

peers::bricks bin216(unsigned seed) {
    peers::bricks s = bin(0.75, 0.5);
    seed++; // the first was made with 2
    for (int i = 0; i < 216; i++) {
        const double u = jitter(seed), v = jitter(seed);
        s.heap.push_back(
            {peers::solid::sphere,
             {0.1, 0, 0},
             {0.21 * (i / 36 - 2.5) + 0.001 * u, 0.21 * (i / 6 % 6 - 2.5) + 0.001 * v, 0.101 + 0.21 * (i % 6)},
             {1, 0, 0, 0},
             10});
    }
    return s;
}

peers::bricks hinge_chain(int n) {
    peers::bricks s;
    s.timestep = 0.001;
    s.chain = n;
    s.link_length = 0.2;
    s.link_width = 0.02;
    s.link_mass = 1;
    return s;
}

std::string mjcf_of(const peers::bricks &s) {
    std::string x = "<mujoco>\n";
    put(x, "<option timestep=\"%g\"%s/>\n<size memory=\"400M\"/>\n", s.timestep, s.chain ? " integrator=\"RK4\"" : "");
    put(x, "<default><geom friction=\"%g 0 0\" condim=\"3\"/></default>\n<worldbody>\n", s.friction);
    s.chain ? put_chain(x, s) : s.heap.empty() ? put_boxes(x, s) : put_heap(x, s);
    return x + "</worldbody></mujoco>\n";
}

std::string humanoid_mjcf(const soles &s) {
    kk_spec *spec = nullptr;
    kk_error error = {};
    if (kk_spec_create(nullptr, &spec) != KK_OK || robots_humanoid36(spec, &error) != KK_OK) {
        throw std::runtime_error(error.text);
    }
    std::string x = "<mujoco>\n<compiler angle=\"radian\" autolimits=\"true\"/>\n<option timestep=\"0.002\"/>\n"
                    "<default><geom friction=\"0.8 0 0\" condim=\"3\"/></default>\n<worldbody>\n"
                    "<geom type=\"plane\" size=\"50 50 1\"/>\n";
    put_body(x, spec, 1, s);
    x += "</worldbody>\n";
    put_servos(x, spec);
    kk_spec_free(spec);
    return x + "</mujoco>\n";
}

static std::string closing(int bodies) {
    std::string x;
    for (int i = 0; i < bodies; i++) {
        x += "</body>";
    }
    return x;
}

std::string long_chain_mjcf(int n) {
    std::string x = "<mujoco><worldbody>\n";
    for (int i = 0; i < n; i++) {
        // not deeper than files may be
        x += i % 100 == 0 && i > 0 ? closing(100) + "\n" : "";
        put(x,
            "<body name=\"link%d\" pos=\"0 0 0.1\"><inertial mass=\"1\" pos=\"0 0 0.05\" diaginertia=\"0.01 0.01 "
            "0.01\"/><joint name=\"hinge%d\" type=\"hinge\" axis=\"0 1 0\"/>\n",
            i, i);
    }
    return x + closing(n % 100 == 0 ? 100 : n % 100) + "</worldbody></mujoco>\n";
}

std::string long_chain_urdf(int n) {
    std::string x = "<robot name=\"chain\">\n<link name=\"world\"/>\n";
    for (int i = 0; i < n; i++) {
        put(x,
            "<link name=\"link%d\"><inertial><origin xyz=\"0 0 0.05\"/><mass value=\"1\"/><inertia ixx=\"0.01\" "
            "iyy=\"0.01\" izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n",
            i);
        const std::string parent = i > 0 ? "link" + std::to_string(i - 1) : "world";
        put(x,
            "<joint name=\"hinge%d\" type=\"continuous\"><parent link=\"%s\"/><child link=\"link%d\"/>"
            "<origin xyz=\"0 0 0.1\"/><axis xyz=\"0 1 0\"/></joint>\n",
            i, parent.c_str(), i);
    }
    return x + "</robot>\n";
}

} // namespace benchmarks
