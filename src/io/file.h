/// Reading whole files: from the system, or from memory where there is none (a browser's dropped files).
///
/// A source of files is a table of three functions, so that everything above works the same in a browser. The system's
/// reads regular files only, no larger than asked for; directories, devices, sockets and FIFOs are refused before
/// anything is read from them. Paths are texts with '/' between the parts.
#ifndef KARAKURI_IO_FILE_H
#define KARAKURI_IO_FILE_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

/// Room for any path, with its zero byte. Longer ones are KK_LIMIT_EXCEEDED.
enum { KKI_PATH_SIZE = 1024 };

typedef enum kki_file_kind { KKI_FILE_MISSING, KKI_FILE_REGULAR, KKI_FILE_DIRECTORY, KKI_FILE_OTHER } kki_file_kind;

/// Bytes of a file; a zero byte follows them.
typedef struct kki_file_data {
    char *bytes;
    size_t size;
} kki_file_data;

typedef struct kki_file_source {
    /// What is at the path, behind symbolic links.
    kki_file_kind (*kind)(void *user, const char *path);
    /// The path without links, "." and ".."; two names of one file become the same. The last parts need not exist.
    kk_status (*canonical)(void *user, const char *path, char result[KKI_PATH_SIZE]);
    /// Reads a file of at most `most` bytes into a block of `allocator`, for kki_file_release.
    kk_status (*read)(void *user, const char *path, size_t most, const kk_allocator *allocator, kki_file_data *data,
                      kk_error *error);
    void *user;
} kki_file_source;

/// The system's files.
kki_file_source kki_file_source_system(void);

/// A file in memory; nothing is copied.
typedef struct kki_memory_file {
    const char *path;
    const char *bytes;
    size_t size;
} kki_memory_file;

typedef struct kki_memory_files {
    const kki_memory_file *file;
    int count;
} kki_memory_files;

/// Files in memory: a path is a file where it is one of theirs, and a directory where one of theirs is below it.
/// NULL: none.
kki_file_source kki_file_source_memory(kki_memory_files *files);

void kki_file_release(kki_file_data *data, const kk_allocator *allocator);

// ---- for sources of files

/// A block for a file's bytes, with the zero byte after them.
kk_status kki_file_block(size_t size, const char *path, const kk_allocator *allocator, kki_file_data *data,
                         kk_error *error);
kk_status kki_file_fail_large(size_t size, size_t most, const char *path, kk_error *error);
/// "cannot <verb> <path>: <why>".
kk_status kki_file_fail(const char *path, const char *verb, kk_status status, const char *why, kk_error *error);
kk_status kki_file_fail_missing(const char *path, const char *verb, kk_error *error);

#endif
