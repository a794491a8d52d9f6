/// Rows of the collision benchmark: what is measured, beside whom, and the bar.
#ifndef KARAKURI_BENCHMARKS_COLLISION_HPP
#define KARAKURI_BENCHMARKS_COLLISION_HPP

#include <cstdio>
#include <string>
#include <vector>

#include "peers/collision_bodies.hpp"

extern "C" {
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

using peers::dice;
using peers::triangle_ball;

/// A ball with bumps, closed, of about that many triangles.
triangle_ball bumpy_ball(int triangles, double radius);

/// Its surface, for kki_surface_free.
kki_surface *surface_of(const triangle_ball &ball);

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
