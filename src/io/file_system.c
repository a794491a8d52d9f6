/// Files of the system. A build for where there are none (KK_SYSTEM_FILES off, the browser's) knows none.
///
/// A file is looked at before it is opened, since opening a device can do something, and again when it is open, since
/// it may be another one by then. It is opened without waiting, so that a FIFO cannot hold us up.
#define _POSIX_C_SOURCE 200809L // open, fstat, readlink
#include "file.h"

#if defined(KKI_NO_SYSTEM_FILES)

kki_file_source kki_file_source_system(void) {
    return kki_file_source_memory(NULL);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "path.h"

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
    if (code == ENOENT || code == ENOTDIR) {
        return kki_file_fail_missing(path, verb, error);
    }
    const char *why = code == EACCES || code == EPERM ? "no permission"
                      : code == ELOOP                 ? "too many symbolic links"
                                                      : "the system refused it";
    return kki_file_fail(path, verb, KK_IO, why, error);
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
    kk_status status = kki_file_block(size, path, allocator, data, error);
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
        return kki_file_fail_large((size_t)found.st_size, most, path, error);
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
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR) {
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    }
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

#endif
