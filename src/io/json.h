// A small strict JSON reader (RFC 8259): the whole text as one array of tokens, no recursion.
//
// Tokens stand in the order of the text. An object holds key, value, key, value, ...; `next` jumps over a token with all
// it holds. Strings are kept as written, between their quotes, with escapes. Depth is bounded, and memory is 16 bytes
// for each value, known before it is taken.
#ifndef KARAKURI_IO_JSON_H
#define KARAKURI_IO_JSON_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

enum { KKI_JSON_NONE = -1, KKI_JSON_DEPTH = 64 };

typedef enum kki_json_kind {
    KKI_JSON_OBJECT,
    KKI_JSON_ARRAY,
    KKI_JSON_STRING,
    KKI_JSON_NUMBER,
    KKI_JSON_TRUE,
    KKI_JSON_FALSE,
    KKI_JSON_NULL,
} kki_json_kind;

typedef struct kki_json_token {
    uint32_t kind;
    uint32_t start;  ///< byte of the text; of a string the one behind the quote
    uint32_t length; ///< bytes of a string or number; of an object or array the number of members
    int32_t next;
} kki_json_token;

typedef struct kki_json {
    kk_allocator allocator;
    const char *text; ///< not copied
    size_t length;
    kki_json_token *token; ///< [count], the first is the whole
    int32_t count;
    size_t room;
} kki_json;

/// Reads a text of less than 2 GiB. `file` may be NULL. On failure nothing is to be freed.
kk_status kki_json_parse(const char *text, size_t length, const char *file, const kk_allocator *allocator,
                         kki_json *json, kk_error *error);
void kki_json_free(kki_json *json);

bool kki_json_is(const kki_json *json, int32_t token, kki_json_kind kind);
/// Value of an object's member, KKI_JSON_NONE where it has none of that name or is no object (or none itself).
int32_t kki_json_member(const kki_json *json, int32_t object, const char *name);
/// First value of an array, and the one behind another; KKI_JSON_NONE at the end.
int32_t kki_json_first(const kki_json *json, int32_t array);
int32_t kki_json_after(const kki_json *json, int32_t array, int32_t value);
/// Members of an object or array, 0 for anything else.
int32_t kki_json_size(const kki_json *json, int32_t token);
/// Byte of the text where a token starts, 0 for none.
size_t kki_json_place(const kki_json *json, int32_t token);
/// A string as written; of length 0 for anything else.
const char *kki_json_string(const kki_json *json, int32_t token, size_t *length);
/// False, and nothing happens, unless the token is a number that is finite.
bool kki_json_number(const kki_json *json, int32_t token, double *value);
/// The same for whole numbers in 0 .. most.
bool kki_json_index(const kki_json *json, int32_t token, int64_t most, int64_t *value);

#endif
