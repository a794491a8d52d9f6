// Contacts of a box, a sphere and a mesh with meshes of 20 000 and 100 000 triangles, beside FCL.
//
// Bodies touch a bumpy ball with a small overlap, at random places. FCL collides every pair of triangles that meet and gives
// their contact points; ours gives manifolds of at most eight points a direction.
#include "collision.hpp"
#include "contest.hpp"
#include "peers/fcl_bodies.hpp"

extern "C" {
#include "collision/manifold.h"
#include "geometry/surface.h"
}

namespace {

using namespace benchmarks;

struct mesh {
    kki_surface *surface;
    std::shared_ptr<peers::fcl_mesh> peer;

    explicit mesh(const triangle_ball &ball) : surface(surface_of(ball)), peer(peers::to_fcl(ball)) {
    }
    mesh(const mesh &) = delete;
    mesh &operator=(const mesh &) = delete;
    ~mesh() {
        kki_surface_free(surface);
    }
};

constexpr int places = 32, room = 64;

int contacts_at(const kki_shape &a, const kki_shape &b, const kk_transform &X, kki_manifold *m) {
    const kk_transform I = kk_transform_identity();
    kki_pair_memory memory = {};
    return kki_collide(&a, &I, &b, &X, 0, &memory, m, room);
}

double depth_at(const kki_shape &a, const kki_shape &b, const kk_transform &X) {
    kki_manifold m[room];
    const int count = contacts_at(a, b, X, m);
    double least = 1;
    for (int i = 0; i < (count < 0 ? room : count); i++) {
        for (int k = 0; k < m[i].count; k++) {
            least = m[i].point[k].gap < least ? m[i].point[k].gap : least;
        }
    }
    return least;
}

// moved in from outside until it overlaps a little
kk_transform touching_pose(dice &random, const kki_shape &a, const kki_shape &b) {
    const kk_vec3 d = random.direction();
    kk_transform X = kk_transform_make(random.rotation(), {0, 0, 0});
    double low = 0.5, high = 3;
    for (int i = 0; i < 40; i++) {
        const double r = 0.5 * (low + high);
        X.p = kk_vec3_scale(d, r);
        (depth_at(a, b, X) < -1e-3 ? low : high) = r;
    }
    return X;
}

void compare(collision_table &table, const std::string &what, const mesh &big, const kki_shape &b,
             const std::shared_ptr<fcl::CollisionGeometryd> &peer) {
    kki_shape a = {};
    a.type = KK_SHAPE_MESH;
    a.surface = big.surface;
    dice random(6);
    std::vector<kk_transform> X;
    std::vector<fcl::Transform3d> T;
    for (int i = 0; i < places; i++) {
        X.push_back(touching_pose(random, a, b));
        T.push_back(peers::to_fcl(X.back()));
    }
    contest c(15, 2e-3);
    kki_manifold m[room];
    const auto ours = c.enter(
        [&](int n) {
            for (int k = 0; k < n; k++) {
                for (const kk_transform &x : X) {
                    (void)contacts_at(a, b, x, m);
                }
            }
        },
        places);
    const auto theirs = c.enter(
        [&](int n) {
            const fcl::Transform3d I = fcl::Transform3d::Identity();
            for (int k = 0; k < n; k++) {
                for (const fcl::Transform3d &t : T) {
                    const fcl::CollisionRequestd request(1000, true);
                    fcl::CollisionResultd result;
                    (void)fcl::collide(big.peer.get(), I, peer.get(), t, request, result);
                }
            }
        },
        places);
    c.hold();
    table.add({what, "FCL", c.nanoseconds(ours), c.nanoseconds(theirs), 3});
}

} // namespace

static void measure_meshes(collision_table &table) {
    table.section("meshes");
    kki_shape box = {}, ball = {};
    box.type = KK_SHAPE_BOX;
    box.half[0] = box.half[1] = box.half[2] = 0.1;
    ball.type = KK_SHAPE_SPHERE;
    ball.half[0] = 0.1;
    for (const int triangles : {20000, 100000}) {
        const mesh big(bumpy_ball(triangles, 1)), other(bumpy_ball(triangles, 0.5));
        kki_shape small = {};
        small.type = KK_SHAPE_MESH;
        small.surface = other.surface;
        const std::string on = " on " + std::to_string(triangles) + " triangles";
        compare(table, "box" + on, big, box, std::make_shared<fcl::Boxd>(0.2, 0.2, 0.2));
        compare(table, "sphere" + on, big, ball, std::make_shared<fcl::Sphered>(0.1));
        compare(table, "mesh of as many" + on, big, small, other.peer);
    }
}

static const in_section meshes("meshes", measure_meshes);
