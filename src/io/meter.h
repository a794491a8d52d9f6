// An allocator that counts what is in use and refuses what would be over a limit.
#ifndef KARAKURI_IO_METER_H
#define KARAKURI_IO_METER_H

#include <stdbool.h>

#include <karakuri/allocator.h>

typedef struct kki_meter {
    kk_allocator inner;
    size_t used, most, limit;
    bool has_refused; // over the limit, in contrast to a failure of the inner allocator
} kki_meter;

/// The meter must stay where it is while the allocator is used.
kk_allocator kki_meter_begin(kki_meter *meter, const kk_allocator *inner, size_t limit);

#endif
