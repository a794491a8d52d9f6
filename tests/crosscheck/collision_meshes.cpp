// Distances of two meshes against FCL's: bumpy balls of triangles, apart and together, moving and turned at random.
//
// FCL gives the distance of the nearest triangles, and 0 or less where some meet. Where answers differ by more than 1e-9,
// ours is judged by its witness points: they are that far apart, so a greater distance of FCL's is refuted, a smaller one
// would refute ours.
#include <fcl/fcl.h>

#include <memory>
#include <vector>

#include "collision_pairs.hpp"

extern "C" {
#include <karakuri/collision.h>
#include <karakuri/random.h>
}

namespace {

using crosscheck::tally;
using model = fcl::BVHModel<fcl::OBBRSS<double>>;

kk_random cursor = {78, 3, 0};

kk_vec3 direction() {
    return crosscheck::direction(cursor);
}
kk_transform pose(double distance) {
    return crosscheck::pose(cursor, distance);
}

fcl::Transform3d to_fcl(const kk_transform &X) {
    fcl::Transform3d T = fcl::Transform3d::Identity();
    for (int i = 0; i < 9; i++) {
        T.linear()(i / 3, i % 3) = X.R.m[i];
    }
    T.translation() = fcl::Vector3d(X.p.x, X.p.y, X.p.z);
    return T;
}

struct ball {
    std::vector<kk_vec3> vertex;
    std::vector<int32_t> face;
    kk_geometry *geometry = nullptr;
    std::shared_ptr<model> peer = std::make_shared<model>();

    ball(int n, int m, double bump) {
        const double pi = std::acos(-1.0);
        vertex = {{0, 0, -1}, {0, 0, 1}};
        for (int j = 0; j < m; j++) {
            for (int i = 0; i < n; i++) {
                const double a = 2 * pi * i / n, b = pi * (j + 1) / (m + 1);
                const double r = 1 + bump * std::sin(3 * a) * std::sin(4 * b) * std::sin(b);
                vertex.push_back({r * std::sin(b) * std::cos(a), r * std::sin(b) * std::sin(a), -r * std::cos(b)});
                const int p = 2 + j * n + i, q = 2 + j * n + (i + 1) % n;
                if (j == 0) {
                    face.insert(face.end(), {0, q, p});
                }
                if (j + 1 < m) {
                    face.insert(face.end(), {p, q, q + n, p, q + n, p + n});
                } else {
                    face.insert(face.end(), {p, q, 1});
                }
            }
        }
        make_ours();
        make_peer();
    }
    ball(const ball &) = delete;
    ball &operator=(const ball &) = delete;
    ~ball() {
        kk_geometry_free(geometry);
    }

  private:
    void make_ours() {
        kk_shape_def def = kk_shape_def_default();
        def.type = KK_SHAPE_MESH;
        kk_mesh_def mesh = kk_mesh_def_default();
        mesh.name = "ball";
        mesh.vertex = vertex.data();
        mesh.vertex_count = static_cast<int>(vertex.size());
        mesh.face = reinterpret_cast<const int32_t(*)[3]>(face.data());
        mesh.face_count = static_cast<int>(face.size() / 3);
        kk_error error = {};
        if (kk_geometry_create(&def, &mesh, nullptr, nullptr, &geometry, &error) != KK_OK) {
            std::fprintf(stderr, "crosscheck: %s\n", error.text);
            std::exit(1);
        }
    }
    void make_peer() {
        std::vector<fcl::Vector3d> v;
        std::vector<fcl::Triangle> f;
        for (const kk_vec3 &p : vertex) {
            v.emplace_back(p.x, p.y, p.z);
        }
        for (std::size_t i = 0; i < face.size(); i += 3) {
            f.emplace_back(static_cast<std::size_t>(face[i]), static_cast<std::size_t>(face[i + 1]),
                           static_cast<std::size_t>(face[i + 2]));
        }
        peer->beginModel();
        peer->addSubModel(v, f);
        peer->endModel();
    }
};

// Apart, the nearest triangles; together, whether both say so.
void compare(const ball &a, const ball &b, double far, tally *t) {
    const kk_transform A = pose(0), B = pose(kk_random_next_between(&cursor, 1.2, far));
    const kk_placed pa = {a.geometry, A, {}}, pb = {b.geometry, B, {}};
    kk_separation ours;
    if (kk_placed_separation(&pa, &pb, &ours) != KK_OK) {
        t->ours_off++;
        return;
    }
    t->pairs++;
    t->overlapping += ours.distance < 0;
    const fcl::Transform3d TA = to_fcl(A), TB = to_fcl(B);
    if (ours.distance <= 0) {
        const fcl::CollisionRequestd request;
        fcl::CollisionResultd result;
        const bool meet = fcl::collide(a.peer.get(), TA, b.peer.get(), TB, request, result) > 0;
        t->alike += meet;
        t->ours_off += !meet && ours.distance < -1e-9; // surfaces of these bodies meet where the bodies do
        return;
    }
    fcl::DistanceRequestd request(true);
    fcl::DistanceResultd result;
    const double theirs = fcl::distance(a.peer.get(), TA, b.peer.get(), TB, request, result);
    const double apart = kk_vec3_norm(kk_vec3_sub(ours.on_b, ours.on_a));
    const double difference = std::fabs(theirs - ours.distance);
    t->alike += difference <= 1e-9;
    t->ours_off += std::fabs(apart - ours.distance) > 1e-9 || theirs < ours.distance - 1e-9;
    t->peer_off += theirs > ours.distance + 1e-9;
    t->worst = difference > 1e-9 ? std::max(t->worst, difference) : t->worst;
}

} // namespace

int main(int argc, char **argv) {
    const long pairs = crosscheck::pairs_asked(argc, argv, 500);
    bool good = true;
    std::printf("\ndistances of two meshes\n");
    for (int k = 0; k < 3; k++) {
        const int n = 8 << k;
        const ball a(n, n - 1, 0.1), b(n + 3, n / 2, k == 1 ? 0 : 0.2);
        tally t;
        for (long i = 0; i < pairs; i++) {
            compare(a, b, 4, &t);
        }
        good = t.report(std::to_string(a.face.size() / 3) + " and " + std::to_string(b.face.size() / 3), "FCL") && good;
    }
    std::printf("%s\n", good ? "ours is refuted nowhere" : "FAILED");
    return good ? 0 : 1;
}
