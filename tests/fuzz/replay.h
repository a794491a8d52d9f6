/// Replays a fuzz target's corpus as a unit test: what once was a finding must stay none.
///
/// The target is included under a name of its own, so that it is what is replayed.
#ifndef KARAKURI_FUZZ_REPLAY_H
#define KARAKURI_FUZZ_REPLAY_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

#include "harness.h"

typedef int fuzz_target(const uint8_t *bytes, size_t size);

static inline void fuzz_replay_file(const char *folder, const char *name, fuzz_target *target) {
    char path[1024];
    static char bytes[1 << 20];
    snprintf(path, sizeof path, "%s/%.200s", folder, name);
    FILE *file = fopen(path, "rb");
    if (KK_CHECK(file != NULL)) {
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        target((const uint8_t *)bytes, size);
    }
}

/// Gives how many files there were.
static inline int fuzz_replay(const char *folder, fuzz_target *target) {
    DIR *directory = opendir(folder);
    if (!KK_CHECK(directory != NULL)) {
        return 0;
    }
    int count = 0;
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (entry->d_name[0] != '.') {
            fuzz_replay_file(folder, entry->d_name, target);
            count++;
        }
    }
    closedir(directory);
    return count;
}

#endif
