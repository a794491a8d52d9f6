/// MuJoCo behind the table of SimBenchmark, from MJCF written here: Newton's solver with elliptic cones, with Euler's and with Runge
/// and Kutta's integrator, and with a pass against slip. It has no law of restitution, so it takes no part where things bounce.
#include "simbench_peers.hpp"

#include <mujoco/mujoco.h>

#include <cstring>
#include <memory>
#include <string>

namespace peers {

namespace {

enum variant { EULER, RK4, NOSLIP };

struct mujoco_scene {
    simbench_scene scene;
    mjModel *m = nullptr;
    mjData *d = nullptr;
};

std::string text_of(const double *x, int n) {
    std::string out;
    for (int i = 0; i < n; i++) {
        char number[40];
        std::snprintf(number, sizeof number, "%s%.17g", i ? " " : "", x[i]);
        out += number;
    }
    return "\"" + out + "\"";
}

std::string geom_of(bool is_ball, const double *size, const double *at, double friction, const char *bits) {
    const double half[3] = {size[0] / 2, size[1] / 2, size[2] / 2};
    return std::string("<geom type=") +
           (is_ball ? "\"sphere\" size=" + text_of(size, 1) : "\"box\" size=" + text_of(half, 3)) +
           " pos=" + text_of(at, 3) + " friction=" + text_of(&friction, 1) + bits + "/>";
}

std::string body_of(const simbench_body &b, double friction) {
    const double r = b.size[0], x = b.size[0] * b.size[0], y = b.size[1] * b.size[1], z = b.size[2] * b.size[2],
                 center[3] = {0, 0, 0};
    const double ball[3] = {0.4 * b.mass * r * r, 0.4 * b.mass * r * r, 0.4 * b.mass * r * r};
    const double box[3] = {b.mass * (y + z) / 12, b.mass * (x + z) / 12, b.mass * (x + y) / 12};
    return "<body pos=" + text_of(b.position, 3) + "><freejoint/><inertial pos=\"0 0 0\" mass=" + text_of(&b.mass, 1) +
           " diaginertia=" + text_of(b.is_ball ? ball : box, 3) + "/>" +
           geom_of(b.is_ball, b.size, center, friction, "") + "</body>\n";
}

std::string robot_of(const simbench_scene &s, int robot, int index) {
    const simbench_link l = simbench_robot_link(index);
    double at[3];
    simbench_robot_place(&s, robot, at);
    std::string text =
        "<body pos=" + text_of(index == 0 ? at : l.at, 3) + ">" +
        (index == 0 ? std::string("<freejoint/>") : "<joint type=\"hinge\" axis=" + text_of(l.axis, 3) + "/>") +
        "<inertial pos=" + text_of(l.center, 3) + " mass=" + text_of(&l.mass, 1) +
        " diaginertia=" + text_of(l.moments, 3) + "/>";
    if (l.has_box || l.has_ball) {
        text += geom_of(l.has_ball, l.shape_size, l.shape_at, s.friction[SIMBENCH_BALL][SIMBENCH_BOX],
                        s.self_collides ? "" : " contype=\"2\" conaffinity=\"1\"");
    }
    for (int k = index + 1; k < SIMBENCH_LINKS; k++) {
        if (simbench_robot_link(k).parent == index) {
            text += robot_of(s, robot, k);
        }
    }
    return text + "</body>\n";
}

std::string document(const simbench_scene &s, variant how) {
    const double gravity[3] = {0, 0, -s.gravity};
    std::string text =
        "<mujoco><compiler angle=\"radian\"/><size memory=\"500M\"/><option cone=\"elliptic\" integrator=\"" +
        std::string(how == RK4 ? "RK4" : "Euler") + "\" timestep=" + text_of(&s.dt, 1) +
        " gravity=" + text_of(gravity, 3) + (how == NOSLIP ? " noslip_iterations=\"20\"" : "") + "/>\n<worldbody>\n";
    if (s.has_floor) {
        text += "<geom type=\"plane\" size=\"100 100 1\" priority=\"1\" friction=" +
                text_of(&s.friction[SIMBENCH_FLOOR][SIMBENCH_BOX], 1) + "/>\n";
    }
    for (int i = 0; i < s.body_count; i++) {
        text += body_of(s.body[i], s.friction[SIMBENCH_BALL][SIMBENCH_BOX]);
    }
    for (int i = 0; i < s.robots; i++) {
        text += robot_of(s, i, 0);
    }
    return text + "</worldbody></mujoco>";
}

mjModel *compile(const std::string &text, char *error, int size) {
    mjVFS vfs;
    mj_defaultVFS(&vfs);
    mj_addBufferVFS(&vfs, "scene.xml", text.data(), static_cast<int>(text.size()));
    mjModel *m = mj_loadXML("scene.xml", &vfs, error, size);
    mj_deleteVFS(&vfs);
    return m;
}

/// Where the robot's free joint, then its hinges begin.
int first_q(const mujoco_scene *s, int robot) {
    return 7 * s->scene.body_count + robot * (7 + SIMBENCH_JOINTS);
}
int first_v(const mujoco_scene *s, int robot) {
    return 6 * s->scene.body_count + robot * (6 + SIMBENCH_JOINTS);
}

void *open_with(const simbench_scene *scene, variant how, char *trouble) {
    if (scene->restitution > 0) {
        std::snprintf(trouble, SIMBENCH_TEXT, "has no law of restitution");
        return nullptr;
    }
    auto s = std::make_unique<mujoco_scene>();
    s->scene = *scene;
    char error[SIMBENCH_TEXT] = "";
    s->m = compile(document(*scene, how), error, SIMBENCH_TEXT);
    if (!s->m) {
        std::snprintf(trouble, SIMBENCH_TEXT, "%s", error);
        return nullptr;
    }
    s->d = mj_makeData(s->m);
    for (int i = 0; i < scene->body_count; i++) {
        std::memcpy(s->d->qvel + 6 * i, scene->body[i].velocity, 3 * sizeof(double));
    }
    for (int i = 0; i < scene->robots; i++) {
        for (int k = 0; k < SIMBENCH_JOINTS; k++) {
            s->d->qpos[first_q(s.get(), i) + 7 + k] = simbench_robot_link(k + 1).target;
        }
    }
    return s.release();
}

template <variant how> void *open(const simbench_scene *scene, char *trouble) {
    return open_with(scene, how, trouble);
}

void close(void *world) {
    auto *s = static_cast<mujoco_scene *>(world);
    mj_deleteData(s->d);
    mj_deleteModel(s->m);
    delete s;
}

bool step(void *world, char *trouble) {
    auto *s = static_cast<mujoco_scene *>(world);
    mj_step(s->m, s->d);
    if (s->d->warning[mjWARN_BADQACC].number + s->d->warning[mjWARN_BADQPOS].number > 0) {
        std::snprintf(trouble, SIMBENCH_TEXT, "the state ran away and was reset");
        return false;
    }
    return true;
}

void body(void *world, int index, double *position, double *velocity) {
    const mjData *d = static_cast<mujoco_scene *>(world)->d;
    std::memcpy(position, d->qpos + 7 * index, 3 * sizeof(double));
    std::memcpy(velocity, d->qvel + 6 * index, 3 * sizeof(double));
}

void push(void *world, int index, const double *force) {
    auto *s = static_cast<mujoco_scene *>(world);
    const int id = index < 0 ? 1 + s->scene.body_count + (-1 - index) * SIMBENCH_LINKS : 1 + index;
    std::memcpy(s->d->xfrc_applied + 6 * id, force, 3 * sizeof(double));
}

void joints(void *world, int robot, double *angle, double *speed) {
    auto *s = static_cast<mujoco_scene *>(world);
    std::memcpy(angle, s->d->qpos + first_q(s, robot) + 7, SIMBENCH_JOINTS * sizeof(double));
    std::memcpy(speed, s->d->qvel + first_v(s, robot) + 6, SIMBENCH_JOINTS * sizeof(double));
}

void drive(void *world, int robot, const double *torque) {
    auto *s = static_cast<mujoco_scene *>(world);
    std::memcpy(s->d->qfrc_applied + first_v(s, robot) + 6, torque, SIMBENCH_JOINTS * sizeof(double));
}

void whole(void *world, double *momentum, double *energy) {
    auto *s = static_cast<mujoco_scene *>(world);
    mj_kinematics(s->m, s->d);
    mj_comPos(s->m, s->d);
    mj_comVel(s->m, s->d);
    mj_crb(s->m, s->d);
    mj_energyPos(s->m, s->d);
    mj_energyVel(s->m, s->d);
    mj_subtreeVel(s->m, s->d);
    const double mass = s->m->body_subtreemass[0];
    for (int k = 0; k < 3; k++) {
        momentum[k] = mass * s->d->subtree_linvel[k];
    }
    *energy = s->d->energy[0] + s->d->energy[1];
}

double height(void *world, int robot) {
    auto *s = static_cast<mujoco_scene *>(world);
    return s->d->qpos[first_q(s, robot) + 2];
}

template <variant how> const simbench_engine *table(const char *name) {
    static const simbench_engine engine = {name, open<how>, close, step, body, push, joints, drive, whole, height};
    return &engine;
}

} // namespace

std::vector<const simbench_engine *> simbench_of_mujoco() {
    return {table<EULER>("MuJoCo"), table<RK4>("MuJoCo RK4"), table<NOSLIP>("MuJoCo noslip")};
}

} // namespace peers
