/// Bullet behind the interface of a world: boxes as rigid bodies with its default solver, chains as a btMultiBody.
#include "world.hpp"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include <limits>

namespace peers {

namespace {

btScalar s(double x) {
    return static_cast<btScalar>(x);
}

class bullet_world final : public world {
  public:
    explicit bullet_world(const bricks &given) : b(given) {
        timestep = b.timestep;
        reset();
    }
    ~bullet_world() override {
        destroy();
    }

    void reset() override {
        destroy();
        configuration = std::make_unique<btDefaultCollisionConfiguration>();
        dispatcher = std::make_unique<btCollisionDispatcher>(configuration.get());
        pairs = std::make_unique<btDbvtBroadphase>();
        solver = std::make_unique<btMultiBodyConstraintSolver>();
        w = std::make_unique<btMultiBodyDynamicsWorld>(dispatcher.get(), pairs.get(), solver.get(),
                                                       configuration.get());
        w->setGravity(btVector3(0, 0, s(-9.81)));
        if (b.chain > 0) {
            build_chain();
            return;
        }
        add_body(std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), s(0)), 0, btVector3(0, 0, 0));
        for (const brick &one : b.box) {
            add_body(std::make_unique<btBoxShape>(btVector3(s(one.half[0]), s(one.half[1]), s(one.half[2]))), one.mass,
                     btVector3(s(one.center[0]), s(one.center[1]), s(one.center[2])));
        }
        add_heap();
    }
    void add_heap() {
        for (const solid &one : b.heap) {
            const btScalar x = s(one.size[0]), y = s(one.size[1]), z = s(one.size[2]);
            std::unique_ptr<btCollisionShape> shape;
            if (one.shape == solid::sphere) {
                shape = std::make_unique<btSphereShape>(x);
            } else if (one.shape == solid::box) {
                shape = std::make_unique<btBoxShape>(btVector3(x, y, z));
            } else {
                shape = std::make_unique<btCapsuleShapeZ>(x, 2 * y);
            }
            add_body(std::move(shape), one.mass, btVector3(s(one.center[0]), s(one.center[1]), s(one.center[2])),
                     btQuaternion(s(one.turn[1]), s(one.turn[2]), s(one.turn[3]), s(one.turn[0])).normalized());
        }
    }
    bool step(const double *) override {
        w->stepSimulation(s(b.timestep), 0, s(b.timestep));
        const btScalar x = chain ? chain->getJointPos(0) : bodies.back()->getWorldTransform().getOrigin().z();
        return x == x;
    }
    int contacts() const override {
        int n = 0;
        for (int i = 0; i < dispatcher->getNumManifolds(); i++) {
            n += dispatcher->getManifoldByIndexInternal(i)->getNumContacts();
        }
        return n;
    }
    double energy() override {
        return std::numeric_limits<double>::quiet_NaN(); // its multi-body tells none
    }
    double height() override {
        return chain ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(bodies.back()->getWorldTransform().getOrigin().z());
    }

  private:
    void add_body(std::unique_ptr<btCollisionShape> shape, double m, const btVector3 &at,
                  const btQuaternion &turn = btQuaternion(0, 0, 0, 1)) {
        btVector3 inertia(0, 0, 0);
        if (m > 0) {
            shape->calculateLocalInertia(s(m), inertia);
        }
        btTransform pose;
        pose.setIdentity();
        pose.setOrigin(at);
        pose.setRotation(turn);
        btRigidBody::btRigidBodyConstructionInfo info(s(m), nullptr, shape.get(), inertia);
        info.m_startWorldTransform = pose;
        info.m_friction = s(m > 0 ? b.friction : 1); // Bullet multiplies the two
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        shapes.push_back(std::move(shape));
        w->addRigidBody(bodies.back().get());
    }
    void build_chain() {
        const double l = b.link_length, d = b.link_width, m = b.link_mass;
        const btVector3 inertia(s(m * (d * d + d * d) / 12), s(m * (l * l + d * d) / 12), s(m * (l * l + d * d) / 12));
        chain = std::make_unique<btMultiBody>(b.chain, s(0), btVector3(0, 0, 0), true, false);
        for (int i = 0; i < b.chain; i++) {
            chain->setupRevolute(i, s(m), inertia, i - 1, btQuaternion(0, 0, 0, 1), btVector3(0, 1, 0),
                                 btVector3(s(i > 0 ? l / 2 : 0), 0, 0), btVector3(s(l / 2), 0, 0), true);
        }
        chain->finalizeMultiDof();
        chain->setLinearDamping(0);
        chain->setAngularDamping(0);
        chain->setCanSleep(false);
        chain->useRK4Integration(false);
        w->addMultiBody(chain.get());
    }
    void destroy() {
        if (w && chain) {
            w->removeMultiBody(chain.get());
        }
        for (auto &one : bodies) {
            w->removeRigidBody(one.get());
        }
        chain.reset();
        bodies.clear();
        shapes.clear();
        w.reset();
    }

    bricks b;
    std::unique_ptr<btDefaultCollisionConfiguration> configuration;
    std::unique_ptr<btCollisionDispatcher> dispatcher;
    std::unique_ptr<btDbvtBroadphase> pairs;
    std::unique_ptr<btMultiBodyConstraintSolver> solver;
    std::unique_ptr<btMultiBodyDynamicsWorld> w;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::unique_ptr<btMultiBody> chain;
};

} // namespace

world_pointer make_bullet_world(const bricks &b) {
    return std::make_unique<bullet_world>(b);
}

} // namespace peers
