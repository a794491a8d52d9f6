/// DART behind the interface of a world, with its defaults: its own collision detector for boxes, its LCP solver.
#include "world.hpp"

// not dart.hpp: it includes a file of a package that is not part of this one
#include <dart/collision/CollisionResult.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

namespace peers {

namespace {

using namespace dart::dynamics;

class dart_world final : public world {
  public:
    explicit dart_world(const bricks &given) : b(given) {
        timestep = b.timestep;
        w = dart::simulation::World::create();
        w->setGravity(Eigen::Vector3d(0, 0, -9.81));
        w->setTimeStep(b.timestep);
        b.chain > 0 ? build_chain() : build_boxes();
        first = w->clone();
    }

    void reset() override {
        w = first->clone();
    }
    bool step(const double *) override {
        w->step();
        const double z = w->getSkeleton(w->getNumSkeletons() - 1)->getCOM()[2];
        return z == z;
    }
    int contacts() const override {
        return static_cast<int>(w->getLastCollisionResult().getNumContacts());
    }
    double energy() override {
        double sum = 0;
        for (std::size_t i = 0; i < w->getNumSkeletons(); i++) {
            sum += w->getSkeleton(i)->computeKineticEnergy() + w->getSkeleton(i)->computePotentialEnergy();
        }
        return sum;
    }
    double height() override {
        return w->getSkeleton(w->getNumSkeletons() - 1)->getCOM()[2];
    }

  private:
    void give_box(BodyNode *body, const Eigen::Vector3d &size, const Eigen::Vector3d &at, double m, bool touches) {
        const auto shape = std::make_shared<BoxShape>(size);
        Inertia inertia;
        inertia.setMass(m);
        inertia.setLocalCOM(at);
        inertia.setMoment(shape->computeInertia(m));
        body->setInertia(inertia);
        if (touches) {
            auto *node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
            node->setRelativeTranslation(at);
            node->getDynamicsAspect()->setFrictionCoeff(b.friction);
        }
    }
    void build_boxes() {
        const auto floor = Skeleton::create("floor");
        BodyNode *ground = floor->createJointAndBodyNodePair<WeldJoint>().second;
        give_box(ground, Eigen::Vector3d(20, 20, 1), Eigen::Vector3d(0, 0, -0.5), 1, true);
        w->addSkeleton(floor);
        for (std::size_t i = 0; i < b.box.size(); i++) {
            const brick &one = b.box[i];
            const auto box = Skeleton::create("box" + std::to_string(i));
            const auto pair = box->createJointAndBodyNodePair<FreeJoint>();
            give_box(pair.second, 2 * Eigen::Vector3d(one.half[0], one.half[1], one.half[2]), Eigen::Vector3d::Zero(),
                     one.mass, true);
            Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
            X.translation() = Eigen::Vector3d(one.center[0], one.center[1], one.center[2]);
            pair.first->setTransform(X);
            w->addSkeleton(box);
        }
    }
    void build_chain() {
        const auto chain = Skeleton::create("chain");
        BodyNode *before = nullptr;
        for (int i = 0; i < b.chain; i++) {
            RevoluteJoint::Properties joint;
            joint.mName = "hinge" + std::to_string(i);
            joint.mAxis = Eigen::Vector3d::UnitY();
            joint.mT_ParentBodyToJoint.translation() = Eigen::Vector3d(i > 0 ? b.link_length : 0, 0, 0);
            BodyNode::AspectProperties link("link" + std::to_string(i));
            before = chain->createJointAndBodyNodePair<RevoluteJoint>(before, joint, link).second;
            give_box(before, Eigen::Vector3d(b.link_length, b.link_width, b.link_width),
                     Eigen::Vector3d(b.link_length / 2, 0, 0), b.link_mass, false);
        }
        w->addSkeleton(chain);
    }

    bricks b;
    dart::simulation::WorldPtr w, first;
};

} // namespace

world_pointer make_dart_world(const bricks &b) {
    return std::make_unique<dart_world>(b);
}

} // namespace peers
