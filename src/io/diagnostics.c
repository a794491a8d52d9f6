/// The list of findings: fixed capacity, a hash table for what is reported once, and one block for each item's strings.
#include "diagnostics.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"

static size_t slot_count(const kki_diagnostics *list) {
    return 2 * (size_t)list->capacity + 1;
}

kk_status kki_diagnostics_create(kki_diagnostics *list, const kk_allocator *allocator, int limit) {
    memset(list, 0, sizeof *list);
    list->allocator = kki_allocator_or_default(allocator);
    list->limit = list->capacity = limit > 0 ? limit : KKI_DIAGNOSTICS_LIMIT;
    list->item = kki_allocate_array_zeroed(&list->allocator, (size_t)list->capacity, sizeof *list->item);
    list->slot = kki_allocate_array_zeroed(&list->allocator, slot_count(list), sizeof *list->slot);
    if (!list->item || !list->slot) {
        kki_diagnostics_destroy(list);
        return KK_OUT_OF_MEMORY;
    }
    return KK_OK;
}

/// Bytes of the block with the strings of an item.
static size_t strings_size(const char *file, const char *text, const char *remedy) {
    return strlen(file) + strlen(text) + strlen(remedy) + 3;
}

static void release_strings(kki_diagnostics *list, int first) {
    for (int i = first; list->item && i < list->count; i++) {
        const kki_diagnostic *d = &list->item[i];
        kki_release(&list->allocator, d->strings, strings_size(d->file, d->text, d->remedy));
    }
}

void kki_diagnostics_destroy(kki_diagnostics *list) {
    release_strings(list, 0);
    kki_release_array(&list->allocator, list->item, (size_t)list->capacity, sizeof *list->item);
    kki_release_array(&list->allocator, list->slot, slot_count(list), sizeof *list->slot);
    memset(list, 0, sizeof *list);
}

/// The slot of a key: its own, or the empty one where it would go. There always is one, for half of them stay empty.
static int32_t *find_slot(const kki_diagnostics *list, uint64_t key) {
    size_t i = (size_t)(key % slot_count(list));
    while (list->slot[i] != 0 && list->item[list->slot[i] - 1].key != key) {
        i = (i + 1) % slot_count(list);
    }
    return &list->slot[i];
}

void kki_diagnostics_cut(kki_diagnostics *list, int kept) {
    kept = kept < list->count ? kept : list->count;
    release_strings(list, kept);
    memset(list->slot, 0, slot_count(list) * sizeof *list->slot);
    *list = (kki_diagnostics){.allocator = list->allocator,
                              .item = list->item,
                              .slot = list->slot,
                              .count = kept,
                              .capacity = list->capacity,
                              .limit = list->limit};
    for (int i = 0; i < kept; i++) {
        list->counts[list->item[i].severity]++;
        if (list->item[i].key != 0) {
            *find_slot(list, list->item[i].key) = i + 1;
        }
    }
}

static const char *append(char **end, const char *text) {
    const size_t size = strlen(text) + 1;
    char *start = *end;
    memcpy(start, text, size);
    *end += size;
    return start;
}

/// Without whether it was repaired.
static kki_severity plain(kki_severity severity) {
    return severity == KKI_REPAIRED_WARNING ? KKI_WARNING : severity == KKI_REPAIRED_ERROR ? KKI_ERROR : severity;
}

static void store(kki_diagnostics *list, const kki_finding *f) {
    const char *file = f->file ? f->file : "", *text = f->text ? f->text : "", *remedy = f->remedy ? f->remedy : "";
    char *block = list->count < list->limit ? kki_allocate(&list->allocator, strings_size(file, text, remedy)) : NULL;
    if (!block) {
        list->dropped++;
        return;
    }
    kki_diagnostic *d = &list->item[list->count++];
    *d = (kki_diagnostic){.severity = plain(f->severity),
                          .status = f->status,
                          .line = f->line,
                          .column = f->column,
                          .key = f->key,
                          .strings = block,
                          .is_repaired = f->severity > KKI_ERROR};
    d->file = append(&block, file);
    d->text = append(&block, text);
    d->remedy = append(&block, remedy);
    if (f->key != 0) {
        *find_slot(list, f->key) = list->count;
    }
}

/// The first error keeps its remedy in its text.
static void keep_first(kki_diagnostics *list, const kki_finding *f) {
    const bool has_remedy = f->remedy && f->remedy[0];
    kki_error_at(&list->first, f->status, f->file, f->line, f->column, "%s%s%s", f->text ? f->text : "",
                 has_remedy ? "; " : "", has_remedy ? f->remedy : "");
    list->has_error = true;
}

kk_status kki_diagnostics_add(kki_diagnostics *list, const kki_finding *finding) {
    if (finding->key != 0) {
        const int32_t known = *find_slot(list, finding->key);
        if (known != 0) {
            list->item[known - 1].repeats++;
            return finding->status;
        }
    }
    list->counts[plain(finding->severity)]++;
    if (finding->severity == KKI_ERROR && !list->has_error) {
        keep_first(list, finding);
    }
    store(list, finding);
    return finding->status;
}

kk_status kki_diagnostics_add_error(kki_diagnostics *list, const kk_error *error) {
    const kki_finding finding = {.severity = KKI_ERROR,
                                 .status = error->status,
                                 .file = error->file,
                                 .line = error->line,
                                 .column = error->column,
                                 .text = error->text};
    const bool is_first = !list->has_error;
    const kk_status status = kki_diagnostics_add(list, &finding);
    if (is_first && list->has_error) {
        memcpy(list->first.trail, error->trail, sizeof error->trail);
    }
    return status;
}

kk_status kki_diagnostics_outcome(const kki_diagnostics *list, kk_error *error) {
    if (!list->has_error) {
        return KK_OK;
    }
    if (error) {
        *error = list->first;
    }
    return list->first.status;
}

const char *kki_severity_name(kki_severity severity) {
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

static uint64_t hash_string(uint64_t h, const char *text) {
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 0x100000001b3u; // FNV-1a
    }
    return (h ^ 0xff) * 0x100000001b3u; // an end that no text contains
}

uint64_t kki_diagnostics_key(const char *kind, const char *a, const char *b) {
    const uint64_t h = hash_string(hash_string(hash_string(0xcbf29ce484222325u, kind), a), b);
    return h ? h : 1;
}
