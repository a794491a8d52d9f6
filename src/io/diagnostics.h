/// What is wrong with a file, as a list: errors, warnings and notes with place, reason and remedy.
///
/// A loader adds what it finds and goes on as long as it makes sense; the doctor prints the list, and a plain load ends
/// with the first error of it. The list is bounded: what comes later is only counted. Something that stands a thousand
/// times in a file (an unknown attribute) is reported once by a key, with the place of the first.
#ifndef KARAKURI_IO_DIAGNOSTICS_H
#define KARAKURI_IO_DIAGNOSTICS_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

/// The last two are for kki_diagnostics_add alone: a warning or an error whose cause was repaired, so that a load goes on.
typedef enum kki_severity { KKI_NOTE, KKI_WARNING, KKI_ERROR, KKI_REPAIRED_WARNING, KKI_REPAIRED_ERROR } kki_severity;

typedef struct kki_diagnostic {
    kki_severity severity;
    kk_status status;   ///< of an error; KK_OK for the others
    int line, column;   ///< from 1; 0 unknown
    int repeats;        ///< how often it was reported again
    const char *file;   ///< strings live as long as the list
    const char *text;   ///< what is wrong
    const char *remedy; ///< what to do about it; may be ""
    uint64_t key;       ///< of what is reported once; 0 else
    char *strings;      ///< the block that holds the three
    bool is_repaired;   ///< the spec has it no more
} kki_diagnostic;

typedef struct kki_diagnostics {
    kk_allocator allocator;
    kki_diagnostic *item; ///< in the order they were found
    int count, capacity, limit;
    int counts[3];  ///< by severity, with those that did not fit; repaired errors are errors, too
    int dropped;    ///< that did not fit
    int32_t *slot;  ///< hash table of keys: item + 1, 0 empty
    kk_error first; ///< the first error
    bool has_error;
} kki_diagnostics;

enum { KKI_DIAGNOSTICS_LIMIT = 1000 };

/// Makes an empty list for at most `limit` items (0: KKI_DIAGNOSTICS_LIMIT). Allocates; what is added later allocates
/// only the texts.
kk_status kki_diagnostics_create(kki_diagnostics *list, const kk_allocator *allocator, int limit);
void kki_diagnostics_destroy(kki_diagnostics *list);
/// Takes away what was added after the first `kept`, none of which is an error.
void kki_diagnostics_cut(kki_diagnostics *list, int kept);

/// A place and a reason; `status` matters for errors only.
typedef struct kki_finding {
    kki_severity severity;
    kk_status status;
    const char *file;
    int line, column;
    const char *text, *remedy;
    uint64_t key; ///< not 0: report it once, and count the others
} kki_finding;

/// Copies it into the list. Gives back finding->status, so that a failing function can end with it; where memory ran
/// out the item is counted as dropped, and the first error is kept in any case.
kk_status kki_diagnostics_add(kki_diagnostics *list, const kki_finding *finding);

/// Adds an error that another call gave.
kk_status kki_diagnostics_add_error(kki_diagnostics *list, const kk_error *error);

/// The first error as the outcome of a load: KK_OK where there is none. `error` may be NULL.
kk_status kki_diagnostics_outcome(const kki_diagnostics *list, kk_error *error);

/// "error", "warning", "note".
const char *kki_severity_name(kki_severity severity);

/// A key of a kind of finding and two names, never 0.
uint64_t kki_diagnostics_key(const char *kind, const char *a, const char *b);

#endif
