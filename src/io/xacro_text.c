/// Texts with ${...} and $(...) in them.
///
/// A property that is not evaluated yet stops the evaluation of what needs it: it is put on a list, evaluated first, and
/// then the other is begun anew. So properties may depend on each other in any order, without recursion here, and one
/// that depends on itself is found on the list.
#include "xacro_text.h"

#include <stdarg.h>
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "expression_values.h"
#include "path.h"
#include "text.h"
#include "yaml.h"

enum { MOST_JOBS = 64, MOST_NAME = 256 };

// ---- errors and steps

static const kki_xacro_frame *macro_frame(const kki_xacro *x) {
    for (int32_t i = x->frame_count - 1; i >= 0; i--) {
        if (x->frame[i].macro) {
            return &x->frame[i];
        }
    }
    return NULL;
}

kk_status kki_xacro_error(const kki_xacro *x, int32_t document, uint32_t place, kk_status status, const char *format,
                          ...) {
    char text[KK_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    const kki_xml *xml = x->document[document].xml;
    const kki_xacro_frame *macro = macro_frame(x);
    if (!macro) {
        return kki_xml_error(xml, place, x->error, status, "%s", text);
    }
    const kki_xml_position call = kki_xml_locate(x->document[macro->call_document].xml, macro->call_place);
    return kki_xml_error(xml, place, x->error, status, "%s (in macro '%s' called at %s:%d)", text,
                         kki_shorten_string(macro->macro).text, call.file, call.line);
}

kk_status kki_xacro_step(kki_xacro *x, int32_t document, uint32_t place) {
    if (x->steps < x->options.steps) {
        x->steps++;
        return KK_OK;
    }
    return kki_xacro_error(
        x, document, place, KK_LIMIT_EXCEEDED,
        "the expansion takes more than %d steps; check for macros that call each other, or raise the "
        "limit",
        (int)x->options.steps);
}

// ---- where texts are

kki_xacro_text kki_xacro_attribute_text(const kki_xacro *x, int32_t document, int32_t node, int32_t attribute,
                                        int32_t scope) {
    const kki_xml *xml = x->document[document].xml;
    const kki_xml_attribute *a = &xml->attribute[attribute];
    return (kki_xacro_text){kki_xml_string(xml, a->value), a->value_length, scope, document, node, attribute, 0};
}

kki_xacro_text kki_xacro_node_text(const kki_xacro *x, int32_t document, int32_t node, int32_t scope) {
    const kki_xml *xml = x->document[document].xml;
    const kki_xml_node *n = &xml->node[node];
    return (kki_xacro_text){kki_xml_string(xml, n->text), n->length, scope, document, node, KKI_XML_NONE, 0};
}

static uint32_t place_of(const kki_xacro *x, const kki_xacro_text *t, size_t offset) {
    const kki_xml *xml = x->document[t->document].xml;
    const uint32_t o = t->offset + (uint32_t)offset;
    return t->attribute == KKI_XML_NONE ? kki_xml_place_in_text(xml, t->node, o)
                                        : kki_xml_place_in_value(xml, t->attribute, o);
}

// ---- putting a text together

static kk_status enlarge_scratch(kki_xacro *x, size_t wanted) {
    const size_t capacity = 2 * wanted + 64;
    char *block = kki_allocate(&x->allocator, capacity);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    if (x->scratch_used > 0) {
        memcpy(block, x->scratch, x->scratch_used);
    }
    kki_release(&x->allocator, x->scratch, x->scratch_capacity);
    x->scratch = block;
    x->scratch_capacity = capacity;
    return KK_OK;
}

static kk_status append(kki_xacro *x, const char *text, size_t length) {
    const size_t wanted = x->scratch_used + length;
    if (wanted > x->options.bytes) {
        return KK_LIMIT_EXCEEDED;
    }
    const kk_status status = wanted > x->scratch_capacity ? enlarge_scratch(x, wanted) : KK_OK;
    if (status == KK_OK && length > 0) {
        memcpy(x->scratch + x->scratch_used, text, length);
        x->scratch_used = wanted;
    }
    return status;
}

static kki_value fault_of(kk_status status) {
    return (kki_value){.kind = KKI_VALUE_FAULT,
                       .status = status,
                       .text = status == KK_OUT_OF_MEMORY
                                   ? "out of memory"
                                   : "the expansion makes too much text; simplify it or raise the limit"};
}

/// Appends what a value is as text; a fault or a pending value is handed on.
static kki_value append_value(kki_xacro *x, const kki_value *value) {
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    size_t length;
    if (value->kind == KKI_VALUE_FAULT || value->kind == KKI_VALUE_PENDING) {
        return *value;
    }
    const kki_value plain = kki_value_written(&x->pool, value);
    if (plain.kind == KKI_VALUE_FAULT) {
        return plain;
    }
    const char *text = kki_value_to_text(&plain, buffer, &length);
    const kk_status status = append(x, text, length);
    return status ? fault_of(status) : *value;
}

/// What has been put together, in memory that stays.
static kki_value take_scratch(kki_xacro *x) {
    const char *copy = kki_pool_copy(&x->pool, x->scratch_used ? x->scratch : "", x->scratch_used);
    return copy ? (kki_value){.kind = KKI_VALUE_TEXT, .text = copy, .length = x->scratch_used}
                : fault_of(x->pool.is_over ? KK_LIMIT_EXCEEDED : KK_OUT_OF_MEMORY);
}

// ---- names and arguments

typedef struct name_user {
    kki_xacro *x;
    int32_t scope, document;
    bool sees_arguments; ///< $(eval ...): arguments are names
} name_user;

/// "@a": the symbol whose block_scope is the namespace a.
int32_t kki_xacro_find_namespace(const kki_xacro *x, int32_t scope, const char *name, size_t length) {
    char key[MOST_NAME + 1] = "@";
    if (length >= MOST_NAME) {
        return -1;
    }
    memcpy(key + 1, name, length);
    const int32_t found = kki_symbols_find(&x->symbols, scope, key, length + 1);
    return found >= 0 ? x->symbols.symbol[found].block_scope : -1;
}

int32_t kki_xacro_find(const kki_xacro *x, int32_t scope, const char *name, size_t length) {
    const char *dot = memchr(name, '.', length);
    while (dot && scope >= 0) {
        scope = kki_xacro_find_namespace(x, scope, name, (size_t)(dot - name));
        length -= (size_t)(dot - name) + 1;
        name = dot + 1;
        dot = memchr(name, '.', length);
    }
    return scope >= 0 ? kki_symbols_find(&x->symbols, scope, name, length) : -1;
}

static const kki_value *find_set_argument(const kki_xacro *x, const char *name, size_t length) {
    char key[MOST_NAME + 1] = "$";
    if (length >= MOST_NAME) {
        return NULL;
    }
    memcpy(key + 1, name, length);
    const int32_t found = kki_symbols_find_in(&x->others, KKI_XACRO_OUTERMOST, key, length + 1);
    return found >= 0 ? &x->others.symbol[found].value : NULL;
}

static kki_value find_argument(kki_xacro *x, const char *name, size_t length) {
    const kki_value *found = find_set_argument(x, name, length);
    return found ? *found
                 : kki_value_fault(&x->pool, KK_NOT_FOUND, "the argument ", name, length,
                                   " is not set; give it, or a default by <xacro:arg>");
}

/// A number or a truth value where the text is one.
static kki_value as_value(kki_value v) {
    return v.kind == KKI_VALUE_TEXT ? kki_value_from_text(v.text, v.length) : v;
}

static kki_value look_up(void *user, const char *name, size_t length) {
    const name_user *u = user;
    const int32_t found = kki_xacro_find(u->x, u->scope, name, length);
    const kki_value *argument = found < 0 && u->sees_arguments ? find_set_argument(u->x, name, length) : NULL;
    if (found < 0) {
        return argument ? as_value(*argument) : (kki_value){.kind = KKI_VALUE_FAULT, .status = KK_NOT_FOUND};
    }
    const kki_symbol *symbol = &u->x->symbols.symbol[found];
    return symbol->kind == KKI_SYMBOL_RAW ? (kki_value){.kind = KKI_VALUE_PENDING, .integer = found} : symbol->value;
}

static kki_value make_text(kki_xacro *x, const char *first, const char *second, size_t length) {
    char text[KKI_PATH_SIZE];
    const size_t start = strlen(first);
    if (start + length >= sizeof text) {
        return fault_of(KK_LIMIT_EXCEEDED);
    }
    memcpy(text, first, start);
    memcpy(text + start, second, length);
    const char *copy = kki_pool_copy(&x->pool, text, start + length);
    return copy ? (kki_value){.kind = KKI_VALUE_TEXT, .text = copy, .length = start + length}
                : fault_of(x->pool.is_over ? KK_LIMIT_EXCEEDED : KK_OUT_OF_MEMORY);
}

static kki_value directory_of(kki_xacro *x, int32_t document) {
    char directory[KKI_PATH_SIZE];
    const bool has = kki_path_parent(x->document[document].path, directory);
    return make_text(x, has && directory[0] ? directory : ".", "", 0);
}

static kki_value fault_with(kki_xacro *x, kk_status status, const char *text) {
    const char *copy = kki_pool_copy(&x->pool, text, strlen(text));
    return copy ? kki_value_error(status, copy) : kki_value_no_memory(&x->pool);
}

// ---- functions of expressions that need the expansion

static kki_value read_yaml(kki_xacro *x, const char *path) {
    const kki_file_source *s = &x->resolver->source;
    kki_file_data data;
    kk_error error = {0};
    kki_xacro_yaml *known = x->yaml;
    while (known && strcmp(known->path, path) != 0) {
        known = known->next;
    }
    if (known) {
        return known->value;
    }
    const kk_status status = s->read(s->user, path, x->options.file_size, &x->allocator, &data, &error);
    if (status != KK_OK) {
        return fault_with(x, status, error.text);
    }
    const kki_value v = kki_yaml_read(data.bytes, data.size, path, &x->pool);
    kki_file_release(&data, &x->allocator);
    known = kki_pool_take(&x->pool, sizeof *known);
    const char *copy = kki_pool_copy(&x->pool, path, strlen(path));
    if (!known || !copy) {
        return kki_value_no_memory(&x->pool);
    }
    *known = (kki_xacro_yaml){copy, v, x->yaml};
    x->yaml = known;
    return v;
}

static kki_value call_load_yaml(const name_user *u, const kki_value *v, int count) {
    kki_xacro *x = u->x;
    char path[KKI_PATH_SIZE];
    kk_error error = {0};
    (void)count;
    if (v->kind != KKI_VALUE_TEXT) {
        return kki_value_error(KK_INVALID_ARGUMENT, "load_yaml takes the path of a file; write load_yaml('file.yaml')");
    }
    if (!x->resolver) {
        return kki_value_error(KK_UNSUPPORTED, "YAML files need a place to look for them; load the file by its path");
    }
    const kki_value name = make_text(x, "", v->text, v->length);
    if (name.kind == KKI_VALUE_FAULT) {
        return name;
    }
    const kk_status status = kki_resolve(x->resolver, x->document[u->document].path, name.text, path, &error);
    return status ? fault_with(x, status, error.text) : read_yaml(x, path);
}

static kki_value call_arg(const name_user *u, const kki_value *v, int count) {
    (void)count;
    const kki_value found = find_argument(u->x, v->text ? v->text : "", v->kind == KKI_VALUE_TEXT ? v->length : 0);
    return as_value(found);
}

static kki_value call_environment(const name_user *u, const kki_value *v, int count) {
    const kki_value *found = v->kind == KKI_VALUE_TEXT ? find_set_argument(u->x, v->text, v->length) : NULL;
    return found       ? *found
           : count > 1 ? v[1]
                       : kki_value_fault(&u->x->pool, KK_NOT_FOUND, "the environment is not looked at; ",
                                         v->text ? v->text : "", v->kind == KKI_VALUE_TEXT ? v->length : 0,
                                         " must be given as an argument");
}

static kki_value call_find_package(const name_user *u, const kki_value *v, int count) {
    (void)count;
    return make_text(u->x, "package://", v->text ? v->text : "", v->kind == KKI_VALUE_TEXT ? v->length : 0);
}

static kki_value call_directory(const name_user *u, const kki_value *v, int count) {
    (void)v, (void)count;
    return directory_of(u->x, u->document);
}

static kki_value call_same(const name_user *u, const kki_value *v, int count) {
    (void)u, (void)count;
    return v[0];
}

static kki_value call_nothing(const name_user *u, const kki_value *v, int count) {
    (void)u, (void)v, (void)count;
    return kki_value_text("", 0);
}

/// xacro.fatal: the file itself says that something is wrong.
static kki_value call_fatal(const name_user *u, const kki_value *v, int count) {
    const kki_value text = count > 0 ? kki_value_written(&u->x->pool, v) : kki_value_text("", 0);
    return kki_value_fault(&u->x->pool, KK_INVALID_ARGUMENT,
                           "the file refuses to be expanded: ", text.kind == KKI_VALUE_TEXT ? text.text : "",
                           text.kind == KKI_VALUE_TEXT ? text.length : 0, "; follow what it says");
}

static const struct {
    const char *name;
    int least, most;
    kki_value (*run)(const name_user *u, const kki_value *v, int count);
} own_functions[] = {
    {"load_yaml", 1, 1, call_load_yaml}, {"arg", 1, 1, call_arg},           {"optenv", 1, 2, call_environment},
    {"env", 1, 1, call_environment},     {"find", 1, 1, call_find_package}, {"dirname", 0, 0, call_directory},
    {"dotify", 1, 1, call_same},         {"abs_filename", 1, 1, call_same}, {"message", 0, 16, call_nothing},
    {"warning", 0, 16, call_nothing},    {"error", 0, 16, call_nothing},    {"print_location", 0, 0, call_nothing},
    {"fatal", 0, 16, call_fatal},
};

static int find_own_function(void *user, const char *name, size_t length) {
    (void)user;
    if (length > 6 && memcmp(name, "xacro.", 6) == 0) {
        name += 6;
        length -= 6;
    }
    for (size_t i = 0; i < sizeof own_functions / sizeof *own_functions; i++) {
        if (kki_text_is_word(name, length, own_functions[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

static kki_value call_own_function(void *user, int function, const kki_value *v, int count) {
    const name_user *u = user;
    const char *name = own_functions[function].name;
    return count >= own_functions[function].least && count <= own_functions[function].most
               ? own_functions[function].run(u, v, count)
               : kki_value_fault(&u->x->pool, KK_INVALID_ARGUMENT, "wrong number of arguments of ", name, strlen(name),
                                 "; check the call");
}

/// The value of text[length] as an expression.
static kki_value evaluate(kki_xacro *x, const kki_xacro_text *t, const char *text, size_t length, bool sees_arguments,
                          size_t *offset) {
    name_user user = {x, t->scope, t->document, sees_arguments};
    const kki_names names = {look_up, &user, &x->pool, find_own_function, call_own_function};
    return kki_evaluate(text, length, &names, offset);
}

// ---- $(command ...)

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool is_gap(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// $(optenv NAME what follows): what follows, but for an argument of that name. The environment does not count: the same
/// file makes the same model everywhere.
static kki_value run_environment(kki_xacro *x, const char *name, size_t name_length, bool has_default) {
    const kki_value *found = find_set_argument(x, name, name_length);
    if (found) {
        return *found;
    }
    if (!has_default) {
        return kki_value_fault(&x->pool, KK_NOT_FOUND, "the environment is not looked at: ", name, name_length,
                               " must be given as an argument; a model is the same everywhere");
    }
    const char *rest = name + name_length + strspn(name + name_length, " \t\n\r");
    size_t length = strlen(rest);
    while (length > 0 && is_gap(rest[length - 1])) {
        length--;
    }
    return make_text(x, "", rest, length);
}

/// $(command name)
static kki_value run_command(kki_xacro *x, const kki_xacro_text *t, const char *body, size_t length) {
    const size_t start = strspn(body, " \t\n\r");
    const size_t command = strcspn(body + start, " \t\n\r");
    const char *word = body + start;
    const char *name = word + command + strspn(word + command, " \t\n\r");
    const size_t name_length = strcspn(name, " \t\n\r");
    size_t offset;
    if (is_word(word, command, "arg") && name_length > 0) {
        return find_argument(x, name, name_length);
    }
    if (is_word(word, command, "find") && name_length > 0) {
        return make_text(x, "package://", name, name_length);
    }
    if (is_word(word, command, "dirname") || is_word(word, command, "cwd")) {
        return directory_of(x, t->document);
    }
    if (is_word(word, command, "eval")) {
        return evaluate(x, t, name, length - (size_t)(name - body), true, &offset);
    }
    if ((is_word(word, command, "optenv") || is_word(word, command, "env")) && name_length > 0) {
        return run_environment(x, name, name_length, command == 6);
    }
    return kki_value_fault(&x->pool, KK_UNSUPPORTED, "$(", body, length,
                           ") is not supported; use ${...} or <xacro:arg>");
}

/// The bracket that closes the one before `start`; NULL: none. Of an $(eval ...) brackets within it are left aside.
static const char *find_close(const char *start, size_t length, bool is_expression) {
    const size_t blanks = !is_expression && length > 5 ? strspn(start, " \t") : 0;
    if (is_expression || length < blanks + 5 || memcmp(start + blanks, "eval", 4) != 0 || !is_gap(start[blanks + 4])) {
        return memchr(start, is_expression ? '}' : ')', length);
    }
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = start[i];
        if (quote || c == '\'' || c == '"') {
            quote = !quote ? c : c == quote ? 0 : quote;
        } else if (c == ')' && depth-- == 0) {
            return start + i;
        } else if (c == '(') {
            depth++;
        }
    }
    return NULL;
}

static kki_value read_bracket(kki_xacro *x, const kki_xacro_text *t, const char *start, size_t length,
                              bool is_expression, size_t *offset);

/// A text inside of a bracket with the ${...} and $(...) in it put in; without any it is the text itself.
static kki_value fill_in(kki_xacro *x, const kki_xacro_text *t, const char *text, size_t length, bool is_expression) {
    kki_value filled = kki_value_text(text, length);
    const char other = is_expression ? '(' : '{';
    for (size_t i = 0; i + 1 < filled.length;) {
        const char *at = filled.text + i;
        const char *end =
            at[0] == '$' && at[1] == other ? find_close(at + 2, filled.length - i - 2, !is_expression) : NULL;
        if (!end) {
            i++;
            continue;
        }
        size_t offset;
        kki_value v = read_bracket(x, t, at + 2, (size_t)(end - at) - 2, !is_expression, &offset);
        char buffer[KK_NUMBER_TEXT_SIZE + 2];
        v = v.kind == KKI_VALUE_PENDING ? v : kki_value_written(&x->pool, &v);
        if (v.kind == KKI_VALUE_FAULT || v.kind == KKI_VALUE_PENDING) {
            return v;
        }
        const char *piece = kki_value_to_text(&v, buffer, &v.length);
        const kki_value before = kki_value_text(filled.text, i), middle = kki_value_text(piece, v.length);
        const kki_value after = kki_value_text(end + 1, filled.length - i - (size_t)(end + 1 - at));
        const kki_value front = kki_value_join(&x->pool, &before, &middle);
        filled = front.kind == KKI_VALUE_FAULT ? front : kki_value_join(&x->pool, &front, &after);
        if (filled.kind == KKI_VALUE_FAULT) {
            return filled;
        }
        i += v.length;
    }
    return filled;
}

/// The value of what stands in ${...} or $(...).
static kki_value read_bracket(kki_xacro *x, const kki_xacro_text *t, const char *start, size_t length,
                              bool is_expression, size_t *offset) {
    *offset = 0;
    const kki_value body = fill_in(x, t, start, length, is_expression);
    if (body.kind == KKI_VALUE_FAULT || body.kind == KKI_VALUE_PENDING) {
        return body;
    }
    if (is_expression) {
        const kki_value v = evaluate(x, t, body.text, body.length, false, offset);
        *offset = body.text == start ? *offset : 0;
        return v;
    }
    const char *copy = kki_pool_copy(&x->pool, body.text, body.length);
    return copy ? run_command(x, t, copy, body.length) : kki_value_no_memory(&x->pool);
}

// ---- one text

/// A text on its way.
typedef struct progress {
    size_t at;           ///< of the text that is done
    size_t fault_offset; ///< where a fault shows
} progress;

static bool is_bracket(char c) {
    return c == '{' || c == '(';
}

/// The value of the ${...} or $(...) at text[at]; *end is behind it.
static kki_value read_dollar(kki_xacro *x, const kki_xacro_text *t, size_t at, size_t *end, size_t *fault_offset) {
    const bool is_expression = t->text[at + 1] == '{';
    const char *start = t->text + at + 2;
    const char *close = find_close(start, t->length - at - 2, is_expression);
    *fault_offset = at;
    if (!close) {
        return (kki_value){.kind = KKI_VALUE_FAULT,
                           .status = KK_SYNTAX,
                           .text = is_expression ? "'${' without '}'; add it, or write $${ for the characters"
                                                 : "'$(' without ')'; add it, or write $$( for the characters"};
    }
    *end = (size_t)(close - t->text) + 1;
    size_t offset;
    const kki_value v = read_bracket(x, t, start, (size_t)(close - start), is_expression, &offset);
    *fault_offset = is_expression ? at + 2 + offset : at;
    return v;
}

/// $${ and $$( stand for ${ and $(; gives the bytes used, 0 where there is none.
static size_t escape_length(const kki_xacro_text *t, size_t at) {
    size_t n = at;
    while (n < t->length && t->text[n] == '$') {
        n++;
    }
    return n - at >= 2 && n < t->length && is_bracket(t->text[n]) ? n - at + 1 : 0;
}

/// What stands at a '$': a bracket, an escaped one, or nothing special.
static kki_value append_dollar(kki_xacro *x, const kki_xacro_text *t, progress *p) {
    const size_t escaped = escape_length(t, p->at);
    if (escaped == 0 && p->at + 1 < t->length && is_bracket(t->text[p->at + 1])) {
        size_t end = p->at;
        const kki_value v = read_dollar(x, t, p->at, &end, &p->fault_offset);
        p->at = end;
        return append_value(x, &v);
    }
    const size_t skip = escaped > 0 ? 1 : 0, n = escaped > 0 ? escaped : 1;
    const kk_status status = append(x, t->text + p->at + skip, n - skip);
    p->at += n;
    return status ? fault_of(status) : (kki_value){.kind = KKI_VALUE_TEXT};
}

/// True where the text is one ${...} or $(...) and nothing else.
static bool is_one_dollar(const kki_xacro_text *t) {
    if (t->length < 3 || t->text[0] != '$' || !is_bracket(t->text[1])) {
        return false;
    }
    return find_close(t->text + 2, t->length - 2, t->text[1] == '{') == t->text + t->length - 1;
}

static kki_value evaluate_once(kki_xacro *x, const kki_xacro_text *t, size_t *fault_offset) {
    progress p = {0, 0};
    x->scratch_used = 0;
    if (is_one_dollar(t)) {
        return read_dollar(x, t, 0, &p.at, fault_offset);
    }
    while (p.at < t->length) {
        const char *dollar = memchr(t->text + p.at, '$', t->length - p.at);
        const size_t next = dollar ? (size_t)(dollar - t->text) : t->length;
        const kk_status status = append(x, t->text + p.at, next - p.at);
        p.at = next;
        kki_value v = status ? fault_of(status) : (kki_value){.kind = KKI_VALUE_TEXT};
        if (status == KK_OK && dollar) {
            v = append_dollar(x, t, &p);
        }
        if (v.kind == KKI_VALUE_FAULT || v.kind == KKI_VALUE_PENDING) {
            *fault_offset = p.fault_offset;
            return v;
        }
    }
    return take_scratch(x);
}

// ---- texts that need others

typedef struct job {
    kki_xacro_text text;
    int32_t symbol; ///< that it is the value of; -1 for the text asked for
} job;

static kk_status push_job(kki_xacro *x, job *jobs, int *count, int32_t symbol) {
    const kki_symbol *s = &x->symbols.symbol[symbol];
    for (int i = 0; i < *count; i++) {
        if (jobs[i].symbol == symbol || *count == MOST_JOBS) {
            return kki_xacro_error(x, s->document, s->place, KK_INVALID_ARGUMENT,
                                   "property '%s' %s; give it a value of its own",
                                   kki_shorten(s->name, s->name_length).text,
                                   jobs[i].symbol == symbol ? "is defined by itself" : "depends on too many others");
        }
    }
    const int32_t attribute = kki_xml_find(x->document[s->document].xml, s->node, "value");
    jobs[*count].text = kki_xacro_attribute_text(
        x, s->document, s->node,
        attribute != KKI_XML_NONE ? attribute : kki_xml_find(x->document[s->document].xml, s->node, "default"),
        s->scope);
    jobs[*count].symbol = symbol;
    (*count)++;
    return KK_OK;
}

static void set_value(kki_xacro *x, int32_t symbol, const kki_value *value) {
    kki_symbol *s = &x->symbols.symbol[symbol];
    s->kind = KKI_SYMBOL_VALUE;
    s->value = value->kind == KKI_VALUE_TEXT ? kki_value_from_text(value->text, value->length) : *value;
}

kk_status kki_xacro_evaluate(kki_xacro *x, const kki_xacro_text *text, kki_value *value) {
    job jobs[MOST_JOBS];
    int count = 1;
    jobs[0] = (job){*text, -1};
    for (;;) {
        const job *top = &jobs[count - 1];
        size_t offset = 0;
        kk_status status = kki_xacro_step(x, text->document, place_of(x, text, 0));
        if (status != KK_OK) {
            return status;
        }
        *value = evaluate_once(x, &top->text, &offset);
        if (value->kind == KKI_VALUE_FAULT) {
            return kki_xacro_error(x, top->text.document, place_of(x, &top->text, offset), value->status, "%s",
                                   value->text);
        }
        if (value->kind == KKI_VALUE_PENDING) {
            status = push_job(x, jobs, &count, (int32_t)value->integer);
            if (status != KK_OK) {
                return status;
            }
            continue;
        }
        if (count == 1) {
            return KK_OK;
        }
        set_value(x, top->symbol, value);
        count--;
    }
}
