/// Bullet behind the table of SimBenchmark, in double precision: rigid bodies, robots as btMultiBody; 10 sweeps, its default, and 400. ERP
/// and CFM are zero, as the benchmark has them.
#include "simbench_peers.hpp"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <btBulletDynamicsCommon.h>

#include <memory>

namespace peers {

namespace {

struct bullet_scene {
    simbench_scene scene;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase pairs;
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld w{&dispatcher, &pairs, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shape;
    std::vector<std::unique_ptr<btRigidBody>> body; ///< the floor behind the others
    std::vector<std::unique_ptr<btMultiBodyLinkCollider>> collider;
    std::vector<std::unique_ptr<btMultiBody>> robot;
    int pushed = 0; ///< index + 1 of a body, or −1 − robot
    btVector3 push{0, 0, 0};
};

/// Friction by pair of materials; one scene at a time is open.
const simbench_scene *current = nullptr;

btScalar friction_of(const btCollisionObject *a, const btCollisionObject *b) {
    return current->friction[a->getUserIndex()][b->getUserIndex()];
}

btVector3 vec(const double *x) {
    return {x[0], x[1], x[2]};
}

btCollisionShape *keep(bullet_scene *s, std::unique_ptr<btCollisionShape> shape) {
    s->shape.push_back(std::move(shape));
    return s->shape.back().get();
}

btCollisionShape *shape_of(bullet_scene *s, bool is_ball, const double *size) {
    std::unique_ptr<btCollisionShape> shape;
    if (is_ball) {
        shape = std::make_unique<btSphereShape>(size[0]);
    } else {
        shape = std::make_unique<btBoxShape>(btVector3(size[0] / 2, size[1] / 2, size[2] / 2));
    }
    return keep(s, std::move(shape));
}

void add_rigid(bullet_scene *s, btCollisionShape *shape, double mass, const btVector3 &inertia, const btVector3 &at,
               const btVector3 &velocity, int material) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform.setIdentity();
    info.m_startWorldTransform.setOrigin(at);
    info.m_restitution = s->scene.restitution;
    s->body.push_back(std::make_unique<btRigidBody>(info));
    btRigidBody *b = s->body.back().get();
    b->setActivationState(DISABLE_DEACTIVATION);
    b->setUserIndex(material);
    b->setLinearVelocity(velocity);
    s->w.addRigidBody(b);
}

void add_body(bullet_scene *s, const simbench_body &b) {
    const double m = b.mass, x = b.size[0] * b.size[0], y = b.size[1] * b.size[1], z = b.size[2] * b.size[2];
    const btVector3 inertia = b.is_ball ? btVector3(0.4 * m * x, 0.4 * m * x, 0.4 * m * x)
                                        : btVector3(m * (y + z) / 12, m * (x + z) / 12, m * (x + y) / 12);
    add_rigid(s, shape_of(s, b.is_ball, b.size), m, inertia, vec(b.position), vec(b.velocity),
              b.is_ball ? SIMBENCH_BALL : SIMBENCH_BOX);
}

void add_collider(bullet_scene *s, btMultiBody *robot, int link, const simbench_link &l) {
    auto *around = new btCompoundShape();
    keep(s, std::unique_ptr<btCollisionShape>(around));
    btTransform at;
    at.setIdentity();
    at.setOrigin(vec(l.shape_at) - vec(l.center));
    around->addChildShape(at, shape_of(s, l.has_ball, l.shape_size));
    s->collider.push_back(std::make_unique<btMultiBodyLinkCollider>(robot, link));
    btMultiBodyLinkCollider *c = s->collider.back().get();
    c->setCollisionShape(around);
    c->setUserIndex(l.has_ball ? SIMBENCH_BALL : SIMBENCH_BOX);
    c->setRestitution(s->scene.restitution);
    if (link < 0) {
        robot->setBaseCollider(c);
    } else {
        robot->getLink(link).m_collider = c;
    }
    s->w.addCollisionObject(c, btBroadphaseProxy::DefaultFilter, btBroadphaseProxy::AllFilter);
}

void add_robot(bullet_scene *s, int index) {
    const simbench_link base = simbench_robot_link(0);
    s->robot.push_back(std::make_unique<btMultiBody>(SIMBENCH_JOINTS, base.mass, vec(base.moments), false, false));
    btMultiBody *robot = s->robot.back().get();
    double at[3];
    simbench_robot_place(&s->scene, index, at);
    robot->setBasePos(vec(at) + vec(base.center));
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        const simbench_link l = simbench_robot_link(k + 1), up = simbench_robot_link(l.parent);
        robot->setupRevolute(k, l.mass, vec(l.moments), l.parent - 1, btQuaternion(0, 0, 0, 1), vec(l.axis),
                             vec(l.at) - vec(up.center), vec(l.center), true);
    }
    robot->finalizeMultiDof();
    robot->setLinearDamping(0);
    robot->setAngularDamping(0);
    robot->setCanSleep(false);
    robot->setUseGyroTerm(true);
    robot->setHasSelfCollision(s->scene.self_collides);
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        robot->setJointPos(k, simbench_robot_link(k + 1).target);
    }
    s->w.addMultiBody(robot);
    for (int k = 0; k < SIMBENCH_LINKS; k++) {
        const simbench_link l = simbench_robot_link(k);
        if (l.has_ball || l.has_box) {
            add_collider(s, robot, k - 1, l);
        }
    }
    btAlignedObjectArray<btQuaternion> turn;
    btAlignedObjectArray<btVector3> origin;
    robot->forwardKinematics(turn, origin);
    robot->updateCollisionObjectWorldTransforms(turn, origin);
}

void *open_with(const simbench_scene *scene, int sweeps) {
    auto s = std::make_unique<bullet_scene>();
    s->scene = *scene;
    btContactSolverInfo &info = s->w.getSolverInfo();
    info.m_erp = info.m_erp2 = info.m_globalCfm = 0;
    info.m_splitImpulse = 0;
    info.m_numIterations = sweeps;
    info.m_restitutionVelocityThreshold = 0;
    s->w.setGravity(btVector3(0, 0, -scene->gravity));
    gCalculateCombinedFrictionCallback = friction_of;
    for (int i = 0; i < scene->body_count; i++) {
        add_body(s.get(), scene->body[i]);
    }
    if (scene->has_floor) {
        add_rigid(s.get(), keep(s.get(), std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0)), 0, {0, 0, 0},
                  {0, 0, 0}, {0, 0, 0}, SIMBENCH_FLOOR);
    }
    for (int i = 0; i < scene->robots; i++) {
        add_robot(s.get(), i);
    }
    return s.release();
}

template <int sweeps> void *open(const simbench_scene *scene, char *) {
    return open_with(scene, sweeps);
}

void close(void *world) {
    auto *s = static_cast<bullet_scene *>(world);
    for (auto &one : s->robot) {
        s->w.removeMultiBody(one.get());
    }
    for (auto &one : s->collider) {
        s->w.removeCollisionObject(one.get());
    }
    for (auto &one : s->body) {
        s->w.removeRigidBody(one.get());
    }
    delete s;
}

bool step(void *world, char *trouble) {
    auto *s = static_cast<bullet_scene *>(world);
    current = &s->scene;
    if (s->pushed > 0) {
        s->body[static_cast<std::size_t>(s->pushed - 1)]->applyCentralForce(s->push);
    } else if (s->pushed < 0) {
        s->robot[static_cast<std::size_t>(-1 - s->pushed)]->addBaseForce(s->push);
    }
    s->w.stepSimulation(s->scene.dt, 0, s->scene.dt);
    const btScalar z =
        s->robot.empty() ? s->body[0]->getWorldTransform().getOrigin().z() : s->robot[0]->getBasePos().z();
    if (!(z == z)) {
        std::snprintf(trouble, SIMBENCH_TEXT, "not a number");
        return false;
    }
    return true;
}

void body(void *world, int index, double *position, double *velocity) {
    const btRigidBody *b = static_cast<bullet_scene *>(world)->body[static_cast<std::size_t>(index)].get();
    for (int k = 0; k < 3; k++) {
        position[k] = b->getWorldTransform().getOrigin()[k];
        velocity[k] = b->getLinearVelocity()[k];
    }
}

void push(void *world, int index, const double *force) {
    auto *s = static_cast<bullet_scene *>(world);
    s->pushed = index < 0 ? index : index + 1;
    s->push = vec(force);
}

void joints(void *world, int robot, double *angle, double *speed) {
    const btMultiBody *m = static_cast<bullet_scene *>(world)->robot[static_cast<std::size_t>(robot)].get();
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        angle[k] = m->getJointPos(k);
        speed[k] = m->getJointVel(k);
    }
}

void drive(void *world, int robot, const double *torque) {
    btMultiBody *m = static_cast<bullet_scene *>(world)->robot[static_cast<std::size_t>(robot)].get();
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        m->addJointTorque(k, torque[k]);
    }
}

void add_part(double gravity, double m, const btVector3 &I, const btVector3 &at, const btVector3 &v, const btVector3 &w,
              double *momentum, double *energy) {
    for (int k = 0; k < 3; k++) {
        momentum[k] += m * v[k];
        *energy += 0.5 * (m * v[k] * v[k] + I[k] * w[k] * w[k]);
    }
    *energy += m * gravity * at.z();
}

void whole(void *world, double *momentum, double *energy) {
    auto *s = static_cast<bullet_scene *>(world);
    momentum[0] = momentum[1] = momentum[2] = *energy = 0;
    for (int i = 0; i < s->scene.body_count; i++) {
        const btRigidBody *b = s->body[static_cast<std::size_t>(i)].get();
        const btVector3 w = b->getWorldTransform().getBasis().transpose() * b->getAngularVelocity();
        add_part(s->scene.gravity, b->getMass(), b->getLocalInertia(), b->getWorldTransform().getOrigin(),
                 b->getLinearVelocity(), w, momentum, energy);
    }
    for (auto &robot : s->robot) {
        btAlignedObjectArray<btVector3> omega, vel;
        omega.resize(SIMBENCH_LINKS);
        vel.resize(SIMBENCH_LINKS);
        robot->compTreeLinkVelocities(&omega[0], &vel[0]);
        for (int k = 0; k < SIMBENCH_LINKS; k++) {
            const double m = k == 0 ? robot->getBaseMass() : robot->getLinkMass(k - 1);
            const btVector3 I = k == 0 ? robot->getBaseInertia() : robot->getLinkInertia(k - 1);
            add_part(s->scene.gravity, m, I, robot->localPosToWorld(k - 1, btVector3(0, 0, 0)),
                     robot->localDirToWorld(k - 1, vel[k]), omega[k], momentum, energy);
        }
    }
}

double height(void *world, int robot) {
    auto *s = static_cast<bullet_scene *>(world);
    return s->robot[static_cast<std::size_t>(robot)]->getBasePos().z() - simbench_robot_link(0).center[2];
}

template <int sweeps> const simbench_engine *table(const char *name) {
    static const simbench_engine engine = {name, open<sweeps>, close, step, body, push, joints, drive, whole, height};
    return &engine;
}

} // namespace

std::vector<const simbench_engine *> simbench_of_bullet() {
    return {table<10>("Bullet 10 sweeps"), table<400>("Bullet 400 sweeps")};
}

} // namespace peers
