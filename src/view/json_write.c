/// JSON writing; see json_write.h. A failed allocation is remembered and told at the end.
#include "view/json_write.h"

#include <string.h>

#include <karakuri/json.h>
#include <karakuri/number.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"

static bool make_room(kki_json_writer *w, size_t more) {
    if (w->is_out_of_memory || w->room - w->length >= more) {
        return !w->is_out_of_memory;
    }
    const size_t room = 2 * (w->length + more) + 4096;
    char *text = kki_allocate(&w->allocator, room);
    if (!text) {
        w->is_out_of_memory = true;
        return false;
    }
    if (w->length) {
        memcpy(text, w->text, w->length);
    }
    kki_release(&w->allocator, w->text, w->room);
    w->text = text;
    w->room = room;
    return true;
}

static void add(kki_json_writer *w, const char *bytes, size_t count) {
    if (make_room(w, count)) {
        memcpy(w->text + w->length, bytes, count);
        w->length += count;
    }
}

// ---- strings

static void add_string(kki_json_writer *w, const char *value) {
    char bytes[KK_JSON_CHARACTER_SIZE];
    size_t count;
    add(w, "\"", 1);
    for (size_t n; (n = kk_json_character(value, bytes, &count)) > 0; value += n) {
        add(w, bytes, count);
    }
    add(w, "\"", 1);
}

// ---- members

static void begin(kki_json_writer *w, const char *key) {
    if (w->has_member) {
        add(w, ",", 1);
    }
    if (key) {
        add_string(w, key);
        add(w, ":", 1);
    }
    w->has_member = true;
}

void kki_json_open(kki_json_writer *w, const char *key, char bracket) {
    begin(w, key);
    add(w, &bracket, 1);
    w->has_member = false;
}

void kki_json_close(kki_json_writer *w, char bracket) {
    add(w, &bracket, 1);
    w->has_member = true;
}

void kki_json_put_string(kki_json_writer *w, const char *key, const char *value) {
    begin(w, key);
    if (value) {
        add_string(w, value);
    } else {
        add(w, "null", 4);
    }
}

void kki_json_put_number(kki_json_writer *w, const char *key, double value) {
    char text[KK_NUMBER_TEXT_SIZE] = "null";
    begin(w, key);
    add(w, text, kki_is_finite(value) ? kk_number_format(value, text) : 4);
}

void kki_json_put_int(kki_json_writer *w, const char *key, int64_t value) {
    char text[KK_NUMBER_TEXT_SIZE];
    begin(w, key);
    add(w, text, kk_number_format_int(value, text));
}

void kki_json_put_bool(kki_json_writer *w, const char *key, bool value) {
    begin(w, key);
    add(w, value ? "true" : "false", value ? 4 : 5);
}

void kki_json_put_numbers(kki_json_writer *w, const char *key, const double *values, int count) {
    kki_json_open(w, key, '[');
    for (int i = 0; i < count; i++) {
        kki_json_put_number(w, NULL, values[i]);
    }
    kki_json_close(w, ']');
}

void kki_json_put_vec3(kki_json_writer *w, const char *key, kk_vec3 v) {
    kki_json_put_numbers(w, key, (const double[]){v.x, v.y, v.z}, 3);
}

void kki_json_put_pose(kki_json_writer *w, const char *key, kk_transform X) {
    const kk_quat q = kk_quat_from_mat3(X.R);
    kki_json_put_numbers(w, key, (const double[]){q.w, q.x, q.y, q.z, X.p.x, X.p.y, X.p.z}, 7);
}

kk_status kki_json_finish(kki_json_writer *w, char **text, size_t *size, kk_error *error) {
    char *exact = w->is_out_of_memory ? NULL : kki_allocate(&w->allocator, w->length + 1);
    if (exact) {
        memcpy(exact, w->text, w->length);
        exact[w->length] = 0;
        *size = w->length;
    }
    kki_release(&w->allocator, w->text, w->room);
    w->text = NULL;
    *text = exact;
    return exact ? KK_OK : kki_error_set(error, KK_OUT_OF_MEMORY, "describing the model: out of memory");
}
