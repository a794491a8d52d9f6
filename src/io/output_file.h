// Files that are written: whole, or not at all. What is written goes to PATH.part beside the file, which takes the file's place when all of it has reached the disk;
// a program that is killed leaves the old file and the part. Two writers of one file are told apart by a lock on the part.
//
// Pipes, devices and links are written as they are.
#ifndef KARAKURI_IO_OUTPUT_FILE_H
#define KARAKURI_IO_OUTPUT_FILE_H

#include <karakuri/allocator.h>
#include <karakuri/status.h>
#include <stddef.h>

typedef struct kki_output_file {
    kk_allocator allocator;
    int descriptor; ///< −1: not open
    size_t size;    ///< of each of both paths, with its zero byte
    char *path;     ///< NULL where the file is written as it is
    char *part;
} kki_output_file;

/// A file that is not open.
static inline kki_output_file kki_output_none(void) {
    return (kki_output_file){.descriptor = -1};
}
/// KK_IO where the file cannot be written, or another program is at it.
kk_status kki_output_open(kki_output_file *file, const char *path, const kk_allocator *allocator, kk_error *error);
/// All of the bytes. @return 0, or −1
int kki_output_write(const kki_output_file *file, const void *bytes, size_t size);
/// Closes it. @param is_whole  the part takes the file's place; else it stays, for whoever can use it. @return 0, or −1 where the bytes did not reach the disk
int kki_output_close(kki_output_file *file, int is_whole);

#endif
