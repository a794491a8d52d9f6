// Counting bytes in use. A limit that is reached looks like a failed allocation to the caller; the meter knows better.
#include "meter.h"

#include "base/allocator.h"

static void *metered_allocate(void *user, size_t size, size_t alignment) {
    kki_meter *meter = user;
    if (size > meter->limit - meter->used) {
        meter->has_refused = true;
        return NULL;
    }
    void *block = meter->inner.allocate(meter->inner.user, size, alignment);
    if (block) {
        meter->used += size;
        meter->most = meter->used > meter->most ? meter->used : meter->most;
    }
    return block;
}

static void metered_release(void *user, void *block, size_t size) {
    kki_meter *meter = user;
    meter->used -= size;
    meter->inner.release(meter->inner.user, block, size);
}

kk_allocator kki_meter_begin(kki_meter *meter, const kk_allocator *inner, size_t limit) {
    *meter = (kki_meter){kki_allocator_or_default(inner), 0, 0, limit, false};
    return (kk_allocator){metered_allocate, metered_release, meter};
}
