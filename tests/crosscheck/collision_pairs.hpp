/// What both programs of collision share: the tally of a comparison and its line.
#ifndef KARAKURI_CROSSCHECK_COLLISION_PAIRS_HPP
#define KARAKURI_CROSSCHECK_COLLISION_PAIRS_HPP

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace crosscheck {

struct tally {
    long pairs = 0, overlapping = 0;
    long alike = 0;    ///< to 1e-9 of the bodies' size
    long peer_off = 0; ///< the peer's answer is refuted by ours, or not borne out by its own direction
    long gave_up = 0;  ///< no answer of the peer's
    long ours_off = 0; ///< ours is refuted: a failure
    double worst = 0;  ///< difference where they are not alike, in parts of the size
    bool report(const std::string &what, const char *peer) const {
        std::printf("  %-24s %-7s %7ld %7ld overlap %7ld alike %6ld peer off, by %.1e at most %5ld without answer %3ld "
                    "ours off%s\n",
                    what.c_str(), peer, pairs, overlapping, alike, peer_off, worst, gave_up, ours_off,
                    ours_off ? "  FAILED" : "");
        return ours_off == 0;
    }
};

inline long pairs_asked(int argc, char **argv, long usual) {
    for (int i = 1; i + 1 < argc; i++) {
        if (!std::strcmp(argv[i], "--pairs")) {
            return std::atol(argv[i + 1]);
        }
    }
    return usual;
}

} // namespace crosscheck
#endif
