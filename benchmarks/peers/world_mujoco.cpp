/// MuJoCo behind the interface of a world.
#include "world.hpp"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <stdexcept>

namespace peers {

namespace {

[[noreturn]] void fail(const std::string &text) {
    throw std::runtime_error("MuJoCo: " + text);
}

void take_away(mjSpec *spec, mjtObj type) {
    while (mjsElement *first = mjs_firstElement(spec, type)) {
        mjs_delete(spec, first);
    }
}

/// The model with its first body held fast. Keyframes no longer fit and go; their angles come from the whole model.
mjModel *load_hanging(const std::string &path) {
    char error[1000] = "";
    mjSpec *spec = mj_parseXML(path.c_str(), nullptr, error, sizeof error);
    if (!spec) {
        fail(error);
    }
    take_away(spec, mjOBJ_KEY);
    mjsElement *body = mjs_firstChild(mjs_findBody(spec, "world"), mjOBJ_BODY, 0);
    mjs_delete(spec, mjs_firstChild(mjs_asBody(body), mjOBJ_JOINT, 0));
    mjModel *m = mj_compile(spec, nullptr);
    mj_deleteSpec(spec);
    if (!m) {
        fail("the hanging model does not compile");
    }
    return m;
}

class mujoco_world final : public world {
  public:
    mujoco_world(const std::string &path, const start &s);
    ~mujoco_world() override {
        mj_deleteData(settled);
        mj_deleteData(d);
        mj_deleteModel(m);
    }

    void reset() override {
        if (settled) {
            mj_copyData(d, m, settled);
            return;
        }
        mj_resetData(m, d);
        std::copy(first.begin(), first.end(), d->qpos);
    }
    bool step(const double *control) override {
        std::copy(control, control + m->nu, d->ctrl);
        mj_step(m, d);
        return d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQPOS].number == 0;
    }
    int contacts() const override {
        return d->ncon;
    }
    double energy() override {
        // the step leaves quantities of positions where the step began
        mj_kinematics(m, d);
        mj_comPos(m, d);
        mj_crb(m, d);
        mj_energyPos(m, d);
        mj_energyVel(m, d);
        return d->energy[0] + d->energy[1];
    }
    double height() override {
        mj_kinematics(m, d);
        mj_comPos(m, d);
        return d->subtree_com[2];
    }
    std::string failure() const override {
        return "the state ran away and was reset";
    }

  private:
    void place(const std::string &path, const start &s);

    mjModel *m = nullptr;
    mjData *d = nullptr, *settled = nullptr;
    std::vector<double> first;
};

mujoco_world::mujoco_world(const std::string &path, const start &s) {
    char error[1000] = "";
    m = s.hang ? load_hanging(path) : mj_loadXML(path.c_str(), nullptr, error, sizeof error);
    if (!m) {
        fail(error);
    }
    if (s.timestep > 0) {
        m->opt.timestep = s.timestep;
    }
    d = mj_makeData(m);
    nv = static_cast<int>(m->nv);
    mass = mj_getTotalmass(m);
    timestep = m->opt.timestep;
    for (int i = 0; i < m->nu; i++) {
        const char *name = mj_id2name(m, mjOBJ_ACTUATOR, i);
        actuator.push_back(name ? name : "");
    }
    keyframe_control.assign(actuator.size(), 0);
    first.assign(m->qpos0, m->qpos0 + m->nq);
    place(path, s);
    reset();
    const int solver = s.solver >= 0 ? s.solver : m->opt.solver;
    for (int i = 0; i < s.settle; i++) { // most of it by the fastest for this
        m->opt.solver = i < s.settle - 20 ? static_cast<int>(mjSOL_CG) : solver;
        mj_step(m, d);
    }
    m->opt.solver = solver;
    if (s.settle > 0) {
        settled = mj_copyData(nullptr, m, d);
    }
}

void mujoco_world::place(const std::string &path, const start &s) {
    if (!s.keyframe.empty()) {
        mjModel *whole = s.hang ? mj_loadXML(path.c_str(), nullptr, nullptr, 0) : m;
        const int key = mj_name2id(whole, mjOBJ_KEY, s.keyframe.c_str());
        if (key < 0) {
            fail("no keyframe " + s.keyframe);
        }
        const mjtNum *q = whole->key_qpos + static_cast<std::ptrdiff_t>(key) * whole->nq;
        std::copy(q + (whole->nq - m->nq), q + whole->nq, first.begin());
        const mjtNum *u = whole->key_ctrl + static_cast<std::ptrdiff_t>(key) * whole->nu;
        std::copy(u, u + whole->nu, keyframe_control.begin());
        if (whole != m) {
            mj_deleteModel(whole);
        }
    }
    for (const auto &[name, value] : s.joint) {
        const int joint = mj_name2id(m, mjOBJ_JOINT, name.c_str());
        if (joint < 0) {
            fail("no joint " + name);
        }
        first[static_cast<std::size_t>(m->jnt_qposadr[joint])] = value;
    }
    if (s.lift != 0) {
        first[2] += s.lift;
    }
}

} // namespace

world_pointer make_mujoco_world(const std::string &path, const start &s) {
    return std::make_unique<mujoco_world>(path, s);
}

std::string mujoco_version() {
    return mj_versionString();
}

} // namespace peers
