/// The grammar of expressions: tokens and two stacks. What operators and functions do is in expression_values.c.
#include "expression.h"

#include <string.h>

#include <karakuri/elementary.h>

#include "expression_values.h"
#include "text.h"

enum { MOST_VALUES = 64, MOST_OPERATORS = 64 };

// the higher binds tighter; those that only mark a place have 0
static const int precedence[] = {
    [KKI_CHOOSE] = 1,     [KKI_OR] = 2,        [KKI_AND] = 3,      [KKI_NOT] = 4,           [KKI_LESS] = 5,
    [KKI_LESS_EQUAL] = 5, [KKI_GREATER] = 5,   [KKI_EQUAL] = 5,    [KKI_GREATER_EQUAL] = 5, [KKI_ADD] = 6,
    [KKI_SUBTRACT] = 6,   [KKI_NOT_EQUAL] = 5, [KKI_MULTIPLY] = 7, [KKI_DIVIDE] = 7,        [KKI_FLOOR_DIVIDE] = 7,
    [KKI_MODULO] = 7,     [KKI_NEGATE] = 8,    [KKI_KEEP] = 8,     [KKI_POWER] = 9,         [KKI_IN] = 5,
    [KKI_NOT_IN] = 5,     [KKI_IS] = 5,        [KKI_IS_NOT] = 5,
};

// ---- the two stacks

typedef struct entry {
    kki_operator operator;
    int function, count; // of a call: which, and arguments complete so far; of a bracket: parts complete so far
} entry;

typedef struct machine {
    const char *text;
    size_t at, length, start; // start of the token
    const kki_names *names;
    kki_value value[MOST_VALUES];
    entry entry[MOST_OPERATORS];
    int values, entries;
    bool wants_value; // an operand is next, not an operator
    kki_value fault;  // of the grammar: the end
    bool has_fault;
} machine;

static void fail(machine *m, kk_status status, const char *text) {
    if (!m->has_fault) {
        m->has_fault = true;
        m->fault = kki_value_error(status, text);
    }
}

static void fail_named(machine *m, const char *before, const char *name, size_t length, const char *after) {
    if (!m->has_fault) {
        m->has_fault = true;
        m->fault = kki_value_fault(m->names->pool, KK_UNSUPPORTED, before, name, length, after);
    }
}

static void push_value(machine *m, kki_value v) {
    if (m->values == MOST_VALUES) {
        fail(m, KK_LIMIT_EXCEEDED, "an expression of too many parts; split it by a property");
        return;
    }
    m->value[m->values++] = v;
    m->wants_value = false;
}

static void push_entry(machine *m, entry e) {
    if (m->entries == MOST_OPERATORS) {
        fail(m, KK_LIMIT_EXCEEDED, "an expression too deep in parentheses; split it by a property");
        return;
    }
    m->entry[m->entries++] = e;
    m->wants_value = true;
}

/// Takes the topmost operator off and applies it.
static void reduce(machine *m) {
    const kki_operator c = m->entry[--m->entries].operator;
    const int n = kki_operator_operands(c);
    if (m->values < n) {
        fail(m, KK_SYNTAX, "an operator without its operands; check the expression");
        return;
    }
    const kki_value *v = &m->value[m->values - n];
    const kki_value result = kki_operator_apply(m->names->pool, c, v);
    m->values -= n;
    push_value(m, result);
}

static int top_precedence(const machine *m) {
    return m->entries > 0 ? precedence[m->entry[m->entries - 1].operator] : 0;
}

static bool top_is(const machine *m, kki_operator c) {
    return m->entries > 0 && m->entry[m->entries - 1].operator== c;
}

/// Applies what binds at least as tight as `least`, down to a parenthesis or an if.
static void reduce_to(machine *m, int least) {
    while (!m->has_fault && m->entries > 0 && top_precedence(m) >= least) {
        reduce(m);
    }
}

/// a < b < c is a < b and b < c: the first comparison is applied, and its second operand stays for the next.
static void go_on_comparing(machine *m) {
    if (m->values < 2) {
        fail(m, KK_SYNTAX, "an operator without its operands; check the expression");
        return;
    }
    const kki_value shared = m->value[m->values - 1];
    reduce(m);
    push_entry(m, (entry){KKI_AND, 0, 0});
    push_value(m, shared);
}

static void push_binary(machine *m, kki_operator c) {
    if (precedence[c] == precedence[KKI_LESS]) {
        reduce_to(m, precedence[c] + 1);
        if (top_precedence(m) == precedence[c]) {
            go_on_comparing(m);
            push_entry(m, (entry){c, 0, 0});
            return;
        }
    }
    reduce_to(m, c == KKI_POWER ? precedence[c] + 1 : precedence[c]);
    push_entry(m, (entry){c, 0, 0});
}

static void push_unary(machine *m, kki_operator c) {
    if (c == KKI_NOT && top_precedence(m) > precedence[KKI_NOT]) {
        fail(m, KK_SYNTAX, "'not' after an operator; put it into parentheses");
    }
    push_entry(m, (entry){c, 0, 0});
}

// ---- tokens

static bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char peek(const machine *m, size_t ahead) {
    return m->at + ahead < m->length ? m->text[m->at + ahead] : 0;
}

static void skip_blanks(machine *m) {
    while (kki_text_is_blank(peek(m, 0))) {
        m->at++;
    }
}

static void read_number(machine *m) {
    const char *start = m->text + m->at;
    const size_t left = m->length - m->at;
    kki_value v = {.kind = KKI_VALUE_FLOAT};
    size_t used = 0, whole_used = 0;
    const kk_status status = kk_number_parse(start, left, &v.number, &used);
    const kk_status whole_status = kk_number_parse_int(start, left, &v.integer, &whole_used);
    if (status != KK_OK) {
        fail(m, status, "a number that is malformed or too large; write it like 0.25 or 1e-3");
        return;
    }
    m->at += used;
    if (starts_name(peek(m, 0))) {
        fail(m, KK_SYNTAX, "a letter after a number; put an operator between them");
    }
    push_value(m, whole_status == KK_OK && whole_used == used ? kki_value_whole(v.integer) : kki_value_real(v.number));
}

static void read_quoted(machine *m) {
    const char *start = m->text + m->at + 1;
    const char *end = memchr(start, peek(m, 0), m->length - m->at - 1);
    if (!end) {
        fail(m, KK_SYNTAX, "a text without its closing quote; add it");
        return;
    }
    if (memchr(start, '\\', (size_t)(end - start))) {
        fail(m, KK_UNSUPPORTED, "a backslash in a text; write the character itself");
        return;
    }
    const char *copy = kki_pool_copy(m->names->pool, start, (size_t)(end - start));
    push_value(m, copy ? kki_value_text(copy, (size_t)(end - start)) : kki_value_no_memory(m->names->pool));
    m->at = (size_t)(end + 1 - m->text);
}

/// Of a name with its parts: ns.property, math.sin.
static size_t name_length(const machine *m) {
    size_t n = 0;
    while (starts_name(peek(m, n)) || is_digit(peek(m, n)) || (peek(m, n) == '.' && starts_name(peek(m, n + 1)))) {
        n++;
    }
    return n;
}

static kki_value look_up(const machine *m, const char *name, size_t length) {
    if (kki_text_is_word(name, length, "True") || kki_text_is_word(name, length, "true")) {
        return kki_value_truth(true);
    }
    if (kki_text_is_word(name, length, "False") || kki_text_is_word(name, length, "false")) {
        return kki_value_truth(false);
    }
    const kki_value v = m->names->look_up(m->names->user, name, length);
    size_t plain = length;
    if (v.kind != KKI_VALUE_FAULT || v.text) {
        return v;
    }
    const char *plain_name = kki_name_without_module(name, &plain);
    return kki_text_is_word(plain_name, plain, "pi")
               ? kki_value_real(KK_PI)
               : kki_value_fault(m->names->pool, KK_NOT_FOUND, "the name ", name, length,
                                 " is not known; define a property before its use");
}

static bool is_python(const char *name, size_t length) {
    static const char *const words[] = {"lambda", "for", "in", "is", "import", "yield", "await"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (kki_text_is_word(name, length, words[i])) {
            return true;
        }
    }
    return false;
}

enum { FIRST_OWN = 1000 }; ///< functions of whoever asks are numbered from here

static int find_function(const machine *m, const char *name, size_t length) {
    const int f = kki_function_find(name, length);
    if (f >= 0 || !m->names->find_function) {
        return f;
    }
    const int own = m->names->find_function(m->names->user, name, length);
    return own >= 0 ? FIRST_OWN + own : -1;
}

static char peek_after(const machine *m, size_t length) {
    while (kki_text_is_blank(peek(m, length))) {
        length++;
    }
    return peek(m, length);
}

static void push_looked_up(machine *m, kki_value v) {
    if (v.kind == KKI_VALUE_PENDING) {
        m->has_fault = true;
        m->fault = v;
    }
    push_value(m, v);
}

static bool is_unknown(const kki_value *v) {
    return v->kind == KKI_VALUE_FAULT && v->status == KK_NOT_FOUND;
}

/// A name with dots: the longest beginning that is known; the rest are parts of its value.
static void read_known(machine *m, const char *name, size_t length) {
    if (peek_after(m, length) == '(') {
        const int f = find_function(m, name, length);
        if (f >= 0) {
            m->at += length;
            skip_blanks(m);
            m->at++;
            push_entry(m, (entry){KKI_CALL, f, 0});
            return;
        }
        if (!memchr(name, '.', length)) {
            fail_named(m, "the function ", name, length, " is not supported; compute the value outside");
            return;
        }
    }
    const kki_value whole = look_up(m, name, length);
    kki_value v = whole;
    size_t n = length;
    while (is_unknown(&v)) {
        do {
            n--;
        } while (n > 0 && name[n] != '.');
        if (n == 0) {
            break;
        }
        v = look_up(m, name, n);
    }
    m->at += n > 0 ? n : length;
    push_looked_up(m, n > 0 ? v : whole);
}

/// dict(name=value): the name becomes a text, and an argument of its own.
static bool read_keyword(machine *m, const char *name, size_t length) {
    entry *top = m->entries > 0 ? &m->entry[m->entries - 1] : NULL;
    const size_t start = m->at;
    m->at += length;
    skip_blanks(m);
    if (top && top->operator== KKI_CALL && top->function == kki_function_find("dict", 4) && peek(m, 0) == '=' &&
        peek(m, 1) != '=') {
        const char *copy = kki_pool_copy(m->names->pool, name, length);
        m->at++;
        push_value(m, copy ? kki_value_text(copy, length) : kki_value_no_memory(m->names->pool));
        top->count++;
        m->wants_value = true;
        return true;
    }
    m->at = start;
    return false;
}

/// A name where an operand is next: not, a function, or something with a value.
static void read_name(machine *m) {
    const char *name = m->text + m->at;
    const size_t length = name_length(m);
    if (kki_text_is_word(name, length, "not")) {
        m->at += length;
        push_unary(m, KKI_NOT);
    } else if (kki_text_is_word(name, length, "None")) {
        m->at += length;
        push_value(m, (kki_value){.kind = KKI_VALUE_NONE});
    } else if (is_python(name, length)) {
        fail_named(m, "Python's ", name, length, " is not supported; compute the value outside");
    } else if (!read_keyword(m, name, length)) {
        read_known(m, name, length);
    }
}

static const entry *top_entry(const machine *m) {
    static const entry none = {KKI_IF, 0, 0};
    return m->entries > 0 ? &m->entry[m->entries - 1] : &none;
}

static void close_bracket(machine *m, char c);

/// May the bracket be closed where an operand is next: f(), [], (1,), a[1:]?
static bool may_close(const machine *m, char c) {
    const entry *top = top_entry(m);
    return c == ')'
               ? top->operator== KKI_CALL || top->operator== KKI_METHOD ||(top->operator== KKI_OPEN && top->count> 0)
           : c == ']' ? top->operator== KKI_LIST ||(top->operator== KKI_INDEX && top->count> 0)
                      : false;
}

static void read_operand(machine *m) {
    const char c = peek(m, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(m, 1)))) {
        read_number(m);
    } else if (c == '\'' || c == '"') {
        read_quoted(m);
    } else if (starts_name(c)) {
        read_name(m);
    } else if (c == '-' || c == '+') {
        m->at++;
        push_unary(m, c == '-' ? KKI_NEGATE : KKI_KEEP);
    } else if (c == '(') {
        m->at++;
        push_entry(m, (entry){KKI_OPEN, 0, 0});
    } else if (may_close(m, c)) {
        close_bracket(m, c);
    } else if (c == '[') {
        m->at++;
        push_entry(m, (entry){KKI_LIST, 0, 0});
    } else if (c == ':' && top_is(m, KKI_INDEX) && top_entry(m)->count == 0) {
        push_value(m, (kki_value){.kind = KKI_VALUE_NONE}); // a[:2]
    } else if (c == '{') {
        fail(m, KK_UNSUPPORTED, "a dictionary in braces is not supported; write dict(key=value)");
    } else {
        fail(m, KK_SYNTAX, "a number, a name or a text is missing here; check the expression");
    }
}

/// a[i] or a[i:j]
static kki_value index_value(const machine *m, const kki_value *v, int count) {
    return count == 1 ? kki_value_at(m->names->pool, &v[-1], &v[0])
                      : kki_value_slice(m->names->pool, &v[-1], &v[0], &v[1]);
}

static kki_value call_own(const machine *m, int function, const kki_value *v, int count) {
    for (int i = 0; i < count; i++) {
        if (v[i].kind == KKI_VALUE_FAULT) {
            return v[i];
        }
    }
    return m->names->call(m->names->user, function, v, count);
}

/// What the bracket of entry e makes of the topmost `count` values.
static kki_value bracket_value(const machine *m, entry e, int count) {
    kki_pool *pool = m->names->pool;
    const kki_value *v = &m->value[m->values - count];
    switch (e.operator) {
    case KKI_CALL:
        return e.function >= FIRST_OWN ? call_own(m, e.function - FIRST_OWN, v, count)
                                       : kki_function_call(pool, e.function, v, count);
    case KKI_METHOD: return kki_method_call(pool, e.function, &v[-1], v, count);
    case KKI_INDEX: return index_value(m, v, count);
    case KKI_LIST: return kki_value_sequence(pool, KKI_VALUE_LIST, v, (size_t)count);
    default: return e.count > 0 ? kki_value_sequence(pool, KKI_VALUE_TUPLE, v, (size_t)count) : v[0];
    }
}

static bool closes(kki_operator c, char bracket) {
    return bracket == ')' ? c == KKI_OPEN || c == KKI_CALL || c == KKI_METHOD : c == KKI_LIST || c == KKI_INDEX;
}

static void close_bracket(machine *m, char c) {
    const bool is_short = m->wants_value; // nothing behind the last comma or colon
    m->at++;
    if (is_short && top_is(m, KKI_INDEX)) {
        push_value(m, (kki_value){.kind = KKI_VALUE_NONE});
    }
    reduce_to(m, 1);
    if (m->has_fault) {
        return;
    }
    if (!closes(top_entry(m)->operator, c) || m->entries == 0) {
        fail(m, KK_SYNTAX,
             top_is(m, KKI_IF) ? "an 'if' without 'else'; add it"
             : c == ')'        ? "a ')' too many; remove it"
                               : "a ']' too many; remove it");
        return;
    }
    const entry e = m->entry[--m->entries];
    const int count = e.count + (is_short && e.operator!= KKI_INDEX ? 0 : 1);
    const bool has_base = e.operator== KKI_METHOD || e.operator== KKI_INDEX;
    if (m->values < count + (has_base ? 1 : 0) || (e.operator== KKI_INDEX && count> 2)) {
        fail(m, KK_SYNTAX, "a bracket without its parts; check the expression");
        return;
    }
    const kki_value result = bracket_value(m, e, count);
    m->values -= count + (has_base ? 1 : 0);
    push_value(m, result);
    if (result.kind == KKI_VALUE_PENDING) {
        m->has_fault = true;
        m->fault = result;
    }
}

static void read_comma(machine *m) {
    m->at++;
    reduce_to(m, 1);
    const kki_operator c = top_entry(m)->operator;
    if (!m->has_fault && (m->entries == 0 || !(closes(c, ')') || c == KKI_LIST))) {
        fail(m, KK_UNSUPPORTED, "a comma outside of brackets; put (a, b) around the parts");
        return;
    }
    if (!m->has_fault) {
        m->entry[m->entries - 1].count++;
        m->wants_value = true;
    }
}

/// The ':' of a[i:j].
static void read_colon(machine *m) {
    m->at++;
    reduce_to(m, 1);
    if (!m->has_fault && (!top_is(m, KKI_INDEX) || top_entry(m)->count > 0)) {
        fail(m, KK_UNSUPPORTED, "a ':' outside of a[i:j]; check the expression");
        return;
    }
    if (!m->has_fault) {
        m->entry[m->entries - 1].count++;
        m->wants_value = true;
    }
}

/// The '.name' or '.name(' behind a value.
static void read_part(machine *m) {
    m->at++;
    size_t length = 0;
    const char *name = m->text + m->at;
    while (starts_name(peek(m, length)) || (length > 0 && is_digit(peek(m, length)))) {
        length++;
    }
    const int method = kki_method_find(name, length);
    const bool is_call = peek_after(m, length) == '(';
    if (length == 0 || (is_call && method < 0)) {
        m->at--;
        fail_named(m, "the method ", name, length, " is not supported; compute the value outside");
        return;
    }
    m->at += length;
    if (is_call) {
        skip_blanks(m);
        m->at++;
        push_entry(m, (entry){KKI_METHOD, method, 0});
        return;
    }
    const kki_value base = m->value[--m->values];
    push_value(m, kki_value_member(m->names->pool, &base, name, length));
}

static void read_else(machine *m) {
    reduce_to(m, 1);
    if (!m->has_fault && !top_is(m, KKI_IF)) {
        fail(m, KK_SYNTAX, "an 'else' without 'if'; write a if condition else b");
        return;
    }
    if (!m->has_fault) {
        m->entry[m->entries - 1].operator= KKI_CHOOSE;
        m->wants_value = true;
    }
}

/// Takes the word behind blanks where it is next.
static bool take_word(machine *m, const char *word) {
    const size_t start = m->at;
    skip_blanks(m);
    const size_t length = name_length(m);
    const bool is_next = kki_text_is_word(m->text + m->at, length, word);
    m->at = is_next ? m->at + length : start;
    return is_next;
}

static void read_operator_name(machine *m) {
    const char *name = m->text + m->at;
    const size_t length = name_length(m);
    m->at += length;
    if (kki_text_is_word(name, length, "in")) {
        push_binary(m, KKI_IN);
        return;
    }
    if (kki_text_is_word(name, length, "not") && take_word(m, "in")) {
        push_binary(m, KKI_NOT_IN);
        return;
    }
    if (kki_text_is_word(name, length, "is")) {
        push_binary(m, take_word(m, "not") ? KKI_IS_NOT : KKI_IS);
        return;
    }
    if (kki_text_is_word(name, length, "and") || kki_text_is_word(name, length, "or")) {
        push_binary(m, name[0] == 'a' ? KKI_AND : KKI_OR);
    } else if (kki_text_is_word(name, length, "if")) {
        reduce_to(m, precedence[KKI_OR]);
        push_entry(m, (entry){KKI_IF, 0, 0});
    } else if (kki_text_is_word(name, length, "else")) {
        read_else(m);
    } else if (is_python(name, length)) {
        fail_named(m, "Python's ", name, length, " is not supported; compute the value outside");
    } else {
        fail_named(m, "an operator is missing before ", name, length, "; check the expression");
    }
}

static void read_operator(machine *m) {
    static const struct {
        const char *text;
        kki_operator operator;
    } operators[] = {{"**", KKI_POWER}, {"//", KKI_FLOOR_DIVIDE}, {"<=", KKI_LESS_EQUAL}, {">=", KKI_GREATER_EQUAL},
                     {"==", KKI_EQUAL}, {"!=", KKI_NOT_EQUAL},    {"<", KKI_LESS},        {">", KKI_GREATER},
                     {"+", KKI_ADD},    {"-", KKI_SUBTRACT},      {"*", KKI_MULTIPLY},    {"/", KKI_DIVIDE},
                     {"%", KKI_MODULO}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const size_t n = strlen(operators[i].text);
        if (m->length - m->at >= n && memcmp(m->text + m->at, operators[i].text, n) == 0) {
            m->at += n;
            push_binary(m, operators[i].operator);
            return;
        }
    }
    const char c = peek(m, 0);
    if (c == ')' || c == ']') {
        close_bracket(m, c);
    } else if (c == ',') {
        read_comma(m);
    } else if (c == ':') {
        read_colon(m);
    } else if (c == '[') {
        m->at++;
        push_entry(m, (entry){KKI_INDEX, 0, 0});
    } else if (c == '.') {
        read_part(m);
    } else if (starts_name(c)) {
        read_operator_name(m);
    } else {
        fail_named(m, "the operator ", m->text + m->at, 1, " is not supported; check the expression");
    }
}

static kki_value finish(machine *m) {
    if (!m->has_fault && m->wants_value) {
        fail(m, KK_SYNTAX,
             m->at == 0 || m->values == 0 ? "an empty expression; write a value"
                                          : "the expression ends too early; add its last part");
    }
    reduce_to(m, 1);
    if (!m->has_fault && m->entries > 0) {
        fail(m, KK_SYNTAX,
             top_is(m, KKI_IF)                     ? "an 'if' without 'else'; add it"
             : closes(top_entry(m)->operator, ']') ? "a ']' is missing; add it"
                                                   : "a ')' is missing; add it");
    }
    return m->has_fault ? m->fault : m->value[0];
}

kki_value kki_evaluate(const char *text, size_t length, const kki_names *names, size_t *offset) {
    machine m = {.text = text, .length = length, .names = names, .wants_value = true};
    skip_blanks(&m);
    while (m.at < m.length && !m.has_fault) {
        m.start = m.at;
        if (m.wants_value) {
            read_operand(&m);
        } else {
            read_operator(&m);
        }
        skip_blanks(&m);
    }
    *offset = m.has_fault ? m.start : 0;
    const kki_value v = finish(&m);
    return v;
}
