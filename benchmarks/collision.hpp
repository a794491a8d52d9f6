/// Rows of the collision benchmark: what is measured, beside whom, and the bar.
#ifndef KARAKURI_BENCHMARKS_COLLISION_HPP
#define KARAKURI_BENCHMARKS_COLLISION_HPP

#include <cstdio>
#include <string>
#include <vector>

extern "C" {
#include <karakuri/math.h>
#include <karakuri/random.h>
struct kki_surface;
}

namespace benchmarks {

/// A bar on the ratio theirs / ours, or (without a peer) on our own time in ns.
struct collision_row {
    std::string what, peer;
    double ours, theirs; ///< ns
    double bar;          ///< 0: for information
    bool holds() const {
        return bar == 0 || (peer.empty() ? ours <= bar : theirs >= bar * ours);
    }
};

class collision_table {
  public:
    std::vector<collision_row> rows;

    void section(const char *name) {
        std::printf("\n%s\n%-52s %12s %-8s %12s %8s %6s\n", name, "", "ours, ns", "peer", "ns", "ratio", "bar");
    }
    void add(const collision_row &r) {
        rows.push_back(r);
        std::printf("%-52s %12.1f %-8s ", r.what.c_str(), r.ours, r.peer.c_str());
        if (r.theirs > 0) {
            std::printf("%12.1f %8.2f ", r.theirs, r.theirs / r.ours);
        } else {
            std::printf("%12s %8s ", "", "");
        }
        if (r.bar > 0) {
            std::printf("%6.4g  %s", r.bar, r.holds() ? "ok" : "MISSED");
        }
        std::printf("\n");
        std::fflush(stdout);
    }
};

/// Random numbers that every run draws alike.
class dice {
  public:
    explicit dice(uint64_t seed) : cursor{seed, 7, 0} {
    }
    double uniform(double low, double high) {
        return kk_random_next_between(&cursor, low, high);
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

/// A ball with bumps, closed, of about that many triangles.
struct bumpy_ball {
    std::vector<kk_vec3> vertex;
    std::vector<int32_t> face; ///< three a triangle
    explicit bumpy_ball(int triangles, double radius);
};

/// Its surface, for kki_surface_free.
kki_surface *surface_of(const bumpy_ball &ball);

/// The sections a program holds, by the files it is linked from. FCL and Coal bring two versions of one library, so they
/// stand in two programs.
struct section {
    const char *name;
    void (*measure)(collision_table &);
};
inline std::vector<section> &sections() {
    static std::vector<section> all;
    return all;
}
struct in_section {
    in_section(const char *name, void (*measure)(collision_table &)) {
        sections().push_back({name, measure});
    }
};

} // namespace benchmarks
#endif
