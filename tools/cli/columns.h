/// Names of columns: which number of a joint each one is. The rules are in docs/guide/columns.md.
#ifndef KARAKURI_CLI_COLUMNS_H
#define KARAKURI_CLI_COLUMNS_H

#include "cli.h"

/// What a joint's column holds.
typedef enum column_kind { COLUMN_Q, COLUMN_V, COLUMN_A, COLUMN_TAU, COLUMN_POWER, COLUMN_KINDS } column_kind;

/// A growing list of named columns.
typedef struct column_list {
    kk_table_column *item; ///< names and units are owned
    int count, capacity;
} column_list;

void columns_add(column_list *list, const char *name, const char *unit);
void columns_free(column_list *list);

/// "" for joints with one coordinate, else ".qw", ".wx", ".angle", …; k counts the joint's coordinates (q) or degrees of freedom.
const char *column_suffix(kk_joint_type type, column_kind kind, int k);
const char *column_unit(kk_joint_type type, column_kind kind, int k);
/// "hip.q", "base.v.wx" of the joint of a body, and "hip", "base.wx" where `word` is empty; into a buffer that is emptied first.
void column_name(const kk_model *model, int body, column_kind kind, const char *word, int k, cli_text *name);
/// "q", "v", "a", "tau", "power".
const char *column_word(column_kind kind);
/// Columns of every degree of freedom (of every coordinate for COLUMN_Q), in the model's order, with `word` for what they hold.
void columns_of_joints(const kk_model *model, column_kind kind, const char *word, column_list *list);

#endif
