/// Files of the system and files in memory.
///
/// A file is looked at before it is opened, since opening a device can do something, and again when it is open, since
/// it may be another one by then. It is opened without waiting, so that a FIFO cannot hold us up.
#define _POSIX_C_SOURCE 200809L // open, fstat, readlink
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/error.h"
#include "path.h"

void kki_file_release(kki_file_data *data, const kk_allocator *allocator) {
    if (data->bytes) {
        kki_release(allocator, data->bytes, data->size + 1);
    }
    *data = (kki_file_data){NULL, 0};
}

/// A block for a file's bytes, with the zero byte after them.
static kk_status make_block(size_t size, const char *path, const kk_allocator *allocator, kki_file_data *data,
                            kk_error *error) {
    data->bytes = kki_allocate(allocator, size + 1);
    if (!data->bytes) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, path, 0, 0, "out of memory while reading the file");
    }
    data->size = size;
    data->bytes[size] = 0;
    return KK_OK;
}

static kk_status fail_large(size_t size, size_t most, const char *path, kk_error *error) {
    return kki_error_at(error, KK_LIMIT_EXCEEDED, path, 0, 0,
                        "the file has %d kB, over the limit of %d kB; split it or raise the limit",
                        (int)(size >> 10 > 0x7fffffff ? 0x7fffffff : size >> 10), (int)(most >> 10));
}

// ---- the system's

static kki_file_kind kind_of_mode(mode_t mode) {
    return S_ISREG(mode) ? KKI_FILE_REGULAR : S_ISDIR(mode) ? KKI_FILE_DIRECTORY : KKI_FILE_OTHER;
}

static kki_file_kind system_kind(void *user, const char *path) {
    (void)user;
    struct stat found;
    return stat(path, &found) == 0 ? kind_of_mode(found.st_mode) : KKI_FILE_MISSING;
}

static int system_read_link(void *user, const char *path, char target[KKI_PATH_SIZE]) {
    (void)user;
    const ssize_t length = readlink(path, target, KKI_PATH_SIZE);
    if (length >= KKI_PATH_SIZE) {
        return -1;
    }
    target[length > 0 ? length : 0] = 0;
    return length > 0 ? (int)length : 0;
}

static kk_status system_canonical(void *user, const char *path, char result[KKI_PATH_SIZE]) {
    char whole[KKI_PATH_SIZE] = "";
#if !defined(__wasi__) // where paths start from a directory that has no name
    if (!kki_path_is_absolute(path) && !getcwd(whole, sizeof whole)) {
        return KK_IO;
    }
#endif
    if (!kki_path_join(whole, path, whole)) {
        return KK_LIMIT_EXCEEDED;
    }
    return kki_path_canonical(whole, system_read_link, user, result);
}

static kk_status fail_kind(const char *path, mode_t mode, kk_error *error) {
    const char *what = S_ISDIR(mode)                    ? "a directory"
                       : S_ISFIFO(mode)                 ? "a FIFO"
                       : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                                        : "not a regular file";
    return kki_error_at(error, KK_IO, path, 0, 0, "%s is %s; only regular files are read, name one", path, what);
}

static kk_status fail_errno(const char *path, const char *verb, int code, kk_error *error) {
    const char *why = code == ENOENT || code == ENOTDIR ? "there is no such file"
                      : code == EACCES || code == EPERM ? "no permission"
                      : code == ELOOP                   ? "too many symbolic links"
                                                        : "the system refused it";
    return kki_error_at(error, code == ENOENT || code == ENOTDIR ? KK_NOT_FOUND : KK_IO, path, 0, 0,
                        "cannot %s %s: %s; check the path and its permissions", verb, path, why);
}

/// Reads until the end or the number of bytes; gives how many there were, -1 on a fault.
static ssize_t read_fully(int descriptor, char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t n = read(descriptor, bytes + done, size - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/// The bytes must be as many as the file had when it was opened: one byte more is asked for.
static kk_status read_bytes(int descriptor, size_t size, const char *path, const kk_allocator *allocator,
                            kki_file_data *data, kk_error *error) {
    kk_status status = make_block(size, path, allocator, data, error);
    if (status != KK_OK) {
        return status;
    }
    const ssize_t n = read_fully(descriptor, data->bytes, size + 1);
    if (n < 0) {
        status = fail_errno(path, "read", errno, error);
    } else if ((size_t)n != size) {
        status = kki_error_at(error, KK_IO, path, 0, 0, "%s changed while it was read; try again", path);
    }
    data->bytes[size] = 0;
    if (status != KK_OK) {
        kki_file_release(data, allocator);
    }
    return status;
}

static kk_status read_descriptor(int descriptor, const char *path, size_t most, const kk_allocator *allocator,
                                 kki_file_data *data, kk_error *error) {
    struct stat found;
    if (fstat(descriptor, &found) != 0) {
        return fail_errno(path, "read", errno, error);
    }
    if (!S_ISREG(found.st_mode)) {
        return fail_kind(path, found.st_mode, error);
    }
    if (found.st_size < 0 || (uintmax_t)found.st_size > most) {
        return fail_large((size_t)found.st_size, most, path, error);
    }
    return read_bytes(descriptor, (size_t)found.st_size, path, allocator, data, error);
}

static kk_status system_read(void *user, const char *path, size_t most, const kk_allocator *allocator,
                             kki_file_data *data, kk_error *error) {
    (void)user;
    *data = (kki_file_data){NULL, 0};
    struct stat found;
    if (stat(path, &found) != 0) {
        return fail_errno(path, "open", errno, error);
    }
    if (!S_ISREG(found.st_mode)) {
        return fail_kind(path, found.st_mode, error);
    }
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) {
        return fail_errno(path, "open", errno, error);
    }
    const kk_status status = read_descriptor(descriptor, path, most, allocator, data, error);
    close(descriptor);
    return status;
}

kki_file_source kki_file_source_system(void) {
    return (kki_file_source){system_kind, system_canonical, system_read, NULL};
}

// ---- files in memory

static kk_status memory_canonical(void *user, const char *path, char result[KKI_PATH_SIZE]) {
    (void)user;
    return kki_path_canonical(path, NULL, NULL, result);
}

static const kki_memory_file *find_memory_file(const kki_memory_files *files, const char *path) {
    char wanted[KKI_PATH_SIZE], found[KKI_PATH_SIZE];
    if (memory_canonical(NULL, path, wanted) != KK_OK) {
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
    for (int i = 0; i < files->count && memory_canonical(NULL, path, wanted) == KK_OK; i++) {
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
        return fail_errno(path, "open", ENOENT, error);
    }
    if (file->size > most) {
        return fail_large(file->size, most, path, error);
    }
    const kk_status status = make_block(file->size, path, allocator, data, error);
    if (status == KK_OK) {
        memcpy(data->bytes, file->bytes, file->size);
    }
    return status;
}

kki_file_source kki_file_source_memory(kki_memory_files *files) {
    return (kki_file_source){memory_kind, memory_canonical, memory_read, files};
}
