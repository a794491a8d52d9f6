/// A reader by indentation: a block's lines start at one column, and what is nested starts further right.
#include "yaml.h"

#include <string.h>

#include <karakuri/elementary.h>

#include "base/print.h"
#include "expression_values.h"
#include "text.h"

enum { MOST_DEPTH = 64, MOST_ANCHORS = 64, MOST_KEYS = 4096, FLOW = 1 << 30 /* parent of what stands in a flow */ };

typedef struct reader {
    const char *text, *file;
    size_t at, length;
    kki_pool *pool;
    int depth, anchors;
    kki_value anchor_name[MOST_ANCHORS], anchor[MOST_ANCHORS];
    kki_value fault;
    bool has_fault;
} reader;

static kki_value read_node(reader *r, int parent);
static kki_value read_flow(reader *r);

// ---- places and faults

static int line_of(const reader *r, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at && i < r->length; i++) {
        line += r->text[i] == '\n';
    }
    return line;
}

static kki_value fail(reader *r, kk_status status, const char *what) {
    char text[400];
    if (!r->has_fault) {
        r->has_fault = true;
        const size_t n = kki_print(text, sizeof text, "%.200s:%d: %s", r->file, line_of(r, r->at), what);
        const char *copy = kki_pool_copy(r->pool, text, n < sizeof text ? n : sizeof text - 1);
        r->fault = copy ? kki_value_error(status, copy) : kki_value_no_memory(r->pool);
    }
    return r->fault;
}

/// Makes a value's fault the reader's.
static kki_value checked(reader *r, kki_value v) {
    return v.kind == KKI_VALUE_FAULT ? fail(r, v.status, v.text) : v;
}

static char peek(const reader *r, size_t ahead) {
    return r->at + ahead < r->length ? r->text[r->at + ahead] : 0;
}

static bool is_end_of_line(char c) {
    return c == 0 || c == '\n' || c == '\r';
}

static bool is_gap(char c) {
    return c == ' ' || c == '\t' || is_end_of_line(c);
}

static bool is_line_between(const reader *r, size_t from, size_t to) {
    return to > from && memchr(r->text + from, '\n', to - from) != NULL;
}

static int column_of(const reader *r) {
    size_t start = r->at;
    while (start > 0 && r->text[start - 1] != '\n') {
        start--;
    }
    return (int)(r->at - start);
}

static bool has_comment(const reader *r) {
    return peek(r, 0) == '#' && (r->at == 0 || is_gap(r->text[r->at - 1]));
}

static void skip_line(reader *r) {
    while (r->at < r->length && r->text[r->at] != '\n') {
        r->at++;
    }
}

static void skip_blanks(reader *r) {
    while (peek(r, 0) == ' ' || peek(r, 0) == '\t') {
        r->at++;
    }
    if (has_comment(r)) {
        skip_line(r);
    }
}

/// To the next sign that is neither blank nor comment, over ends of lines.
static void skip_space(reader *r) {
    for (;;) {
        skip_blanks(r);
        if (r->at >= r->length || !is_end_of_line(peek(r, 0))) {
            return;
        }
        r->at++;
    }
}

static bool starts_with(const reader *r, const char *word) {
    const size_t n = strlen(word);
    return r->length - r->at >= n && memcmp(r->text + r->at, word, n) == 0;
}

/// A line of "---" or "..." at the left edge.
static bool is_marker(const reader *r) {
    return (starts_with(r, "---") || starts_with(r, "...")) && is_gap(peek(r, 3)) && column_of(r) == 0;
}

static bool is_entry(const reader *r) {
    return peek(r, 0) == '-' && is_gap(peek(r, 1)) && !is_marker(r);
}

// ---- scalars

static bool is_one_of(const char *text, size_t length, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (kki_text_is_word(text, length, words[i])) {
            return true;
        }
    }
    return false;
}

/// What a scalar without quotes is.
static kki_value plain_value(const reader *r, const char *text, size_t length) {
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"};
    static const char *const none[] = {"", "~", "null", "Null", "NULL"};
    if (is_one_of(text, length, yes, 9) || is_one_of(text, length, no, 9)) {
        return kki_value_truth(is_one_of(text, length, yes, 9));
    }
    if (is_one_of(text, length, none, 5)) {
        return (kki_value){.kind = KKI_VALUE_NONE};
    }
    kki_value v = {.kind = KKI_VALUE_FLOAT};
    size_t used = 0, whole = 0;
    const size_t sign = text[0] == '+' && length > 1 ? 1 : 0;
    const bool is_whole = kk_number_parse_int(text + sign, length - sign, &v.integer, &whole) == KK_OK;
    if (is_whole && whole == length - sign) {
        return kki_value_whole(v.integer);
    }
    if (kk_number_parse(text + sign, length - sign, &v.number, &used) == KK_OK && used == length - sign) {
        return kki_value_real(v.number);
    }
    const char *copy = kki_pool_copy(r->pool, text, length);
    return copy ? kki_value_text(copy, length) : kki_value_no_memory(r->pool);
}

static char escaped(char c) {
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? 0 : c;
}

static kki_value read_quoted(reader *r) {
    const char quote = peek(r, 0);
    size_t n = 1, length = 0;
    while (r->at + n < r->length && (peek(r, n) != quote || (quote == '\'' && peek(r, n + 1) == quote))) {
        n += (quote == '"' && peek(r, n) == '\\') || (quote == '\'' && peek(r, n) == quote) ? 2 : 1;
    }
    char *copy = r->at + n < r->length ? kki_pool_take(r->pool, n + 1) : NULL;
    if (!copy) {
        return r->at + n < r->length ? checked(r, kki_value_no_memory(r->pool))
                                     : fail(r, KK_SYNTAX, "a text without its closing quote; add it");
    }
    for (size_t i = 1; i < n; i++) {
        const bool is_escape = quote == '"' && peek(r, i) == '\\';
        i += is_escape || (quote == '\'' && peek(r, i) == quote) ? 1 : 0;
        copy[length++] = is_escape ? escaped(peek(r, i)) : peek(r, i);
    }
    copy[length] = 0;
    r->at += n + 1;
    return kki_value_text(copy, length);
}

/// Length of a scalar without quotes on this line.
static size_t plain_length(const reader *r, bool is_flow) {
    size_t n = 0, end = 0;
    for (char c = peek(r, 0); !is_end_of_line(c); c = peek(r, ++n)) {
        const bool is_key = c == ':' && (is_gap(peek(r, n + 1)) || (is_flow && strchr(",]}", peek(r, n + 1))));
        const bool is_comment = c == '#' && n > 0 && is_gap(peek(r, n - 1));
        if (is_key || is_comment || (is_flow && strchr(",[]{}", c))) {
            break;
        }
        end = c == ' ' || c == '\t' ? end : n + 1;
    }
    return end;
}

/// A scalar without quotes; lines further right than the parent go on with it.
static kki_value read_plain(reader *r, int parent) {
    size_t n = plain_length(r, false), length = n;
    char *text = kki_pool_copy(r->pool, r->text + r->at, n);
    r->at += n;
    while (text) {
        const size_t start = r->at;
        skip_space(r);
        n = r->at < r->length && column_of(r) > parent && is_line_between(r, start, r->at) && !is_marker(r)
                ? plain_length(r, false)
                : 0;
        const char after = peek(r, n);
        char *joined = n > 0 && after != ':' ? kki_pool_take(r->pool, length + n + 2) : NULL;
        if (!joined) {
            r->at = start;
            break;
        }
        memcpy(joined, text, length);
        joined[length] = ' ';
        memcpy(joined + length + 1, r->text + r->at, n);
        length += n + 1;
        joined[length] = 0;
        text = joined;
        r->at += n;
    }
    return checked(r, text ? plain_value(r, text, length) : kki_value_no_memory(r->pool));
}

/// A text of lines behind | or >, as it stands but for its indentation; > makes blanks of the ends of lines.
static kki_value read_lines(reader *r, int parent) {
    const bool folds = peek(r, 0) == '>';
    const bool keeps_end = peek(r, 1) != '-';
    skip_line(r);
    char *text = kki_pool_take(r->pool, r->length - r->at + 2);
    size_t length = 0;
    int indent = -1;
    while (text && r->at < r->length) {
        const size_t line = ++r->at;
        while (peek(r, 0) == ' ' && (indent < 0 || column_of(r) < indent)) {
            r->at++;
        }
        const bool is_blank = is_end_of_line(peek(r, 0));
        if (!is_blank && column_of(r) <= parent) {
            r->at = line;
            break;
        }
        indent = is_blank || indent >= 0 ? indent : column_of(r);
        const size_t start = r->at;
        skip_line(r);
        const size_t n = r->at - start;
        memcpy(text + length, r->text + start, n);
        length += n;
        text[length++] = folds ? ' ' : '\n';
    }
    while (text && length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) {
        length--;
    }
    if (text && keeps_end) {
        text[length++] = '\n';
    }
    return checked(r, text ? kki_value_text(text, length) : kki_value_no_memory(r->pool));
}

// ---- units

static kki_value no_names(void *user, const char *name, size_t length) {
    (void)user, (void)name, (void)length;
    return (kki_value){.kind = KKI_VALUE_FAULT, .status = KK_NOT_FOUND};
}

/// The number of meters or radians of a tag's unit; 0: not a unit.
static double unit_of(const char *tag, size_t length) {
    static const struct {
        const char *name;
        double size;
    } units[] = {{"!radians", 1},        {"!degrees", KK_PI / 180}, {"!meters", 1},
                 {"!millimeters", .001}, {"!foot", .3048},          {"!inches", .0254}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (kki_text_is_word(tag, length, units[i].name)) {
            return units[i].size;
        }
    }
    return 0;
}

static kki_value in_unit(reader *r, kki_value v, double unit) {
    const kki_names names = {.look_up = no_names, .pool = r->pool};
    size_t offset;
    const kki_value x = v.kind == KKI_VALUE_TEXT ? kki_evaluate(v.text, v.length, &names, &offset) : v;
    if (x.kind == KKI_VALUE_FAULT || (x.kind != KKI_VALUE_INT && x.kind != KKI_VALUE_FLOAT)) {
        return fail(r, KK_INVALID_ARGUMENT, "a unit before something that is no number; write !degrees 90.0");
    }
    return kki_value_real((x.kind == KKI_VALUE_INT ? (double)x.integer : x.number) * unit);
}

// ---- lists and mappings that are being made

typedef struct maker {
    kki_value *item;
    size_t count, capacity;
} maker;

static void add(reader *r, maker *m, kki_value v) {
    if (m->count == m->capacity) {
        kki_value *larger = kki_pool_take(r->pool, (2 * m->capacity + 8) * sizeof *larger);
        if (!larger) {
            checked(r, kki_value_no_memory(r->pool));
            return;
        }
        memcpy(larger, m->item ? m->item : larger, m->count * sizeof *larger);
        m->item = larger;
        m->capacity = 2 * m->capacity + 8;
    }
    m->item[m->count++] = v;
}

/// A key and its value; << takes over the pairs of another mapping that are not set here.
static void add_pair(reader *r, maker *m, kki_value key, kki_value value) {
    if (key.kind != KKI_VALUE_TEXT || !kki_text_is_word(key.text, key.length, "<<") || value.kind != KKI_VALUE_DICT) {
        add(r, m, key);
        add(r, m, value);
        return;
    }
    const maker own = *m;
    *m = (maker){0};
    for (size_t i = 0; i < 2 * value.length; i++) {
        add(r, m, value.item[i]);
    }
    for (size_t i = 0; i < own.count; i++) {
        add(r, m, own.item[i]);
    }
}

static kki_value made_mapping(reader *r, const maker *m) {
    if (m->count / 2 > MOST_KEYS) {
        return fail(r, KK_LIMIT_EXCEEDED, "more than 4096 keys in a mapping; split it");
    }
    return r->has_fault ? r->fault : checked(r, kki_value_dictionary(r->pool, m->item, m->count / 2));
}

static kki_value made_list(reader *r, const maker *m) {
    return r->has_fault ? r->fault : checked(r, kki_value_sequence(r->pool, KKI_VALUE_LIST, m->item, m->count));
}

// ---- flow style

/// What stands before a comma or a bracket in flow style.
static kki_value read_flow_item(reader *r) {
    const char c = peek(r, 0);
    if (c == '[' || c == '{') {
        return read_flow(r);
    }
    if (c == '!' || c == '&' || c == '*') {
        return read_node(r, FLOW);
    }
    if (c == '\'' || c == '"') {
        return read_quoted(r);
    }
    const size_t n = plain_length(r, true);
    const kki_value v = checked(r, plain_value(r, r->text + r->at, n));
    r->at += n;
    return v;
}

static void read_flow_part(reader *r, maker *m, bool is_mapping) {
    const size_t start = r->at;
    const kki_value key = read_flow_item(r);
    skip_space(r);
    if (!is_mapping) {
        add(r, m, key);
    } else if (peek(r, 0) == ':') {
        r->at++;
        skip_space(r);
        add_pair(r, m, key, read_flow_item(r));
        skip_space(r);
    } else {
        fail(r, KK_SYNTAX, "a key without ':' in { }; write {key: value}");
    }
    if (peek(r, 0) == ',') {
        r->at++;
    } else if (r->at == start) {
        fail(r, KK_SYNTAX, "a ',' or a closing bracket is missing; add it");
    }
}

static kki_value read_flow(reader *r) {
    const bool is_mapping = peek(r, 0) == '{';
    const char end = is_mapping ? '}' : ']';
    maker m = {0};
    if (++r->depth > MOST_DEPTH) {
        return fail(r, KK_LIMIT_EXCEEDED, "more than 64 levels of lists and mappings; make it flatter");
    }
    r->at++;
    for (skip_space(r); peek(r, 0) != end && !r->has_fault; skip_space(r)) {
        if (r->at >= r->length) {
            return fail(r, KK_SYNTAX, "a '[' or '{' that is not closed; close it");
        }
        read_flow_part(r, &m, is_mapping);
    }
    r->at++;
    r->depth--;
    return is_mapping ? made_mapping(r, &m) : made_list(r, &m);
}

// ---- block style

/// Does a key with its ':' stand here?
static bool is_key(const reader *r) {
    const char c = peek(r, 0);
    if (c == '\'' || c == '"') {
        size_t n = 1;
        while (!is_end_of_line(peek(r, n)) && peek(r, n) != c) {
            n++;
        }
        for (n++; peek(r, n) == ' '; n++) {
        }
        return peek(r, n) == ':' && is_gap(peek(r, n + 1));
    }
    const size_t n = plain_length(r, false);
    size_t colon = n;
    while (peek(r, colon) == ' ') {
        colon++;
    }
    return n > 0 && !strchr("[{", c) && peek(r, colon) == ':' && is_gap(peek(r, colon + 1));
}

static kki_value read_key(reader *r) {
    kki_value key;
    if (peek(r, 0) == '\'' || peek(r, 0) == '"') {
        key = read_quoted(r);
    } else {
        const size_t n = plain_length(r, false);
        key = checked(r, plain_value(r, r->text + r->at, n));
        r->at += n;
    }
    skip_blanks(r);
    r->at++; // the ':'
    return key;
}

static kki_value read_mapping(reader *r, int column) {
    maker m = {0};
    while (r->at < r->length && column_of(r) == column && !is_marker(r) && !r->has_fault) {
        if (!is_key(r)) {
            return fail(r, KK_SYNTAX, "a key with ':' is missing here; write key: value");
        }
        const kki_value key = read_key(r);
        // a list may stand at its key's own column
        const size_t start = r->at;
        skip_space(r);
        const bool is_own_list = r->at < r->length && is_entry(r) && column_of(r) == column;
        r->at = start;
        add_pair(r, &m, key, read_node(r, is_own_list ? column - 1 : column));
        skip_space(r);
    }
    return made_mapping(r, &m);
}

static kki_value read_list(reader *r, int column) {
    maker m = {0};
    while (r->at < r->length && column_of(r) == column && is_entry(r) && !r->has_fault) {
        r->at++;
        add(r, &m, read_node(r, column));
        skip_space(r);
    }
    return made_list(r, &m);
}

static size_t word_length(const reader *r) {
    size_t n = 1;
    while (!is_gap(peek(r, n)) && !strchr(",]}", peek(r, n))) {
        n++;
    }
    return n;
}

static kki_value read_alias(reader *r) {
    const size_t n = word_length(r);
    const kki_value name = kki_value_text(r->text + r->at + 1, n - 1);
    for (int i = r->anchors - 1; i >= 0; i--) {
        if (kki_value_equal(&r->anchor_name[i], &name)) {
            r->at += n;
            return r->anchor[i];
        }
    }
    return fail(r, KK_NOT_FOUND, "an alias without its anchor; write &name before the value it means");
}

static void keep_anchor(reader *r, kki_value name, kki_value v) {
    if (r->anchors == MOST_ANCHORS) {
        fail(r, KK_LIMIT_EXCEEDED, "more than 64 anchors; write some of the values out");
        return;
    }
    r->anchor_name[r->anchors] = name;
    r->anchor[r->anchors++] = v;
}

/// "- key: value": a mapping may begin behind the dash of a list.
static bool follows_dash(const reader *r, size_t at) {
    while (at > 0 && (r->text[at - 1] == ' ' || r->text[at - 1] == '\t')) {
        at--;
    }
    return at > 0 && r->text[at - 1] == '-';
}

static kki_value read_content(reader *r, int parent) {
    const size_t start = r->at;
    skip_space(r);
    const bool is_new_line = is_line_between(r, start, r->at);
    const char c = peek(r, 0);
    if (r->at >= r->length || is_marker(r) || (is_new_line && column_of(r) <= parent)) {
        r->at = start;
        return (kki_value){.kind = KKI_VALUE_NONE};
    }
    if (c == '[' || c == '{') {
        return read_flow(r);
    }
    if (c == '|' || c == '>') {
        return read_lines(r, parent);
    }
    if (is_entry(r)) {
        return read_list(r, column_of(r));
    }
    if ((is_new_line || parent < 0 || follows_dash(r, start)) && is_key(r)) {
        return read_mapping(r, column_of(r));
    }
    if (c == '\'' || c == '"') {
        return read_quoted(r);
    }
    if (c == '?' || c == '%' || c == '@' || c == '`') {
        return fail(r, KK_UNSUPPORTED, "this part of YAML is not supported; write key: value and lists");
    }
    return parent < FLOW ? read_plain(r, parent) : read_flow_item(r);
}

/// The value behind a key or a dash, with its tag and its anchor.
static kki_value read_node(reader *r, int parent) {
    double unit = 0;
    kki_value name = {.kind = KKI_VALUE_NONE};
    if (++r->depth > MOST_DEPTH) {
        return fail(r, KK_LIMIT_EXCEEDED, "more than 64 levels of lists and mappings; make it flatter");
    }
    for (skip_blanks(r); peek(r, 0) == '!' || peek(r, 0) == '&'; skip_blanks(r)) {
        const size_t n = word_length(r);
        const bool is_tag = peek(r, 0) == '!';
        name = is_tag ? name : kki_value_text(r->text + r->at + 1, n - 1);
        unit = is_tag ? unit_of(r->text + r->at, n) : unit;
        if (is_tag && unit == 0) {
            return fail(r, KK_UNSUPPORTED, "a tag that is not supported; !degrees, !radians, !meters, ... are known");
        }
        r->at += n;
    }
    kki_value v = peek(r, 0) == '*' ? read_alias(r) : read_content(r, parent);
    v = unit != 0 && !r->has_fault ? in_unit(r, v, unit) : v;
    if (name.kind == KKI_VALUE_TEXT && !r->has_fault) {
        keep_anchor(r, name, v);
    }
    r->depth--;
    return r->has_fault ? r->fault : v;
}

kki_value kki_yaml_read(const char *text, size_t length, const char *file, kki_pool *pool) {
    reader *r = kki_pool_take(pool, sizeof *r);
    if (!r) {
        return kki_value_no_memory(pool);
    }
    *r = (reader){.text = text, .file = file, .length = length, .pool = pool};
    r->at = starts_with(r, "\xef\xbb\xbf") ? 3 : 0;
    skip_space(r);
    while (is_marker(r) || peek(r, 0) == '%') {
        r->at += is_marker(r) ? 3 : 0;
        if (peek(r, 0) == '%') {
            skip_line(r);
        }
        skip_space(r);
    }
    const kki_value v = read_node(r, -1);
    skip_space(r);
    if (!r->has_fault && r->at < r->length && !starts_with(r, "...")) {
        return fail(r, starts_with(r, "---") ? KK_UNSUPPORTED : KK_SYNTAX,
                    starts_with(r, "---") ? "several documents in a file; use one file for each"
                                          : "a line that belongs to nothing; check its indentation");
    }
    return v;
}
