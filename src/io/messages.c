/// The public list of findings; see messages.h.
#include "io/messages.h"

#include "base/allocator.h"
#include "base/missing.h"

kk_status kk_messages_create(const kk_allocator *allocator, kk_messages **messages) {
    if (kki_is_missing(messages)) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_allocator own = kki_allocator_or_default(allocator);
    *messages = NULL;
    kk_messages *made = kki_allocate(&own, sizeof *made);
    if (!made) {
        return KK_OUT_OF_MEMORY;
    }
    made->allocator = own;
    const kk_status status = kki_diagnostics_create(&made->list, &own, 0);
    if (status != KK_OK) {
        kki_release(&own, made, sizeof *made);
        return status;
    }
    *messages = made;
    return KK_OK;
}

void kk_messages_free(kk_messages *messages) {
    if (messages) {
        const kk_allocator allocator = messages->allocator;
        kki_diagnostics_destroy(&messages->list);
        kki_release(&allocator, messages, sizeof *messages);
    }
}

int kk_messages_count(const kk_messages *messages) {
    return messages->list.count;
}

kk_message kk_messages_get(const kk_messages *messages, int index) {
    if (index < 0 || index >= messages->list.count) {
        return (kk_message){.file = "", .text = "", .remedy = ""};
    }
    const kki_diagnostic *d = &messages->list.item[index];
    return (kk_message){.severity = (kk_severity)d->severity,
                        .status = d->status,
                        .file = d->file,
                        .line = d->line,
                        .column = d->column,
                        .text = d->text,
                        .remedy = d->remedy,
                        .repeats = d->repeats,
                        .repaired = d->is_repaired};
}

int kk_messages_count_of(const kk_messages *messages, kk_severity severity) {
    const int s = (int)severity;
    return s >= KK_SEVERITY_NOTE && s <= KK_SEVERITY_ERROR ? messages->list.counts[s] : 0;
}

const char *kk_severity_name(kk_severity severity) {
    return (unsigned)severity <= KK_SEVERITY_ERROR ? kki_severity_name((kki_severity)severity) : "";
}
