/// DART behind the table of SimBenchmark, with its defaults: its own collision detector, its LCP solver; no correction of overlap, as the
/// benchmark has it.
#include "simbench_peers.hpp"

// not dart.hpp: it includes a file of a package that is not part of this one
#include <dart/collision/CollisionResult.hpp>
#include <dart/constraint/ContactConstraint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

namespace peers {

namespace {

using namespace dart::dynamics;

struct dart_scene {
    simbench_scene scene;
    dart::simulation::WorldPtr w;
    std::vector<SkeletonPtr> body, robot;
    int pushed = 0; ///< index + 1 of a body, or −1 − robot
    Eigen::Vector3d push = Eigen::Vector3d::Zero();
};

Eigen::Vector3d vec(const double *x) {
    return {x[0], x[1], x[2]};
}

Eigen::Isometry3d at(const Eigen::Vector3d &p) {
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.translation() = p;
    return X;
}

/// DART takes the smaller friction of two surfaces.
double friction_of(const simbench_scene &s, int material) {
    return material == SIMBENCH_FLOOR ? s.friction[SIMBENCH_FLOOR][SIMBENCH_BOX]
                                      : s.friction[SIMBENCH_BALL][SIMBENCH_BOX];
}

void give_shape(const dart_scene *s, BodyNode *node, const ShapePtr &shape, const Eigen::Vector3d &p, int material) {
    auto *shown = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
    shown->setRelativeTranslation(p);
    shown->getDynamicsAspect()->setFrictionCoeff(friction_of(s->scene, material));
    shown->getDynamicsAspect()->setRestitutionCoeff(s->scene.restitution);
}

ShapePtr shape_of(bool is_ball, const double *size) {
    if (is_ball) {
        return std::make_shared<SphereShape>(size[0]);
    }
    return std::make_shared<BoxShape>(vec(size));
}

void add_floor(dart_scene *s) {
    const auto floor = Skeleton::create("floor");
    BodyNode *ground = floor->createJointAndBodyNodePair<WeldJoint>().second;
    give_shape(s, ground, std::make_shared<BoxShape>(Eigen::Vector3d(200, 200, 10)), Eigen::Vector3d(0, 0, -5),
               SIMBENCH_FLOOR);
    s->w->addSkeleton(floor);
}

void add_body(dart_scene *s, const simbench_body &b, int index) {
    const auto skeleton = Skeleton::create("body" + std::to_string(index));
    const auto pair = skeleton->createJointAndBodyNodePair<FreeJoint>();
    const ShapePtr shape = shape_of(b.is_ball, b.size);
    Inertia inertia;
    inertia.setMass(b.mass);
    inertia.setMoment(shape->computeInertia(b.mass));
    pair.second->setInertia(inertia);
    give_shape(s, pair.second, shape, Eigen::Vector3d::Zero(), b.is_ball ? SIMBENCH_BALL : SIMBENCH_BOX);
    pair.first->setTransform(at(vec(b.position)));
    pair.first->setLinearVelocity(vec(b.velocity));
    s->w->addSkeleton(skeleton);
    s->body.push_back(skeleton);
}

void describe_link(const dart_scene *s, BodyNode *node, const simbench_link &l) {
    Inertia inertia;
    inertia.setMass(l.mass);
    inertia.setLocalCOM(vec(l.center));
    inertia.setMoment(l.moments[0], l.moments[1], l.moments[2], 0, 0, 0);
    node->setInertia(inertia);
    if (l.has_ball || l.has_box) {
        give_shape(s, node, shape_of(l.has_ball, l.shape_size), vec(l.shape_at),
                   l.has_ball ? SIMBENCH_BALL : SIMBENCH_BOX);
    }
}

void add_robot(dart_scene *s, int index) {
    const auto skeleton = Skeleton::create("robot" + std::to_string(index));
    std::vector<BodyNode *> node;
    double place[3];
    simbench_robot_place(&s->scene, index, place);
    for (int k = 0; k < SIMBENCH_LINKS; k++) {
        const simbench_link l = simbench_robot_link(k);
        if (k == 0) {
            const auto pair = skeleton->createJointAndBodyNodePair<FreeJoint>();
            pair.first->setTransform(at(vec(place)));
            node.push_back(pair.second);
        } else {
            RevoluteJoint::Properties joint;
            joint.mName = "joint" + std::to_string(k);
            joint.mAxis = vec(l.axis);
            joint.mT_ParentBodyToJoint = at(vec(l.at));
            BodyNode::AspectProperties link("link" + std::to_string(k));
            const auto pair = skeleton->createJointAndBodyNodePair<RevoluteJoint>(
                node[static_cast<std::size_t>(l.parent)], joint, link);
            pair.first->setPosition(0, l.target);
            node.push_back(pair.second);
        }
        describe_link(s, node.back(), l);
    }
    skeleton->setSelfCollisionCheck(s->scene.self_collides);
    s->w->addSkeleton(skeleton);
    s->robot.push_back(skeleton);
}

void *open(const simbench_scene *scene, char *) {
    auto s = std::make_unique<dart_scene>();
    s->scene = *scene;
    s->w = dart::simulation::World::create();
    s->w->setGravity(Eigen::Vector3d(0, 0, -scene->gravity));
    s->w->setTimeStep(scene->dt);
    dart::constraint::ContactConstraint::setErrorReductionParameter(0);
    if (scene->has_floor) {
        add_floor(s.get());
    }
    for (int i = 0; i < scene->body_count; i++) {
        add_body(s.get(), scene->body[i], i);
    }
    for (int i = 0; i < scene->robots; i++) {
        add_robot(s.get(), i);
    }
    return s.release();
}

void close(void *world) {
    delete static_cast<dart_scene *>(world);
}

bool step(void *world, char *trouble) {
    auto *s = static_cast<dart_scene *>(world);
    if (s->pushed > 0) {
        s->body[static_cast<std::size_t>(s->pushed - 1)]->getBodyNode(0)->addExtForce(s->push);
    } else if (s->pushed < 0) {
        BodyNode *base = s->robot[static_cast<std::size_t>(-1 - s->pushed)]->getBodyNode(0);
        base->addExtForce(s->push, base->getLocalCOM(), false, true);
    }
    s->w->step();
    const double z = (s->robot.empty() ? s->body[0] : s->robot[0])->getCOM()[2];
    if (!(z == z)) {
        std::snprintf(trouble, SIMBENCH_TEXT, "not a number");
        return false;
    }
    return true;
}

void body(void *world, int index, double *position, double *velocity) {
    const BodyNode *node = static_cast<dart_scene *>(world)->body[static_cast<std::size_t>(index)]->getBodyNode(0);
    const Eigen::Vector3d p = node->getTransform().translation(), v = node->getLinearVelocity();
    for (int k = 0; k < 3; k++) {
        position[k] = p[k];
        velocity[k] = v[k];
    }
}

void push(void *world, int index, const double *force) {
    auto *s = static_cast<dart_scene *>(world);
    s->pushed = index < 0 ? index : index + 1;
    s->push = vec(force);
}

void joints(void *world, int robot, double *angle, double *speed) {
    const SkeletonPtr &r = static_cast<dart_scene *>(world)->robot[static_cast<std::size_t>(robot)];
    for (std::size_t k = 0; k < SIMBENCH_JOINTS; k++) {
        const std::size_t dof = r->getBodyNode(k + 1)->getParentJoint()->getIndexInSkeleton(0);
        angle[k] = r->getPosition(dof);
        speed[k] = r->getVelocity(dof);
    }
}

void drive(void *world, int robot, const double *torque) {
    const SkeletonPtr &r = static_cast<dart_scene *>(world)->robot[static_cast<std::size_t>(robot)];
    for (std::size_t k = 0; k < SIMBENCH_JOINTS; k++) {
        r->setForce(r->getBodyNode(k + 1)->getParentJoint()->getIndexInSkeleton(0), torque[k]);
    }
}

void whole(void *world, double *momentum, double *energy) {
    auto *s = static_cast<dart_scene *>(world);
    momentum[0] = momentum[1] = momentum[2] = *energy = 0;
    for (const auto *list : {&s->body, &s->robot}) {
        for (const SkeletonPtr &one : *list) {
            const Eigen::Vector3d p = one->getMass() * one->getCOMLinearVelocity();
            for (int k = 0; k < 3; k++) {
                momentum[k] += p[k];
            }
            *energy += one->computeKineticEnergy() + one->computePotentialEnergy();
        }
    }
}

double height(void *world, int robot) {
    return static_cast<dart_scene *>(world)
        ->robot[static_cast<std::size_t>(robot)]
        ->getBodyNode(0)
        ->getTransform()
        .translation()[2];
}

} // namespace

std::vector<const simbench_engine *> simbench_of_dart() {
    static const simbench_engine engine = {"DART", open, close, step, body, push, joints, drive, whole, height};
    return {&engine};
}

} // namespace peers
