/// Random places and bumpy balls of triangles: what the benchmark and the cross-check of collision draw.
#ifndef KARAKURI_BENCHMARKS_PEERS_COLLISION_BODIES_HPP
#define KARAKURI_BENCHMARKS_PEERS_COLLISION_BODIES_HPP

#include <cmath>
#include <vector>

extern "C" {
#include <karakuri/math.h>
#include <karakuri/random.h>
}

namespace peers {

/// Random numbers that every run draws alike.
class dice {
  public:
    explicit dice(uint64_t seed, uint32_t stream = 7) : cursor{seed, stream, 0} {
    }
    double uniform(double low, double high) {
        return kk_random_next_between(&cursor, low, high);
    }
    int below(int count) {
        return static_cast<int>(kk_random_next_below(&cursor, static_cast<uint64_t>(count)));
    }
    double normal() {
        return kk_random_next_normal(&cursor);
    }
    kk_vec3 direction() {
        const double x = normal(), y = normal();
        const kk_vec3 v = {x, y, normal()};
        return kk_vec3_scale(v, 1 / kk_vec3_norm(v));
    }
    kk_mat3 rotation() {
        const double w = normal(), x = normal(), y = normal();
        return kk_quat_to_mat3(kk_quat_normalize({w, x, y, normal()}));
    }
    kk_transform pose(double distance) {
        const kk_mat3 R = rotation();
        return kk_transform_make(R, kk_vec3_scale(direction(), distance));
    }

  private:
    kk_random cursor;
};

/// A closed ball of triangles: `meridians` around, `circles` of latitude between the poles.
struct triangle_ball {
    std::vector<kk_vec3> vertex;
    std::vector<int32_t> face; ///< three a triangle

    /// @param radius  of a point at longitude a and angle b from the lower pole
    template <class radius_of> triangle_ball(int meridians, int circles, radius_of radius) {
        const double pi = std::acos(-1.0);
        vertex = {{0, 0, -radius(0.0, 0.0)}, {0, 0, radius(0.0, pi)}};
        for (int j = 0; j < circles; j++) {
            for (int i = 0; i < meridians; i++) {
                const double a = 2 * pi * i / meridians, b = pi * (j + 1) / (circles + 1), r = radius(a, b);
                vertex.push_back({r * std::sin(b) * std::cos(a), r * std::sin(b) * std::sin(a), -r * std::cos(b)});
                add_faces(2 + j * meridians + i, 2 + j * meridians + (i + 1) % meridians, j == 0, j + 1 == circles,
                          meridians);
            }
        }
    }

  private:
    // what lies below and above the side from p to q
    void add_faces(int p, int q, bool is_first, bool is_last, int up) {
        if (is_first) {
            face.insert(face.end(), {0, q, p});
        }
        if (is_last) {
            face.insert(face.end(), {p, q, 1});
        } else {
            face.insert(face.end(), {p, q, q + up, p, q + up, p + up});
        }
    }
};

} // namespace peers
#endif
