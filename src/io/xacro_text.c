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
#include "path.h"
#include "text.h"

enum { MOST_JOBS = 64, BODY_SIZE = 256 };

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
    const char *text = kki_value_to_text(value, buffer, &length);
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
    const kki_xacro *x;
    int32_t scope;
} name_user;

static kki_value look_up(void *user, const char *name, size_t length) {
    const name_user *u = user;
    const int32_t found = kki_symbols_find(&u->x->symbols, u->scope, name, length);
    if (found < 0) {
        return (kki_value){.kind = KKI_VALUE_FAULT, .status = KK_NOT_FOUND};
    }
    const kki_symbol *symbol = &u->x->symbols.symbol[found];
    return symbol->kind == KKI_SYMBOL_RAW ? (kki_value){.kind = KKI_VALUE_PENDING, .integer = found} : symbol->value;
}

static kki_value evaluate(kki_xacro *x, int32_t scope, const char *text, size_t length, size_t *offset) {
    name_user user = {x, scope};
    const kki_names names = {look_up, &user, &x->pool};
    return kki_evaluate(text, length, &names, offset);
}

static kki_value find_argument(kki_xacro *x, const char *name, size_t length) {
    char key[BODY_SIZE + 1];
    key[0] = '$';
    memcpy(key + 1, name, length);
    const int32_t found = kki_symbols_find_in(&x->others, KKI_XACRO_OUTERMOST, key, length + 1);
    return found >= 0 ? x->others.symbol[found].value
                      : kki_value_fault(&x->pool, KK_NOT_FOUND, "the argument ", name, length,
                                        " is not set; give it, or a default by <xacro:arg>");
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

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/// $(command name)
static kki_value run_command(kki_xacro *x, int32_t document, const char *body, size_t length) {
    const size_t start = strspn(body, " \t\n");
    const size_t command = strcspn(body + start, " \t\n");
    const char *name = body + start + command + strspn(body + start + command, " \t\n");
    const size_t name_length = strcspn(name, " \t\n");
    if (is_word(body + start, command, "arg") && name_length > 0) {
        return find_argument(x, name, name_length);
    }
    if (is_word(body + start, command, "find") && name_length > 0) {
        return make_text(x, "package://", name, name_length);
    }
    if (is_word(body + start, command, "dirname")) {
        return directory_of(x, document);
    }
    const bool is_environment = is_word(body + start, command, "env") || is_word(body + start, command, "optenv");
    return kki_value_fault(&x->pool, KK_UNSUPPORTED, "$(", body, length,
                           is_environment ? ") is refused: a model must not depend on the environment; use <xacro:arg>"
                                          : ") is not supported; use ${...} or <xacro:arg>");
}

/// Evaluates the ${...} inside of a $(...) into a buffer.
static kki_value fill_body(kki_xacro *x, int32_t scope, const char *text, size_t length, char body[BODY_SIZE]) {
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        const char *end =
            text[i] == '$' && i + 1 < length && text[i + 1] == '{' ? memchr(text + i, '}', length - i) : NULL;
        const char *piece = text + i;
        size_t n = 1, offset;
        char buffer[KK_NUMBER_TEXT_SIZE + 2];
        if (end) {
            const kki_value v = evaluate(x, scope, text + i + 2, (size_t)(end - text) - i - 2, &offset);
            if (v.kind == KKI_VALUE_FAULT || v.kind == KKI_VALUE_PENDING) {
                return v;
            }
            piece = kki_value_to_text(&v, buffer, &n);
        }
        if (used + n >= BODY_SIZE) {
            return fault_of(KK_LIMIT_EXCEEDED);
        }
        memcpy(body + used, piece, n);
        used += n;
        i = end ? (size_t)(end - text) + 1 : i + 1;
    }
    body[used] = 0;
    return (kki_value){.kind = KKI_VALUE_TEXT, .text = body, .length = used};
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
    const char *close = memchr(start, is_expression ? '}' : ')', t->length - at - 2);
    *fault_offset = at;
    if (!close) {
        return (kki_value){.kind = KKI_VALUE_FAULT,
                           .status = KK_SYNTAX,
                           .text = is_expression ? "'${' without '}'; add it, or write $${ for the characters"
                                                 : "'$(' without ')'; add it, or write $$( for the characters"};
    }
    *end = (size_t)(close - t->text) + 1;
    const size_t length = (size_t)(close - start);
    if (is_expression) {
        size_t offset;
        const kki_value v = evaluate(x, t->scope, start, length, &offset);
        *fault_offset = at + 2 + offset;
        return v;
    }
    char body[BODY_SIZE];
    const kki_value v = fill_body(x, t->scope, start, length, body);
    return v.kind == KKI_VALUE_TEXT ? run_command(x, t->document, body, v.length) : v;
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
    return memchr(t->text, t->text[1] == '{' ? '}' : ')', t->length) == t->text + t->length - 1;
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
