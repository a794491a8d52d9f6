/// Files in memory, and what they have in common with the system's (file_system.c).
#include "file.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "path.h"

void kki_file_release(kki_file_data *data, const kk_allocator *allocator) {
    if (data->bytes) {
        kki_release(allocator, data->bytes, data->size + 1);
    }
    *data = (kki_file_data){NULL, 0};
}

kk_status kki_file_block(size_t size, const char *path, const kk_allocator *allocator, kki_file_data *data,
                         kk_error *error) {
    data->bytes = kki_allocate(allocator, size + 1);
    if (!data->bytes) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, path, 0, 0, "out of memory while reading the file");
    }
    data->size = size;
    data->bytes[size] = 0;
    return KK_OK;
}

kk_status kki_file_fail_large(size_t size, size_t most, const char *path, kk_error *error) {
    return kki_error_at(error, KK_LIMIT_EXCEEDED, path, 0, 0,
                        "the file has %d kB, over the limit of %d kB; split it or raise the limit",
                        (int)(size >> 10 > 0x7fffffff ? 0x7fffffff : size >> 10), (int)(most >> 10));
}

kk_status kki_file_fail(const char *path, const char *verb, kk_status status, const char *why, kk_error *error) {
    return kki_error_at(error, status, path, 0, 0, "cannot %s %s: %s; check the path and its permissions", verb, path,
                        why);
}

kk_status kki_file_fail_missing(const char *path, const char *verb, kk_error *error) {
    return kki_file_fail(path, verb, KK_NOT_FOUND, "there is no such file", error);
}

static kk_status memory_canonical(void *user, const char *path, char result[KKI_PATH_SIZE]) {
    (void)user;
    return kki_path_canonical(path, NULL, NULL, result);
}

static const kki_memory_file *find_memory_file(const kki_memory_files *files, const char *path) {
    char wanted[KKI_PATH_SIZE], found[KKI_PATH_SIZE];
    if (!files || memory_canonical(NULL, path, wanted) != KK_OK) {
        return NULL;
    }
    for (int i = 0; i < files->count; i++) {
        if (memory_canonical(NULL, files->file[i].path, found) == KK_OK && strcmp(found, wanted) == 0) {
            return &files->file[i];
        }
    }
    return NULL;
}

static kki_file_kind memory_kind(void *user, const char *path) {
    const kki_memory_files *files = user;
    char wanted[KKI_PATH_SIZE], found[KKI_PATH_SIZE];
    if (find_memory_file(files, path)) {
        return KKI_FILE_REGULAR;
    }
    for (int i = 0; files && i < files->count && memory_canonical(NULL, path, wanted) == KK_OK; i++) {
        if (memory_canonical(NULL, files->file[i].path, found) == KK_OK && kki_path_is_below(found, wanted)) {
            return KKI_FILE_DIRECTORY;
        }
    }
    return KKI_FILE_MISSING;
}

static kk_status memory_read(void *user, const char *path, size_t most, const kk_allocator *allocator,
                             kki_file_data *data, kk_error *error) {
    const kki_memory_file *file = find_memory_file(user, path);
    *data = (kki_file_data){NULL, 0};
    if (!file) {
        return kki_file_fail_missing(path, "open", error);
    }
    if (file->size > most) {
        return kki_file_fail_large(file->size, most, path, error);
    }
    const kk_status status = kki_file_block(file->size, path, allocator, data, error);
    if (status == KK_OK) {
        memcpy(data->bytes, file->bytes, file->size);
    }
    return status;
}

kki_file_source kki_file_source_memory(kki_memory_files *files) {
    return (kki_file_source){memory_kind, memory_canonical, memory_read, files};
}
