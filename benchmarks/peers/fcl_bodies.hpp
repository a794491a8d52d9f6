/// Poses and meshes as FCL has them.
#ifndef KARAKURI_BENCHMARKS_PEERS_FCL_BODIES_HPP
#define KARAKURI_BENCHMARKS_PEERS_FCL_BODIES_HPP

#include <fcl/fcl.h>

#include <memory>

#include "collision_bodies.hpp"

namespace peers {

using fcl_mesh = fcl::BVHModel<fcl::OBBRSS<double>>;

inline fcl::Transform3d to_fcl(const kk_transform &X) {
    fcl::Transform3d T = fcl::Transform3d::Identity();
    for (int i = 0; i < 9; i++) {
        T.linear()(i / 3, i % 3) = X.R.m[i];
    }
    T.translation() = fcl::Vector3d(X.p.x, X.p.y, X.p.z);
    return T;
}

inline std::shared_ptr<fcl_mesh> to_fcl(const triangle_ball &ball) {
    std::vector<fcl::Vector3d> v;
    std::vector<fcl::Triangle> f;
    for (const kk_vec3 &p : ball.vertex) {
        v.emplace_back(p.x, p.y, p.z);
    }
    for (std::size_t i = 0; i < ball.face.size(); i += 3) {
        f.emplace_back(static_cast<std::size_t>(ball.face[i]), static_cast<std::size_t>(ball.face[i + 1]),
                       static_cast<std::size_t>(ball.face[i + 2]));
    }
    auto mesh = std::make_shared<fcl_mesh>();
    mesh->beginModel();
    mesh->addSubModel(v, f);
    mesh->endModel();
    return mesh;
}

} // namespace peers
#endif
