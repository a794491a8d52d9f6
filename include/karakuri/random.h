/// Random numbers as pure functions: the same (seed, stream, counter) gives the same number on every machine in every
/// order.
///
/// The generator is Philox4x32-10: a block cipher applied to a counter. There is no hidden state, so run 7000 of a
/// sweep or step 12345 of a run gets its numbers without drawing those before it. Take the seed for the experiment, the
/// stream for the run and the counter for the step; a cursor counts for you where order is natural.
#ifndef KARAKURI_RANDOM_H
#define KARAKURI_RANDOM_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

/// 128 random bits.
typedef struct kk_random_words {
    uint32_t word[4];
} kk_random_words;

/// The 128 bits of one (seed, stream, counter).
KK_API kk_random_words kk_random_block(uint64_t seed, uint64_t stream, uint64_t counter);

/// Uniform in [0, 1), a multiple of 2^-53.
KK_API double kk_random_uniform_at(uint64_t seed, uint64_t stream, uint64_t counter);
/// Standard normal deviate by the transform of Box and Muller.
KK_API double kk_random_normal_at(uint64_t seed, uint64_t stream, uint64_t counter);

/// A cursor: plain data, copy it to fork, save it with the state. Each next call uses one counter value.
typedef struct kk_random {
    uint64_t seed, stream, counter;
} kk_random;

/// 64 random bits.
KK_API uint64_t kk_random_next_uint64(kk_random *random);
/// Whole number in [0, bound), without bias; 0 for bound 0. It may use more than one counter value.
KK_API uint64_t kk_random_next_below(kk_random *random, uint64_t bound);
/// Uniform in [0, 1).
KK_API double kk_random_next_uniform(kk_random *random);
/// Uniform in the open interval (low, high); low where there is no number between them.
KK_API double kk_random_next_between(kk_random *random, double low, double high);
/// Normal deviate of mean 0 and standard deviation 1.
KK_API double kk_random_next_normal(kk_random *random);

KK_END_DECLS
#endif
