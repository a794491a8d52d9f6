/// The farthest of a few points along a direction, two at a time.
///
/// The greatest height first, then the first point that has it: so lanes need not carry ids along. Two lanes, because that
/// is what every processor has. Inlined, so that d, handed over in memory, is not copied there again.
#ifndef KKI_GEOMETRY_LANES_H
#define KKI_GEOMETRY_LANES_H

#include <karakuri/math.h>

/// Most points, with the padding.
enum { KKI_LANES_MOST = 40 };

typedef double kki_lanes __attribute__((vector_size(16)));
typedef int64_t kki_lane_bits __attribute__((vector_size(16)));

static inline kki_lanes kki_lanes_greater(kki_lanes a, kki_lanes b) {
#ifdef __SSE2__
    return __builtin_ia32_maxpd(a, b);
#else
    const kki_lane_bits m = a > b;
    return (kki_lanes)(((kki_lane_bits)a & m) | ((kki_lane_bits)b & ~m));
#endif
}

static inline kki_lanes kki_lanes_lesser(kki_lanes a, kki_lanes b) {
#ifdef __SSE2__
    return __builtin_ia32_minpd(a, b);
#else
    const kki_lane_bits m = a < b;
    return (kki_lanes)(((kki_lane_bits)a & m) | ((kki_lane_bits)b & ~m));
#endif
}

// bit k: lane k is set
static inline uint64_t kki_lanes_bits(kki_lane_bits m) {
#ifdef __SSE2__
    return (uint64_t)__builtin_ia32_movmskpd((kki_lanes)m);
#else
    return (uint64_t)((m[0] & 1) | (m[1] & 2));
#endif
}

__attribute__((always_inline)) static inline int kki_lanes_farthest_of(const double *px, const double *py,
                                                                       const double *pz, int pairs, kk_vec3 d) {
    const kki_lanes *x = (const kki_lanes *)(const void *)px, *y = (const kki_lanes *)(const void *)py;
    const kki_lanes *z = (const kki_lanes *)(const void *)pz;
    const kki_lanes dx = {d.x, d.x}, dy = {d.y, d.y}, dz = {d.z, d.z};
    kki_lanes height[KKI_LANES_MOST / 2], most = x[0] * dx + y[0] * dy + z[0] * dz, most1 = most;
    for (int i = 0; i < pairs; i += 2) { // two at a time, because each comparison waits for the last
        height[i] = x[i] * dx + y[i] * dy + z[i] * dz;
        height[i + 1] = x[i + 1] * dx + y[i + 1] * dy + z[i + 1] * dz;
        most = kki_lanes_greater(most, height[i]);
        most1 = kki_lanes_greater(most1, height[i + 1]);
    }
    most = kki_lanes_greater(most, most1);
    const double top = most[0] > most[1] ? most[0] : most[1];
    const kki_lanes all = {top, top};
    uint64_t bits = 0; // of equal ones the lowest
    for (int i = 0; i < pairs; i++) {
        bits |= kki_lanes_bits(height[i] == all) << 2 * i;
    }
    return bits ? __builtin_ctzll(bits) : 0;
}

// both lanes the greater of the two
static inline kki_lanes kki_lanes_top(kki_lanes a) {
    const kki_lanes swapped = {a[1], a[0]};
    return kki_lanes_greater(a, swapped);
}

// both lanes the lesser of the two
static inline kki_lanes kki_lanes_bottom(kki_lanes a) {
    const kki_lanes swapped = {a[1], a[0]};
    return kki_lanes_lesser(a, swapped);
}

// bit k: of eight heights number k is the top one
static inline unsigned kki_lanes_tops(kki_lanes h0, kki_lanes h1, kki_lanes h2, kki_lanes h3) {
    const kki_lanes top = kki_lanes_top(kki_lanes_greater(kki_lanes_greater(h0, h1), kki_lanes_greater(h2, h3)));
    const uint64_t low = kki_lanes_bits(h0 == top) | kki_lanes_bits(h1 == top) << 2;
    return (unsigned)(low | kki_lanes_bits(h2 == top) << 4 | kki_lanes_bits(h3 == top) << 6);
}

/// The same of eight points.
__attribute__((always_inline)) static inline int kki_lanes_farthest_of_eight(const double *px, const double *py,
                                                                             const double *pz, kk_vec3 d) {
    const kki_lanes *x = (const kki_lanes *)(const void *)px, *y = (const kki_lanes *)(const void *)py;
    const kki_lanes *z = (const kki_lanes *)(const void *)pz;
    const kki_lanes dx = {d.x, d.x}, dy = {d.y, d.y}, dz = {d.z, d.z};
    const unsigned bits = kki_lanes_tops(x[0] * dx + y[0] * dy + z[0] * dz, x[1] * dx + y[1] * dy + z[1] * dz,
                                         x[2] * dx + y[2] * dy + z[2] * dz, x[3] * dx + y[3] * dy + z[3] * dz);
    return __builtin_ctz(bits | 256) & 7; // none where d is no number
}

/// The farthest point along d, of equal ones the first. Arrays aligned to 16 bytes, `padded` a multiple of four up to
/// KKI_LANES_MOST; the padding repeats the first point.
__attribute__((always_inline)) static inline int kki_lanes_farthest(const double *x, const double *y, const double *z,
                                                                    int padded, kk_vec3 d) {
    if (padded == 8) {
        return kki_lanes_farthest_of_eight(x, y, z, d);
    }
    return kki_lanes_farthest_of(x, y, z, padded / 2, d);
}

#endif
