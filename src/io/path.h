/// Paths as texts in buffers of KKI_PATH_SIZE.
#ifndef KARAKURI_IO_PATH_H
#define KARAKURI_IO_PATH_H

#include "file.h"

bool kki_path_is_absolute(const char *path);

/// first/second, with one '/' between them; `second` alone where it is absolute or `first` is empty. False where that is
/// too long. The result may be `first`.
bool kki_path_join(const char *first, const char *second, char result[KKI_PATH_SIZE]);

/// The directory that a path is in: "a/b" for "a/b/c", "" for "c", "/" for "/c". False for "" and "/", which have none.
bool kki_path_parent(const char *path, char result[KKI_PATH_SIZE]);

/// The path of a file from a directory, both canonical or both relative. False where that is too long.
bool kki_path_from(const char *directory, const char *file, char result[KKI_PATH_SIZE]);

/// What stands after the last '/'.
const char *kki_path_last(const char *path);

/// True where the path is the directory or below it; both are canonical.
bool kki_path_is_below(const char *path, const char *directory);

/// Where a link leads: its target in `target`, its length given back; 0 where the path is no link, -1 on a fault.
typedef int kki_path_read_link(void *user, const char *path, char target[KKI_PATH_SIZE]);

/// Takes ".", ".." and links out of a path. KK_INVALID_ARGUMENT where ".." leads above the start of a relative path,
/// KK_LIMIT_EXCEEDED where it is too long or goes through more than 40 links.
kk_status kki_path_canonical(const char *path, kki_path_read_link *read_link, void *user, char result[KKI_PATH_SIZE]);

#endif
