/// The spec's inside: three growing arrays and a pool of strings.
#ifndef KKI_MODEL_SPEC_H
#define KKI_MODEL_SPEC_H

#include <karakuri/spec.h>

/// No more bodies, frames or couplings than this each: indices stay far from the end of int32_t.
enum { KKI_SPEC_MAX_ITEMS = 10000000, KKI_SPEC_MAX_NAME = 65535 };

/// Strings live in chunks that are never moved, so pointers to them stay good until the spec is freed.
typedef struct kki_string_chunk kki_string_chunk;

struct kk_spec {
    kk_allocator allocator;
    kk_vec3 gravity;
    int nbody, nframe, ncoupling;
    int body_room, frame_room, coupling_room;
    kk_body_def *body;         ///< [nbody] 0 is the world
    kk_frame_def *frame;       ///< [nframe]
    kk_coupling_def *coupling; ///< [ncoupling]
    kki_string_chunk *strings; ///< the newest chunk
};

#endif
