// Whole files or none; see output_file.h.
#define _DEFAULT_SOURCE // flock
#include "io/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <karakuri/save.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef __wasi__
#include <sys/file.h>
#endif

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"

static const char ENDING[] = ".part";
/// How often a part is opened again that another writer has just put in the file's place.
enum { MOST_TRIES = 8 };

static kk_status cannot_write(const char *path, kk_error *error) {
    return kki_error_at(error, KK_IO, path, 0, 0,
                        "the file cannot be written — check that its folder exists and that you may write there");
}

/// Whether another writer has it. File systems without locks have no other writer that could be told.
static int is_locked_by_another(int descriptor) {
#ifdef __wasi__
    (void)descriptor;
    return 0;
#else
    int result = flock(descriptor, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR) {
        result = flock(descriptor, LOCK_EX | LOCK_NB);
    }
    return result != 0 && errno == EWOULDBLOCK;
#endif
}

static int open_to_write(const char *path, int flags) {
    const int all = flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
    int descriptor = open(path, all, 0666);
    while (descriptor < 0 && errno == EINTR) {
        descriptor = open(path, all, 0666);
    }
    return descriptor;
}

static int truncate_file(int descriptor) {
    int result = ftruncate(descriptor, 0);
    while (result != 0 && errno == EINTR) {
        result = ftruncate(descriptor, 0);
    }
    return result;
}

/// Whether the path still leads to what the descriptor has open.
static int is_still_there(int descriptor, const char *path) {
    struct stat open_one, named;
    return fstat(descriptor, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_ino == named.st_ino &&
           open_one.st_dev == named.st_dev;
}

/// Opens the part for this writer alone. @return a descriptor, −1, or −2 where another has it
static int open_part(const char *part) {
    for (int i = 0; i < MOST_TRIES; i++) {
        const int descriptor = open_to_write(part, O_NOFOLLOW);
        if (descriptor < 0) {
            return -1;
        }
        if (is_locked_by_another(descriptor)) {
            close(descriptor);
            return -2;
        }
        if (is_still_there(descriptor, part) && truncate_file(descriptor) == 0) {
            return descriptor;
        }
        close(descriptor);
    }
    errno = EIO;
    return -1;
}

/// A folder that nothing can be added to may have a file that can be written, and a name be too long for its part. A disk that is full or broken is none of
/// these: written in its place, the file would be lost as well.
static int is_no_place_for_a_part(int number) {
    return number == EACCES || number == EPERM || number == EROFS || number == ENAMETOOLONG || number == ELOOP ||
           number == EISDIR;
}

static void free_paths(kki_output_file *f) {
    if (f->path) {
        kki_release(&f->allocator, f->path, f->size);
        kki_release(&f->allocator, f->part, f->size);
    }
    f->path = f->part = NULL;
}

static kk_status keep_paths(kki_output_file *f, const char *path) {
    const size_t length = strlen(path);
    f->size = length + sizeof ENDING;
    f->path = kki_allocate(&f->allocator, f->size);
    f->part = kki_allocate(&f->allocator, f->size);
    if (!f->path || !f->part) {
        kki_release(&f->allocator, f->path, f->path ? f->size : 0);
        kki_release(&f->allocator, f->part, f->part ? f->size : 0);
        f->path = f->part = NULL;
        return KK_OUT_OF_MEMORY;
    }
    memcpy(f->path, path, length + 1);
    memcpy(f->part, path, length);
    memcpy(f->part + length, ENDING, sizeof ENDING);
    return KK_OK;
}

static kk_status open_as_it_is(kki_output_file *f, const char *path, kk_error *error) {
    f->descriptor = open_to_write(path, O_TRUNC);
    return f->descriptor < 0 ? cannot_write(path, error) : KK_OK;
}

static kk_status open_aside(kki_output_file *f, const char *path, const struct stat *old, kk_error *error) {
    (void)old; // unused where files have no rights
    if (keep_paths(f, path) != KK_OK) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, path, 0, 0, "out of memory for a file's name");
    }
    f->descriptor = open_part(f->part);
    if (f->descriptor == -2) {
        free_paths(f);
        f->descriptor = -1;
        return kki_error_at(error, KK_IO, path, 0, 0,
                            "another program is writing this file — wait for it, or name another file");
    }
    if (f->descriptor < 0) {
        const int number = errno;
        free_paths(f);
        return is_no_place_for_a_part(number) ? open_as_it_is(f, path, error) : cannot_write(path, error);
    }
#ifndef __wasi__
    if (old && fchmod(f->descriptor, old->st_mode & 07777) != 0) {
        kki_output_close(f, 0);
        return cannot_write(path, error);
    }
#endif
    return KK_OK;
}

kk_status kki_output_open(kki_output_file *file, const char *path, const kk_allocator *allocator, kk_error *error) {
    struct stat old;
    *file = kki_output_none();
    file->allocator = kki_allocator_or_default(allocator);
    if (lstat(path, &old) != 0) {
        const int is_new = errno == ENOENT || errno == EACCES || errno == ENAMETOOLONG;
        return is_new ? open_aside(file, path, NULL, error) : cannot_write(path, error);
    }
    if (!S_ISREG(old.st_mode) || old.st_nlink > 1) {
        return open_as_it_is(file, path, error);
    }
    if (access(path, W_OK) != 0) {
        return cannot_write(path, error);
    }
    return open_aside(file, path, &old, error);
}

int kki_output_write(const kki_output_file *file, const void *bytes, size_t size) {
    const char *from = bytes;
    while (size > 0) {
        const ssize_t written = write(file->descriptor, from, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return -1;
        }
        from += written;
        size -= (size_t)written;
    }
    return 0;
}

/// To the disk; what cannot be synced, a pipe for one, is as far as it gets.
static int sync_file(int descriptor) {
    int result = fsync(descriptor);
    while (result != 0 && errno == EINTR) {
        result = fsync(descriptor);
    }
    return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : -1;
}

int kki_output_close(kki_output_file *file, int is_whole) {
    if (file->descriptor < 0) {
        return 0;
    }
    int result = 0;
    if (file->path && is_whole) { // the lock is held until the part has its place
        result = sync_file(file->descriptor) != 0 || rename(file->part, file->path) != 0 ? -1 : 0;
    }
    result = close(file->descriptor) != 0 && errno != EINTR ? -1 : result;
    file->descriptor = -1;
    free_paths(file);
    return result;
}

kk_status kk_file_write(const char *path, const void *bytes, size_t size, kk_error *error) {
    if (kki_is_missing(path) || (size > 0 && !bytes)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kki_output_file file;
    kk_status status = kki_output_open(&file, path, NULL, error);
    if (status != KK_OK) {
        return status;
    }
    const int failed = kki_output_write(&file, bytes, size) != 0;
    const int is_closed = kki_output_close(&file, !failed) == 0;
    return !failed && is_closed ? KK_OK
                                : kki_error_at(error, KK_IO, path, 0, 0,
                                               "the file could not be written — is the disk full, or the reader gone?");
}
