// Distances of two meshes against FCL's: bumpy balls of triangles, apart and together, moving and turned at random.
//
// FCL gives the distance of the nearest triangles, and 0 or less where some meet. Where answers differ by more than 1e-9,
// ours is judged by its witness points: they are that far apart, so a greater distance of FCL's is refuted, a smaller one
// would refute ours.
#include "../../benchmarks/peers/fcl_bodies.hpp"
#include "collision_pairs.hpp"

extern "C" {
#include <karakuri/collision.h>
}

namespace {

using crosscheck::tally;

peers::dice dice(78, 3);

struct ball {
    peers::triangle_ball triangles;
    kk_geometry *geometry = nullptr;
    std::shared_ptr<peers::fcl_mesh> peer = peers::to_fcl(triangles);

    ball(int n, int m, double bump)
        : triangles(n, m,
                    [bump](double a, double b) { return 1 + bump * std::sin(3 * a) * std::sin(4 * b) * std::sin(b); }) {
        make_ours();
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
        mesh.vertex = triangles.vertex.data();
        mesh.vertex_count = static_cast<int>(triangles.vertex.size());
        mesh.face = reinterpret_cast<const int32_t(*)[3]>(triangles.face.data());
        mesh.face_count = static_cast<int>(triangles.face.size() / 3);
        kk_error error = {};
        if (kk_geometry_create(&def, &mesh, nullptr, nullptr, &geometry, &error) != KK_OK) {
            std::fprintf(stderr, "crosscheck: %s\n", error.text);
            std::exit(1);
        }
    }
};

// Apart, the nearest triangles; together, whether both say so.
void compare(const ball &a, const ball &b, double far, tally *t) {
    const kk_transform A = dice.pose(0), B = dice.pose(dice.uniform(1.2, far));
    const kk_placed pa = {a.geometry, A, {}}, pb = {b.geometry, B, {}};
    kk_separation ours;
    if (kk_placed_separation(&pa, &pb, &ours) != KK_OK) {
        t->ours_off++;
        return;
    }
    t->pairs++;
    t->overlapping += ours.distance < 0;
    const fcl::Transform3d TA = peers::to_fcl(A), TB = peers::to_fcl(B);
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
        good = t.report(std::to_string(a.triangles.face.size() / 3) + " and " +
                            std::to_string(b.triangles.face.size() / 3),
                        "FCL") &&
               good;
    }
    std::printf("%s\n", good ? "ours is refuted nowhere" : "FAILED");
    return good ? 0 : 1;
}
