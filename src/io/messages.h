/// The public list of findings: the loaders' own, with the allocator to free it.
#ifndef KARAKURI_IO_MESSAGES_H
#define KARAKURI_IO_MESSAGES_H

#include <karakuri/load.h>

#include "io/diagnostics.h"

struct kk_messages {
    kk_allocator allocator;
    kki_diagnostics list;
};

#endif
