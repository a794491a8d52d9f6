/// ODE behind the interface of a world, in the precision the package was built with: dWorldQuickStep for boxes, since
/// dWorldStep takes as long as the cube of their contacts and fails; dWorldStep for chains.
#include "world.hpp"

#include <ode/ode.h>

#include <stdexcept>

namespace peers {

namespace {

class ode_world final : public world {
  public:
    explicit ode_world(const bricks &given) : b(given) {
        static const bool is_started = dInitODE2(0) != 0;
        if (!is_started) {
            throw std::runtime_error("ODE does not start");
        }
        timestep = b.timestep;
        build();
    }
    ~ode_world() override {
        destroy();
    }

    void reset() override {
        destroy();
        build();
    }
    bool step(const double *) override {
        count = 0;
        if (space) {
            dSpaceCollide(space, this, touch);
        }
        if (space) {
            dWorldQuickStep(w, static_cast<dReal>(b.timestep));
        } else {
            dWorldStep(w, static_cast<dReal>(b.timestep));
        }
        dJointGroupEmpty(contacts_of_step);
        const dReal *p = dBodyGetPosition(body[0]);
        return p[2] == p[2];
    }
    int contacts() const override {
        return count;
    }
    double energy() override {
        double sum = 0;
        for (dBodyID one : body) {
            dMass m;
            dBodyGetMass(one, &m);
            const dReal *p = dBodyGetPosition(one), *v = dBodyGetLinearVel(one), *r = dBodyGetAngularVel(one);
            dVector3 o, L;
            dBodyVectorFromWorld(one, r[0], r[1], r[2], o);
            dMultiply0_331(L, m.I, o);
            sum += m.mass * (9.81 * p[2] + 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])) +
                   0.5 * (o[0] * L[0] + o[1] * L[1] + o[2] * L[2]);
        }
        return sum;
    }
    double height() override {
        double sum = 0, total = 0;
        for (dBodyID one : body) {
            dMass m;
            dBodyGetMass(one, &m);
            sum += m.mass * dBodyGetPosition(one)[2];
            total += m.mass;
        }
        return sum / total;
    }

  private:
    static void touch(void *self, dGeomID a, dGeomID c) {
        static_cast<ode_world *>(self)->add_contacts(a, c);
    }
    void add_contacts(dGeomID a, dGeomID c) {
        if (!dGeomGetBody(a) && !dGeomGetBody(c)) {
            return;
        }
        dContact contact[8];
        const int n = dCollide(a, c, 8, &contact[0].geom, sizeof(dContact));
        for (int i = 0; i < n; i++) {
            contact[i].surface.mode = dContactApprox1;
            contact[i].surface.mu = static_cast<dReal>(b.friction);
            dJointAttach(dJointCreateContact(w, contacts_of_step, &contact[i]), dGeomGetBody(a), dGeomGetBody(c));
        }
        count += n;
    }
    dBodyID add_box(const brick &one) {
        dBodyID id = dBodyCreate(w);
        dMass m;
        const dReal x = static_cast<dReal>(2 * one.half[0]), y = static_cast<dReal>(2 * one.half[1]),
                    z = static_cast<dReal>(2 * one.half[2]);
        dMassSetBoxTotal(&m, static_cast<dReal>(one.mass), x, y, z);
        dBodySetMass(id, &m);
        dBodySetPosition(id, static_cast<dReal>(one.center[0]), static_cast<dReal>(one.center[1]),
                         static_cast<dReal>(one.center[2]));
        if (space) {
            dGeomSetBody(dCreateBox(space, x, y, z), id);
        }
        body.push_back(id);
        return id;
    }
    void add_solid(const solid &one) {
        const auto r = [](double x) { return static_cast<dReal>(x); };
        const dReal a = r(one.size[0]), c = r(one.size[1]), e = r(one.size[2]);
        dGeomID shape = one.shape == solid::sphere ? dCreateSphere(space, a)
                        : one.shape == solid::box  ? dCreateBox(space, 2 * a, 2 * c, 2 * e)
                                                   : dCreateCapsule(space, a, 2 * c);
        if (one.mass > 0) {
            dMass m;
            one.shape == solid::sphere ? dMassSetSphereTotal(&m, r(one.mass), a)
            : one.shape == solid::box  ? dMassSetBoxTotal(&m, r(one.mass), 2 * a, 2 * c, 2 * e)
                                       : dMassSetCapsuleTotal(&m, r(one.mass), 3, a, 2 * c);
            body.push_back(dBodyCreate(w));
            dBodySetMass(body.back(), &m);
            dGeomSetBody(shape, body.back());
        }
        dQuaternion q = {r(one.turn[0]), r(one.turn[1]), r(one.turn[2]), r(one.turn[3])};
        dNormalize4(q);
        dGeomSetPosition(shape, r(one.center[0]), r(one.center[1]), r(one.center[2]));
        dGeomSetQuaternion(shape, q);
    }
    void build() {
        w = dWorldCreate();
        dWorldSetGravity(w, 0, 0, static_cast<dReal>(-9.81));
        contacts_of_step = dJointGroupCreate(0);
        if (b.chain == 0) {
            space = dHashSpaceCreate(nullptr);
            dCreatePlane(space, 0, 0, 1, 0);
        }
        for (const brick &one : b.box) {
            add_box(one);
        }
        for (const solid &one : b.heap) {
            add_solid(one);
        }
        if (!b.heap.empty()) {
            dWorldSetQuickStepNumIterations(w, 10);
        }
        dBodyID before = nullptr;
        for (int i = 0; i < b.chain; i++) {
            const double l = b.link_length, half = b.link_width / 2;
            dBodyID link = add_box({{(i + 0.5) * l, 0, 0}, {l / 2, half, half}, b.link_mass});
            dJointID hinge = dJointCreateHinge(w, nullptr);
            dJointAttach(hinge, link, before);
            dJointSetHingeAnchor(hinge, static_cast<dReal>(i * l), 0, 0);
            dJointSetHingeAxis(hinge, 0, 1, 0);
            before = link;
        }
    }
    void destroy() {
        body.clear();
        dJointGroupDestroy(contacts_of_step);
        if (space) {
            dSpaceDestroy(space);
            space = nullptr;
        }
        dWorldDestroy(w);
    }

    bricks b;
    dWorldID w = nullptr;
    dSpaceID space = nullptr;
    dJointGroupID contacts_of_step = nullptr;
    std::vector<dBodyID> body;
    int count = 0;
};

} // namespace

world_pointer make_ode_world(const bricks &b) {
    return std::make_unique<ode_world>(b);
}

} // namespace peers
