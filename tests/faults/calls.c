// Makes system calls fail: a library that is loaded before the C library (LD_PRELOAD) and stands in front of its calls.
//
//   KK_FAULT=write:3:EIO              the third write fails with EIO
//   KK_FAULT=write:3+:ENOSPC,open:2+:ENOSPC   from the third write and the second opening on
//   KK_FAULT=write:1+:short           every write takes half of what it is given
//   KK_FAULT_COUNT=FILE               how often each call was made is written there at the end
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum call {
    OPEN,
    WRITE,
    READ,
    FSYNC,
    RENAME,
    CLOSE,
    FTRUNCATE,
    FLOCK,
    FCHMOD,
    FSTAT,
    STAT,
    LSTAT,
    ACCESS,
    MKDIR,
    FOPEN,
    FREAD,
    FWRITE,
    FFLUSH,
    FCLOSE,
    CALLS
};
static const char *const names[CALLS] = {"open",  "write",  "read",   "fsync",  "rename", "close",  "ftruncate",
                                         "flock", "fchmod", "fstat",  "stat",   "lstat",  "access", "mkdir",
                                         "fopen", "fread",  "fwrite", "fflush", "fclose"};
static long made[CALLS];

enum { SHORT = -1 };
static const struct {
    const char *name;
    int number;
} faults[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},   {"EACCES", EACCES},
              {"EROFS", EROFS},   {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EDQUOT", EDQUOT},
              {"ENOLCK", ENOLCK}, {"EPERM", EPERM},   {"short", SHORT}};

static int number_of(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (strlen(faults[i].name) == length && strncmp(word, faults[i].name, length) == 0) {
            return faults[i].number;
        }
    }
    abort();
}

/// What this call is to meet: 0, an error's number, or SHORT.
static int fault(enum call call) {
    const long count = ++made[call];
    const size_t length = strlen(names[call]);
    for (const char *at = getenv("KK_FAULT"); at && *at;) {
        const size_t size = strcspn(at, ",");
        if (strncmp(at, names[call], length) == 0 && at[length] == ':') {
            char *end;
            const long number = strtol(at + length + 1, &end, 10);
            const int goes_on = *end == '+';
            const char *word = end + goes_on + 1;
            if (count == number || (goes_on && count > number)) {
                return number_of(word, (size_t)(at + size - word));
            }
        }
        at += size + (at[size] == ',');
    }
    return 0;
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("KK_FAULT_COUNT");
    FILE *(*open_it)(const char *, const char *);
    int (*close_it)(FILE *);
    *(void **)&open_it = dlsym(RTLD_NEXT, "fopen");
    *(void **)&close_it = dlsym(RTLD_NEXT, "fclose");
    FILE *file = path ? open_it(path, "w") : NULL;
    for (int i = 0; i < CALLS && file; i++) {
        fprintf(file, "%s %ld\n", names[i], made[i]);
    }
    if (file) {
        close_it(file);
    }
}

// The call of the C library, and what it gives where it fails.
#define BEHIND(result, ...) static result (*behind)(__VA_ARGS__)
#define FIND(name) (behind ? (void)0 : (void)(*(void **)&behind = dlsym(RTLD_NEXT, name)))
#define FAIL(call, value)            \
    const int problem = fault(call); \
    if (problem > 0) {               \
        errno = problem;             \
        return value;                \
    }

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    FAIL(OPEN, -1)
    BEHIND(int, const char *, int, ...);
    FIND("open");
    return behind(path, flags, mode);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    FAIL(WRITE, -1)
    BEHIND(ssize_t, int, const void *, size_t);
    FIND("write");
    return behind(descriptor, bytes, problem == SHORT && size > 1 ? size / 2 : size);
}

ssize_t read(int descriptor, void *bytes, size_t size) {
    FAIL(READ, -1)
    BEHIND(ssize_t, int, void *, size_t);
    FIND("read");
    return behind(descriptor, bytes, problem == SHORT && size > 1 ? size / 2 : size);
}

#define SIMPLE(call, name, parameters, arguments, types) \
    int name parameters {                                \
        FAIL(call, -1)                                   \
        BEHIND(int, types);                              \
        FIND(#name);                                     \
        return behind arguments;                         \
    }
#define TYPES(...) __VA_ARGS__
SIMPLE(FSYNC, fsync, (int descriptor), (descriptor), int)
SIMPLE(RENAME, rename, (const char *from, const char *to), (from, to), TYPES(const char *, const char *))
SIMPLE(FTRUNCATE, ftruncate, (int descriptor, off_t size), (descriptor, size), TYPES(int, off_t))
SIMPLE(FLOCK, flock, (int descriptor, int what), (descriptor, what), TYPES(int, int))
SIMPLE(FCHMOD, fchmod, (int descriptor, mode_t mode), (descriptor, mode), TYPES(int, mode_t))
SIMPLE(FSTAT, fstat, (int descriptor, struct stat *s), (descriptor, s), TYPES(int, struct stat *))
SIMPLE(STAT, stat, (const char *path, struct stat *s), (path, s), TYPES(const char *, struct stat *))
SIMPLE(LSTAT, lstat, (const char *path, struct stat *s), (path, s), TYPES(const char *, struct stat *))
SIMPLE(ACCESS, access, (const char *path, int mode), (path, mode), TYPES(const char *, int))
SIMPLE(MKDIR, mkdir, (const char *path, mode_t mode), (path, mode), TYPES(const char *, mode_t))

/// Closed all the same, as the kernel does.
int close(int descriptor) {
    BEHIND(int, int);
    FIND("close");
    const int result = behind(descriptor);
    FAIL(CLOSE, -1)
    return result;
}

FILE *fopen(const char *path, const char *mode) {
    FAIL(FOPEN, NULL)
    BEHIND(FILE *, const char *, const char *);
    FIND("fopen");
    return behind(path, mode);
}

size_t fread(void *bytes, size_t size, size_t count, FILE *file) {
    FAIL(FREAD, 0)
    BEHIND(size_t, void *, size_t, size_t, FILE *);
    FIND("fread");
    return behind(bytes, size, count, file);
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    FAIL(FWRITE, 0)
    BEHIND(size_t, const void *, size_t, size_t, FILE *);
    FIND("fwrite");
    return behind(bytes, size, count, file);
}

int fflush(FILE *file) {
    FAIL(FFLUSH, EOF)
    BEHIND(int, FILE *);
    FIND("fflush");
    return behind(file);
}

int fclose(FILE *file) {
    BEHIND(int, FILE *);
    FIND("fclose");
    const int result = behind(file);
    FAIL(FCLOSE, EOF)
    return result;
}
