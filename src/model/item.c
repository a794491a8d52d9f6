/// How messages name an item of the spec, and where it was written.
#include "model/item.h"

#include <stdarg.h>

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
    return kki_error_at(error, status, at->file, at->line, at->column, "%s %d: %s", item.kind, item.id, text);
}
