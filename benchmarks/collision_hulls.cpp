// Distance and depth of convex hulls beside Coal and libccd, and our box-box manifold.
//
// Hulls of 8 to 512 random points on an ellipsoid, at random poses: apart, overlapping, deep inside each other. Ours and
// Coal give the signed distance; libccd gives the depth where they overlap and a yes or no where they are apart, so
// there our own yes or no stands beside it. libccd searches its farthest corner through all of them, as its users do. What is
// drawn to overlap is what larger hulls do at such distances; of hulls of 8 points 91 of the 128 pairs are apart, where ours
// has a distance to give and libccd only a no.
#include <ccd/ccd.h>
#include <coal/distance.h>
#include <coal/shape/convex.h>

#include <memory>

#include "collision.hpp"
#include "contest.hpp"
#include "peers/coal_bodies.hpp"

extern "C" {
#include "collision/distance.h"
#include "geometry/convex.h"
#include "geometry/hull.h"
}

namespace {

using namespace benchmarks;

struct hull {
    kki_mesh *mesh = nullptr;
    kki_convex *convex = nullptr;
    kki_shape shape = {};
    std::unique_ptr<coal::ConvexBase> coal_shape;

    hull(dice &random, int points) {
        std::vector<kk_vec3> cloud;
        const double sx = random.uniform(0.5, 1), sy = random.uniform(0.5, 1);
        for (int i = 0; i < points; i++) {
            const kk_vec3 p = random.direction();
            cloud.push_back({sx * p.x, sy * p.y, p.z});
        }
        if (kki_hull_of_points(cloud.data(), points, nullptr, nullptr, &mesh, nullptr) == KK_OK) {
            (void)kki_convex_create(mesh, nullptr, &convex, nullptr);
        }
        shape.type = KK_SHAPE_HULL;
        shape.convex = convex;
        auto corners = std::make_shared<std::vector<coal::Vec3s>>();
        auto faces = std::make_shared<std::vector<coal::Triangle>>();
        for (int i = 0; i < mesh->vertex_count; i++) {
            corners->emplace_back(mesh->vertex[i].x, mesh->vertex[i].y, mesh->vertex[i].z);
        }
        for (int i = 0; i < mesh->face_count; i++) {
            const auto *v = mesh->face[i].vertex;
            faces->emplace_back(static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]), static_cast<unsigned>(v[2]));
        }
        const auto nv = static_cast<unsigned>(corners->size()), nf = static_cast<unsigned>(faces->size());
        coal_shape = std::make_unique<coal::Convex<coal::Triangle>>(corners, nv, faces, nf);
        coal_shape->computeLocalAABB();
    }
    hull(const hull &) = delete;
    hull &operator=(const hull &) = delete;
    ~hull() {
        kki_convex_free(convex);
        kki_mesh_free(mesh);
    }
};

// ---- libccd

struct placed {
    const kki_mesh *mesh;
    kk_transform X;
};

void farthest(const void *object, const ccd_vec3_t *d, ccd_vec3_t *result) {
    const auto *o = static_cast<const placed *>(object);
    const kk_vec3 local = kk_mat3_tmul_vec(o->X.R, {d->v[0], d->v[1], d->v[2]});
    int best = 0;
    double value = -1e300;
    for (int i = 0; i < o->mesh->vertex_count; i++) {
        const double s = kk_vec3_dot(local, o->mesh->vertex[i]);
        if (s > value) {
            value = s;
            best = i;
        }
    }
    const kk_vec3 p = kk_transform_point(o->X, o->mesh->vertex[best]);
    ccdVec3Set(result, p.x, p.y, p.z);
}

void libccd(const hull &a, const kk_transform &A, const hull &b, const kk_transform &B, bool wants_depth) {
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = farthest;
    ccd.max_iterations = 200;
    ccd.epa_tolerance = 1e-6;
    const placed oa = {a.mesh, A}, ob = {b.mesh, B};
    ccd_real_t depth = 0;
    ccd_vec3_t normal, position;
    if (wants_depth) {
        (void)ccdGJKPenetration(&oa, &ob, &ccd, &depth, &normal, &position);
    } else {
        (void)ccdGJKIntersect(&oa, &ob, &ccd);
    }
}

// ---- contests

constexpr int pairs = 128, turns = 40;

// Apart by less than `most`, and so near that balls around them overlap: no bound decides, the bodies themselves must.
kk_transform near_pose(dice &random, const hull &a, const kk_transform &A, const hull &b, double most) {
    for (;;) {
        const kk_transform B = random.pose(random.uniform(1, 2));
        kki_separation r;
        const kk_vec3 d =
            kk_vec3_sub(kk_transform_point(B, b.convex->centroid), kk_transform_point(A, a.convex->centroid));
        if (kki_distance(&a.shape, &A, &b.shape, &B, nullptr, &r) && r.distance > 0 && r.distance < most &&
            kk_vec3_norm(d) < a.convex->outer + b.convex->outer) {
            return B;
        }
    }
}

// Far apart, our yes or no is told by balls around the hulls: a row for information.
void compare_hulls(collision_table &table, int points, const std::string &name, double low, double high) {
    dice random(4);
    const hull a(random, points), b(random, points);
    const bool is_near = high == 0, is_far = low > 2, is_apart = is_near || is_far;
    std::vector<kk_transform> A, B;
    std::vector<coal::Transform3s> coal_A, coal_B;
    for (int i = 0; i < pairs; i++) {
        A.push_back(random.pose(0));
        B.push_back(is_near ? near_pose(random, a, A.back(), b, 0.3) : random.pose(random.uniform(low, high)));
        coal_A.push_back(peers::to_coal(A.back()));
        coal_B.push_back(peers::to_coal(B.back()));
    }
    const auto each = [](auto work) {
        return [work](int n) {
            for (int k = 0; k < n; k++) {
                for (std::size_t i = 0; i < pairs; i++) {
                    work(i);
                }
            }
        };
    };
    benchmarks::contest contest(turns, 1e-3);
    const auto ours = contest.enter(each([&](std::size_t i) {
                                        kki_separation r;
                                        (void)kki_distance(&a.shape, &A[i], &b.shape, &B[i], nullptr, &r);
                                    }),
                                    pairs);
    const auto yes_or_no = contest.enter(
        each([&](std::size_t i) { (void)kki_overlap(&a.shape, &A[i], &b.shape, &B[i], 0, nullptr); }), pairs);
    const auto peer = contest.enter(each([&](std::size_t i) {
                                        coal::DistanceRequest request;
                                        coal::DistanceResult result;
                                        request.enable_signed_distance = true;
                                        (void)coal::distance(a.coal_shape.get(), coal_A[i], b.coal_shape.get(),
                                                             coal_B[i], request, result);
                                    }),
                                    pairs);
    const auto ccd = contest.enter(each([&](std::size_t i) { libccd(a, A[i], b, B[i], !is_apart); }), pairs);
    contest.hold();
    const std::string what = "hulls of " + std::to_string(points) + " points, " + name;
    const double beside_ccd = contest.nanoseconds(is_apart ? yes_or_no : ours);
    table.add({what, "Coal", contest.nanoseconds(ours), contest.nanoseconds(peer), 1});
    table.add(
        {what + (is_apart ? ", yes or no" : ""), "libccd", beside_ccd, contest.nanoseconds(ccd), is_far ? 0.0 : 2.0});
}

// A box on a box, turned and shifted each time, with what the pair remembers: on a wide one its own four corners are the
// points, on one of its size all four edges cut.
void time_boxes(collision_table &table, const std::string &name, double width) {
    dice random(5);
    kki_shape box = {};
    box.type = KK_SHAPE_BOX;
    box.half[0] = box.half[1] = box.half[2] = 0.5;
    kki_shape below = box;
    below.half[0] = below.half[1] = width;
    std::vector<kk_transform> B;
    std::vector<kki_pair_memory> memory(pairs);
    for (int i = 0; i < pairs; i++) {
        const kk_mat3 R = kk_quat_to_mat3(kk_quat_exp({0, 0, random.uniform(-1, 1)}));
        B.push_back(kk_transform_make(R, {random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), 1 - 1e-5}));
    }
    const kk_transform A = kk_transform_identity();
    benchmarks::contest contest(turns, 1e-3);
    const auto ours = contest.enter(
        [&](int n) {
            kki_manifold m;
            for (int k = 0; k < n; k++) {
                for (std::size_t i = 0; i < pairs; i++) {
                    (void)kki_collide(&below, &A, &box, &B[i], 0.01, &memory[i], &m, 1);
                }
            }
        },
        pairs);
    contest.hold();
    table.add({"box on " + name + ", manifold of four points", "", contest.nanoseconds(ours), 0, 300});
}

} // namespace

static void measure_hulls(collision_table &table) {
    table.section("convex hulls");
    for (const int points : {8, 32, 128, 512}) {
        compare_hulls(table, points, "far apart", 2.1, 3);
        compare_hulls(table, points, "apart", 0, 0);
        compare_hulls(table, points, "overlapping", 0.8, 1.4);
        compare_hulls(table, points, "deep", 0, 0.8);
    }
}

static void measure_boxes(collision_table &table) {
    table.section("boxes");
    time_boxes(table, "a wide box", 2);
    time_boxes(table, "an equal box", 0.5);
}

static const in_section hulls("hulls", measure_hulls);
static const in_section boxes("boxes", measure_boxes);
