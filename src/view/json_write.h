/// Writing JSON (RFC 8259) into memory that grows: one document, no blanks.
#ifndef KKI_VIEW_JSON_WRITE_H
#define KKI_VIEW_JSON_WRITE_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/math.h>
#include <karakuri/status.h>

typedef struct kki_json_writer {
    kk_allocator allocator;
    char *text; ///< [room], not zero-terminated
    size_t length, room;
    bool has_member; ///< a comma is due before the next
    bool is_out_of_memory;
} kki_json_writer;

void kki_json_open(kki_json_writer *w, const char *key, char bracket);
void kki_json_close(kki_json_writer *w, char bracket);
/// `key` is NULL for members of arrays. NULL becomes null; bytes that are not UTF-8 become U+FFFD.
void kki_json_put_string(kki_json_writer *w, const char *key, const char *value);
/// null where it is not finite.
void kki_json_put_number(kki_json_writer *w, const char *key, double value);
void kki_json_put_int(kki_json_writer *w, const char *key, int64_t value);
void kki_json_put_bool(kki_json_writer *w, const char *key, bool value);
void kki_json_put_numbers(kki_json_writer *w, const char *key, const double *values, int count);
void kki_json_put_vec3(kki_json_writer *w, const char *key, kk_vec3 v);
/// [w, x, y, z, px, py, pz].
void kki_json_put_pose(kki_json_writer *w, const char *key, kk_transform X);

/// The text with a zero behind it in a block of exactly *size + 1 bytes; frees the writer.
kk_status kki_json_finish(kki_json_writer *w, char **text, size_t *size, kk_error *error);

#endif
