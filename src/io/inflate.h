/// Unpacking of zlib streams (RFC 1950 and 1951) into memory that grows with what really comes out.
#ifndef KARAKURI_IO_INFLATE_H
#define KARAKURI_IO_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

typedef struct kki_inflated {
    unsigned char *bytes; ///< of `allocator`, for kki_inflated_release; also after a fault
    size_t size, room;
    size_t most; ///< more than this is a fault
    kk_allocator allocator;
    size_t place;      ///< of a fault in the packed bytes
    const char *fault; ///< in words, NULL where there is none
} kki_inflated;

/// Unpacks at most `most` bytes.
/// @return KK_SYNTAX with `fault` and `place` set, or KK_OUT_OF_MEMORY
kk_status kki_inflate(const unsigned char *packed, size_t size, size_t most, const kk_allocator *allocator,
                      kki_inflated *out);

/// The same without zlib's two bytes of header and four of checksum.
kk_status kki_inflate_raw(const unsigned char *packed, size_t size, size_t most, const kk_allocator *allocator,
                          kki_inflated *out);

void kki_inflated_release(kki_inflated *out);

#endif
