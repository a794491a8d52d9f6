/// Poses as Coal has them.
#ifndef KARAKURI_BENCHMARKS_PEERS_COAL_BODIES_HPP
#define KARAKURI_BENCHMARKS_PEERS_COAL_BODIES_HPP

#include <coal/math/transform.h>

extern "C" {
#include <karakuri/math.h>
}

namespace peers {

inline coal::Transform3s to_coal(const kk_transform &X) {
    coal::Matrix3s R;
    for (int i = 0; i < 9; i++) {
        R(i / 3, i % 3) = X.R.m[i];
    }
    return {R, coal::Vec3s(X.p.x, X.p.y, X.p.z)};
}

} // namespace peers
#endif
