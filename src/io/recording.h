/// The format of recordings, for the writer and the reader. Offsets in bytes, everything little endian.
///
///     header, fixed part
///         0 magic, 8 version (4), 12 size of the whole header (4), 16 hash of the model (8), 24 nq (4), 28 nv (4),
///         32 ncontrol (4), 36 key_every (4), 40 size of a saved state (4; from version 3 on of the first), 44 size of the note (4),
///         48 timestep, 56 tolerance, 64 restitution_speed, 72 correction (8 each),
///         80 most sweeps (of earlier versions), 84 Newton iterations, 88 sweeps of the effort, 92 explicit_servos (4 each);
///         from version 2 on: 96 solver, 100 detection (4 each), 104 spring_stiffness, 112 spring_damping, 120 spring_depth (8 each)
///     then the note, and the checksum of all before it (8), seed 0
///
///     chunk
///         0 magic (4), 4 steps (4), 8 first step (8), from version 3 on 16 size of the saved state (8), then the saved state, the frames, and the checksum
///         (8) of all before it, seeded with the header's. The last chunk may have fewer steps.
///
///     frame
///         time, q, v, control, residual, cone, signorini, penetration, kinetic_after, constraint_work (8 each),
///         contacts, sweeps, newton, hit_iteration_limit (4 each), hash of the state (8)
///
///     footer
///         0 magic (4), 4 zero (4), 8 steps (8), 16 chunks (8), 24 checksum (8), seeded with the header's
#ifndef KARAKURI_IO_RECORDING_H
#define KARAKURI_IO_RECORDING_H

#include <karakuri/recording.h>

enum {
    KKI_RECORDING_VERSION = 3,
    KKI_RECORDING_HEADER = 128,
    KKI_RECORDING_HEADER_1 = 96, ///< of version 1
    KKI_RECORDING_CHUNK = 24,
    KKI_RECORDING_CHUNK_2 = 16, ///< of versions 1 and 2, whose states are all of one size
    KKI_RECORDING_FOOTER = 32,
    KKI_RECORDING_CHECKSUM = 8,
    KKI_RECORDING_MOST_NOTE = 65536,
    KKI_RECORDING_DEFAULT_KEY = 256,
    KKI_RECORDING_MOST_KEY = 1 << 20,
};

#define KKI_RECORDING_MAGIC "KKREC\r\n\x1a"
#define KKI_RECORDING_CHUNK_MAGIC 0x4b4e4843u  ///< "CHNK"
#define KKI_RECORDING_FOOTER_MAGIC 0x21444e45u ///< "END!"

/// Sizes that follow from the header.
typedef struct kki_recording_layout {
    int nq, nv, ncontrol, key_every;
    size_t header_size, frame_size;
    size_t state_size;  ///< of the first state; of all in versions 1 and 2
    size_t chunk_start; ///< of a chunk, before its state
} kki_recording_layout;

static inline size_t kki_recording_frame_size(int nq, int nv, int ncontrol) {
    return 8 * (1 + (size_t)nq + (size_t)nv + (size_t)ncontrol + 6) + 16 + 8;
}

static inline size_t kki_recording_chunk_size(const kki_recording_layout *l, size_t state_size, size_t steps) {
    return l->chunk_start + state_size + steps * l->frame_size + KKI_RECORDING_CHECKSUM;
}

static inline void kki_put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

static inline uint64_t kki_get(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

#endif
