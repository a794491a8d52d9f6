/// How messages name an item of the spec, and where it was written.
#include "model/item.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/print.h"

kki_item kki_item_make(const char *kind, int id, const char *name, const kk_origin *origin) {
    return (kki_item){.kind = kind, .name = name ? name : "", .suffix = "", .id = id, .origin = *origin};
}

kki_item kki_item_body(const kk_body_def *body) {
    return kki_item_make("body", -1, body->name, &body->origin);
}

kki_item kki_item_joint(const kk_body_def *body) {
    const kk_origin *origin = body->joint.origin.file ? &body->joint.origin : &body->origin;
    if (body->joint.name && body->joint.name[0]) {
        return kki_item_make("joint", -1, body->joint.name, origin);
    }
    kki_item item = kki_item_make("joint", -1, body->name, origin);
    item.suffix = "_joint";
    return item;
}

kki_item kki_item_coupling(const kk_coupling_def *coupling) {
    if (coupling->name && coupling->name[0]) {
        return kki_item_make("coupling", -1, coupling->name, &coupling->origin);
    }
    return kki_item_make("coupling of", -1, coupling->follower, &coupling->origin);
}

/// What something without a name is in a file, whose reader sees the place and knows nothing of our numbers.
static const char *words_of(const char *kind) {
    static const char *const words[][2] = {{"pair", "this contact pair"}, {"actuator", "this actuator"},
                                           {"loop", "this closed loop"},  {"material", "these contact parameters"},
                                           {"shape", "this shape"},       {"sensor", "this sensor"},
                                           {"keyframe", "this keyframe"}, {"tendon", "this tendon"},
                                           {"coupling", "this coupling"}, {"frame", "this site or frame"},
                                           {"exclude", "this exclusion"}, {"look", "this look"},
                                           {"mesh", "this mesh"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(kind, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return kind;
}

kk_status kki_item_error(kk_error *error, kk_status status, kki_item item, const char *format, ...) {
    char text[KK_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    const kk_origin *at = &item.origin;
    if (item.name[0] || item.id < 0) {
        return kki_error_at(error, status, at->file, at->line, at->column, "%s \"%s%s\": %s", item.kind, item.name,
                            item.suffix, text);
    }
    return at->file && at->file[0] && at->line > 0
               ? kki_error_at(error, status, at->file, at->line, at->column, "%s: %s", words_of(item.kind), text)
               : kki_error_at(error, status, at->file, at->line, at->column, "%s %d: %s", item.kind, item.id, text);
}
