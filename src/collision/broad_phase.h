// Broad phase: which boxes touch.
//
// Two trees, of moving and of static boxes. Each box stands in its tree with a margin; while it stays inside its fat box
// the tree and the list of fat pairs stay as they are. A box that left gets a new fat box, its path to the root is
// refitted and its pairs are searched again. The pairs reported are those of the list whose *exact* boxes touch, so they
// depend on the present boxes alone: margins, the tree's shape and what happened before decide only how long it takes.
// A state restored from a file continues with the same pairs, bit by bit.
//
// Pairs come sorted by ids. Nothing is allocated after creation.
#ifndef KKI_COLLISION_BROAD_PHASE_H
#define KKI_COLLISION_BROAD_PHASE_H

#include "base/sort.h"
#include "geometry/tree.h"

typedef struct kki_pair {
    int32_t a, b; ///< a < b
    int32_t mark; ///< what the filter has said of it; 1 without a filter
} kki_pair;

/// Whether a pair may collide at all; 0: never. Must depend on the ids alone, because answers are kept, and come with the pair.
typedef int32_t kki_pair_filter(void *user, int32_t a, int32_t b);

typedef struct kki_broad_phase_def {
    int32_t capacity;        ///< ids are 0 … capacity − 1
    int32_t pair_capacity;   ///< most pairs of an update
    double margin;           ///< by which fat boxes are larger, in parts of the box's mean edge; 0: 0.1
    kki_pair_filter *filter; ///< NULL: all pairs
    void *user;
} kki_broad_phase_def;

/// Box a collides with b where each one's group has a bit in the other's mask.
typedef struct kki_proxy {
    kki_aabb box;
    uint32_t group, mask;
    bool is_static; ///< static boxes never make pairs with each other
} kki_proxy;

typedef struct kki_broad_phase kki_broad_phase;

kk_status kki_broad_phase_create(const kki_broad_phase_def *def, const kk_allocator *allocator, kki_broad_phase **out,
                                 kk_error *error);
void kki_broad_phase_free(kki_broad_phase *broad_phase);

/// Puts a proxy in, or replaces the one of that id: group, mask and kind may change. The next update builds a tree.
void kki_broad_phase_set(kki_broad_phase *broad_phase, int32_t id, const kki_proxy *proxy);
void kki_broad_phase_remove(kki_broad_phase *broad_phase, int32_t id);
/// Moves a box. Cheap; the work is done by the update.
void kki_broad_phase_move(kki_broad_phase *broad_phase, int32_t id, const kki_aabb *box);
/// The same in two parts. The first may be done for many boxes at a time by several threads; where it is true the second must follow.
bool kki_broad_phase_put(kki_broad_phase *broad_phase, int32_t id, const kki_aabb *box);
void kki_broad_phase_note(kki_broad_phase *broad_phase, int32_t id);
/// To be called when the filter's answers have changed.
void kki_broad_phase_refilter(kki_broad_phase *broad_phase);

/// All pairs whose boxes touch, sorted by a, then b; valid until the next update.
/// @return KK_LIMIT_EXCEEDED where there are more than pair_capacity; then there are none, and the count says how many
///         would have been needed at least
kk_status kki_broad_phase_update(kki_broad_phase *broad_phase, const kki_pair **pair, int32_t *count);

/// The list of fat pairs behind an update, for those who ask the boxes themselves, by several workers or with a test of their own: pairs whose boxes touch are
/// among them. By key, a << 32 | b; the payload is the filter's answer.
typedef struct kki_fat_pairs {
    const kki_sort_item *pair;
    const kki_aabb *box; ///< by id
    int32_t count;
} kki_fat_pairs;

static inline kki_pair kki_fat_pair(const kki_fat_pairs *f, int32_t i) {
    return (kki_pair){(int32_t)(f->pair[i].key >> 32), (int32_t)(f->pair[i].key & 0xffffffffu),
                      (int32_t)f->pair[i].payload};
}

/// An update that reports no pairs of its own. @param count  where there are too many, how many would have been needed at least
kk_status kki_broad_phase_refresh(kki_broad_phase *broad_phase, kki_fat_pairs *fat, int32_t *count);

/// At most so many fat pairs.
static inline size_t kki_broad_phase_fat_room(int32_t pair_capacity) {
    return 2 * (size_t)pair_capacity + 16;
}

/// Ids whose boxes touch a box, in rising order where `room` is enough.
/// @return how many there are, which may be more than `room`
int32_t kki_broad_phase_query(const kki_broad_phase *broad_phase, const kki_aabb *box, int32_t *id, int32_t room);

#endif
