/// A 64-bit hash of bytes and of numbers, the same on every machine.
///
/// The function is XXH64 as its public specification defines it, so digests can be checked with any other
/// implementation. It is fast and well mixed, but no protection against somebody who wants two inputs to collide.
#ifndef KARAKURI_HASH_H
#define KARAKURI_HASH_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

/// Hash of a block of bytes in one call. `bytes` may be NULL where `size` is 0.
KK_API uint64_t kk_hash_bytes(const void *bytes, size_t size, uint64_t seed);

/// Hash of [count] doubles by value: little-endian bits, -0 taken as +0 and every NaN as one NaN.
KK_API uint64_t kk_hash_doubles(const double *values, size_t count, uint64_t seed);

/// The same bit by bit: begin, any number of updates in any portions, finish. The fields are private.
typedef struct kk_hash {
    uint64_t lane[4];
    uint64_t size;
    uint64_t seed;
    unsigned char pending[32];
} kk_hash;

KK_API kk_hash kk_hash_begin(uint64_t seed);
KK_API void kk_hash_update(kk_hash *hash, const void *bytes, size_t size);
/// Adds doubles as kk_hash_doubles does.
KK_API void kk_hash_update_doubles(kk_hash *hash, const double *values, size_t count);
/// Adds one whole number as its eight little-endian bytes.
KK_API void kk_hash_update_uint64(kk_hash *hash, uint64_t value);
/// The hash so far; updates may go on.
KK_API uint64_t kk_hash_finish(const kk_hash *hash);

KK_END_DECLS
#endif
