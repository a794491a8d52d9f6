/// ODE behind the table of SimBenchmark, in its own coordinates: dWorldQuickStep with 20 and with 200 sweeps, and dWorldStep. ERP and
/// CFM are zero, as the benchmark has them.
#include "simbench_peers.hpp"

#include <ode/ode.h>

#include <cstdarg>
#include <memory>

namespace peers {

namespace {

enum solver { QUICK, SLOW, DIRECT };

dReal r(double x) {
    return static_cast<dReal>(x);
}

struct ode_scene {
    simbench_scene scene;
    solver how;
    dWorldID w;
    dSpaceID space;
    dJointGroupID contacts;
    std::vector<dBodyID> body; ///< balls and boxes, then links, robot by robot
    std::vector<dJointID> hinge;
    int pushed = -1;
    triple push{};
    std::array<int, 8> tag{0, 1, 2, 3, 4, 5, 6, 7}; ///< materials, + 4: of a robot that does not touch itself
};

void touch(void *data, dGeomID a, dGeomID b) {
    auto *s = static_cast<ode_scene *>(data);
    const int ta = *static_cast<int *>(dGeomGetData(a)), tb = *static_cast<int *>(dGeomGetData(b));
    dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
    if ((ta >= 4 && tb >= 4) || (first && second && dAreConnected(first, second))) {
        return;
    }
    std::array<dContact, 8> contact;
    const int n = dCollide(a, b, static_cast<int>(contact.size()), &contact[0].geom, sizeof(dContact));
    for (int i = 0; i < n; i++) {
        dContact &c = contact[static_cast<std::size_t>(i)];
        c.surface.mode = dContactApprox1;
        c.surface.mu = r(s->scene.friction[ta & 3][tb & 3]);
        if (s->scene.restitution > 0) {
            c.surface.mode |= dContactBounce;
            c.surface.bounce = r(s->scene.restitution);
            c.surface.bounce_vel = 0;
        }
        dJointAttach(dJointCreateContact(s->w, s->contacts, &c), first, second);
    }
}

void add_body(ode_scene *s, const simbench_body &b) {
    dBodyID id = dBodyCreate(s->w);
    dMass m;
    dGeomID geom;
    if (b.is_ball) {
        dMassSetSphereTotal(&m, r(b.mass), r(b.size[0]));
        geom = dCreateSphere(s->space, r(b.size[0]));
    } else {
        dMassSetBoxTotal(&m, r(b.mass), r(b.size[0]), r(b.size[1]), r(b.size[2]));
        geom = dCreateBox(s->space, r(b.size[0]), r(b.size[1]), r(b.size[2]));
    }
    dBodySetMass(id, &m);
    dBodySetPosition(id, r(b.position[0]), r(b.position[1]), r(b.position[2]));
    dBodySetLinearVel(id, r(b.velocity[0]), r(b.velocity[1]), r(b.velocity[2]));
    dGeomSetBody(geom, id);
    dGeomSetData(geom, &s->tag[b.is_ball ? SIMBENCH_BALL : SIMBENCH_BOX]);
    s->body.push_back(id);
}

void add_link(ode_scene *s, const simbench_link &l, const placed_link &x, dBodyID parent) {
    dBodyID id = dBodyCreate(s->w);
    dMass m;
    dMassSetParameters(&m, r(l.mass), 0, 0, 0, r(l.moments[0]), r(l.moments[1]), r(l.moments[2]), 0, 0, 0);
    dBodySetMass(id, &m);
    dMatrix3 R;
    for (std::size_t i = 0; i < 3; i++) {
        for (std::size_t k = 0; k < 3; k++) {
            R[4 * i + k] = r(x.R[3 * i + k]);
        }
        R[4 * i + 3] = 0;
    }
    const triple c = x.point(l.center);
    dBodySetPosition(id, r(c[0]), r(c[1]), r(c[2]));
    dBodySetRotation(id, R);
    if (parent) {
        dJointID hinge = dJointCreateHinge(s->w, nullptr);
        const triple axis = x.direction(l.axis);
        dJointAttach(hinge, id, parent);
        dJointSetHingeAnchor(hinge, r(x.p[0]), r(x.p[1]), r(x.p[2]));
        dJointSetHingeAxis(hinge, r(axis[0]), r(axis[1]), r(axis[2]));
        s->hinge.push_back(hinge);
    }
    if (l.has_box || l.has_ball) {
        dGeomID geom = l.has_box ? dCreateBox(s->space, r(l.shape_size[0]), r(l.shape_size[1]), r(l.shape_size[2]))
                                 : dCreateSphere(s->space, r(l.shape_size[0]));
        dGeomSetBody(geom, id);
        dGeomSetOffsetPosition(geom, r(l.shape_at[0] - l.center[0]), r(l.shape_at[1] - l.center[1]),
                               r(l.shape_at[2] - l.center[2]));
        const int material = l.has_box ? SIMBENCH_BOX : SIMBENCH_BALL;
        dGeomSetData(geom, &s->tag[static_cast<std::size_t>(s->scene.self_collides ? material : material + 4)]);
    }
    s->body.push_back(id);
}

std::size_t base_of(const ode_scene *s, int robot) {
    return static_cast<std::size_t>(s->scene.body_count + robot * SIMBENCH_LINKS);
}

/// dWorldStep complains of its LCP by the thousand.
void keep_quiet(int, const char *, va_list) {
}

void *open_with(const simbench_scene *scene, solver how) {
    static const bool is_started = dInitODE2(0) != 0;
    (void)is_started;
    dSetMessageHandler(keep_quiet);
    auto s = std::make_unique<ode_scene>();
    s->scene = *scene;
    s->how = how;
    s->w = dWorldCreate();
    s->space = dHashSpaceCreate(nullptr);
    s->contacts = dJointGroupCreate(0);
    dWorldSetGravity(s->w, 0, 0, r(-scene->gravity));
    dWorldSetERP(s->w, 0);
    dWorldSetCFM(s->w, 0);
    dWorldSetQuickStepNumIterations(s->w, how == SLOW ? 200 : 20);
    if (scene->has_floor) {
        dGeomSetData(dCreatePlane(s->space, 0, 0, 1, 0), &s->tag[SIMBENCH_FLOOR]);
    }
    for (int i = 0; i < scene->body_count; i++) {
        add_body(s.get(), scene->body[i]);
    }
    for (int i = 0; i < scene->robots; i++) {
        const std::vector<placed_link> placed = place_robot(*scene, i);
        for (int k = 0; k < SIMBENCH_LINKS; k++) {
            const simbench_link l = simbench_robot_link(k);
            add_link(s.get(), l, placed[static_cast<std::size_t>(k)],
                     k == 0 ? nullptr : s->body[base_of(s.get(), i) + static_cast<std::size_t>(l.parent)]);
        }
    }
    return s.release();
}

template <solver how> void *open(const simbench_scene *scene, char *) {
    return open_with(scene, how);
}

void close(void *world) {
    auto *s = static_cast<ode_scene *>(world);
    dJointGroupDestroy(s->contacts);
    dSpaceDestroy(s->space);
    dWorldDestroy(s->w);
    delete s;
}

bool step(void *world, char *trouble) {
    auto *s = static_cast<ode_scene *>(world);
    if (s->pushed >= 0) {
        dBodyAddForce(s->body[static_cast<std::size_t>(s->pushed)], r(s->push[0]), r(s->push[1]), r(s->push[2]));
    }
    dSpaceCollide(s->space, s, touch);
    if (s->how == DIRECT) {
        dWorldStep(s->w, r(s->scene.dt));
    } else {
        dWorldQuickStep(s->w, r(s->scene.dt));
    }
    dJointGroupEmpty(s->contacts);
    const dReal z = dBodyGetPosition(s->body[0])[2];
    if (!(z == z)) {
        std::snprintf(trouble, SIMBENCH_TEXT, "not a number");
        return false;
    }
    return true;
}

void body(void *world, int index, double *position, double *velocity) {
    dBodyID id = static_cast<ode_scene *>(world)->body[static_cast<std::size_t>(index)];
    for (int k = 0; k < 3; k++) {
        position[k] = static_cast<double>(dBodyGetPosition(id)[k]);
        velocity[k] = static_cast<double>(dBodyGetLinearVel(id)[k]);
    }
}

void push(void *world, int index, const double *force) {
    auto *s = static_cast<ode_scene *>(world);
    s->pushed = index < 0 ? static_cast<int>(base_of(s, -1 - index)) : index;
    s->push = {force[0], force[1], force[2]};
}

void joints(void *world, int robot, double *angle, double *speed) {
    auto *s = static_cast<ode_scene *>(world);
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        dJointID hinge = s->hinge[static_cast<std::size_t>(robot * SIMBENCH_JOINTS + k)];
        angle[k] = simbench_robot_link(k + 1).target + static_cast<double>(dJointGetHingeAngle(hinge));
        speed[k] = static_cast<double>(dJointGetHingeAngleRate(hinge));
    }
}

void drive(void *world, int robot, const double *torque) {
    auto *s = static_cast<ode_scene *>(world);
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        dJointAddHingeTorque(s->hinge[static_cast<std::size_t>(robot * SIMBENCH_JOINTS + k)], r(torque[k]));
    }
}

void whole(void *world, double *momentum, double *energy) {
    auto *s = static_cast<ode_scene *>(world);
    momentum[0] = momentum[1] = momentum[2] = *energy = 0;
    for (dBodyID id : s->body) {
        dMass m;
        dBodyGetMass(id, &m);
        const dReal *p = dBodyGetPosition(id), *v = dBodyGetLinearVel(id), *w = dBodyGetAngularVel(id);
        dVector3 o, L;
        dBodyVectorFromWorld(id, w[0], w[1], w[2], o);
        dMultiply0_331(L, m.I, o);
        for (int k = 0; k < 3; k++) {
            momentum[k] += static_cast<double>(m.mass * v[k]);
        }
        *energy += static_cast<double>(
            m.mass * (r(s->scene.gravity) * p[2] + v[0] * v[0] / 2 + v[1] * v[1] / 2 + v[2] * v[2] / 2) +
            (o[0] * L[0] + o[1] * L[1] + o[2] * L[2]) / 2);
    }
}

double height(void *world, int robot) {
    auto *s = static_cast<ode_scene *>(world);
    return static_cast<double>(dBodyGetPosition(s->body[base_of(s, robot)])[2]) - simbench_robot_link(0).center[2];
}

template <solver how> const simbench_engine *table(const char *name) {
    static const simbench_engine engine = {name, open<how>, close, step, body, push, joints, drive, whole, height};
    return &engine;
}

} // namespace

std::vector<const simbench_engine *> simbench_of_ode() {
    return {table<QUICK>("ODE 20 sweeps"), table<SLOW>("ODE 200 sweeps"), table<DIRECT>("ODE direct")};
}

} // namespace peers
