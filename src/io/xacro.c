/// The expansion: a stack of sibling lists instead of recursion.
///
/// The topmost list gives its next node: an element of the file is opened in the result and its children become a new
/// list; an element of xacro does what it says, which may be to put a list on the stack: of a macro, a block, an included
/// file, a condition's children.
#include "xacro.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "text.h"
#include "xacro_text.h"
#include "xml_build.h"

/// The node at hand.
typedef struct place {
    int32_t document, node, scope;
} place;

static const kki_xml *xml_of(const kki_xacro *x, int32_t document) {
    return x->document[document].xml;
}

static uint32_t place_of_node(const kki_xacro *x, const place *p) {
    return xml_of(x, p->document)->node[p->node].place;
}

#define FAIL(x, p, status, ...) kki_xacro_error((x), (p)->document, place_of_node((x), (p)), (status), __VA_ARGS__)

static kk_status fail_memory(const kki_xacro *x, const place *p, kk_status status) {
    return FAIL(x, p, status, "%s",
                status == KK_OUT_OF_MEMORY ? "out of memory while expanding xacro"
                                           : "the expansion is too large; simplify it or raise the limit");
}

static int32_t find_attribute(const kki_xacro *x, const place *p, const char *name) {
    return kki_xml_find(xml_of(x, p->document), p->node, name);
}

/// An attribute's value as it is written, or an error where there is none.
static kk_status need_attribute(const kki_xacro *x, const place *p, const char *name, int32_t *attribute) {
    *attribute = find_attribute(x, p, name);
    return *attribute != KKI_XML_NONE
               ? KK_OK
               : FAIL(x, p, KK_NOT_FOUND, "<%s> has no attribute '%s'; add %s=\"...\"",
                      kki_shorten_string(kki_xml_name(xml_of(x, p->document), p->node)).text, name, name);
}

static kk_status evaluate_attribute(kki_xacro *x, const place *p, int32_t attribute, kki_value *value) {
    const kki_xacro_text text = kki_xacro_attribute_text(x, p->document, p->node, attribute, p->scope);
    return kki_xacro_evaluate(x, &text, value);
}

/// Its evaluated text.
static kk_status evaluate_name(kki_xacro *x, const place *p, const char *attribute_name, kki_value *value) {
    int32_t attribute;
    kk_status status = need_attribute(x, p, attribute_name, &attribute);
    status = status ? status : evaluate_attribute(x, p, attribute, value);
    if (status != KK_OK) {
        return status;
    }
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    const kki_value plain = kki_value_written(&x->pool, value);
    if (plain.kind == KKI_VALUE_FAULT) {
        return fail_memory(x, p, plain.status);
    }
    const char *text = kki_value_to_text(&plain, buffer, &value->length);
    const char *copy = kki_pool_copy(&x->pool, text, value->length);
    if (!copy) {
        return fail_memory(x, p, x->pool.is_over ? KK_LIMIT_EXCEEDED : KK_OUT_OF_MEMORY);
    }
    *value = (kki_value){.kind = KKI_VALUE_TEXT, .text = copy, .length = value->length};
    return value->length > 0
               ? KK_OK
               : FAIL(x, p, KK_INVALID_ARGUMENT, "attribute '%s' is empty; name something", attribute_name);
}

// ---- the stack

static kk_status push_frame(kki_xacro *x, const place *p, const kki_xacro_frame *frame) {
    if (frame->node == KKI_XML_NONE && !frame->closes) {
        return KK_OK;
    }
    if (x->frame_count == x->options.depth) {
        return FAIL(x, p, KK_LIMIT_EXCEEDED,
                    "the expansion is more than %d deep; check for a macro or block that contains itself, or raise the "
                    "limit",
                    (int)x->options.depth);
    }
    x->frame[x->frame_count++] = *frame;
    return KK_OK;
}

static kki_xacro_frame children_frame(const kki_xacro *x, const place *p) {
    return (kki_xacro_frame){.document = p->document,
                             .node = xml_of(x, p->document)->node[p->node].first_child,
                             .scope = p->scope,
                             .include = -1};
}

// ---- elements and texts of the result

static kk_status check_room(const kki_xacro *x, const place *p) {
    return x->result->node_count < x->options.nodes && x->result->string_size < x->options.bytes
               ? KK_OK
               : fail_memory(x, p, KK_LIMIT_EXCEEDED);
}

typedef kk_status put_into_tree(kki_xml *xml, const kki_xml_attribute *attribute);

static kk_status write_attribute(kki_xacro *x, const place *p, const kki_xml_attribute *from, const char *name,
                                 const kki_value *value, put_into_tree *put) {
    const uint32_t base = x->document[p->document].base;
    kki_xml_attribute to = {.place = from->place + base, .value_place = from->value_place + base};
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    size_t length;
    const kki_value plain = kki_value_written(&x->pool, value);
    kk_status status = plain.kind == KKI_VALUE_FAULT ? fail_memory(x, p, plain.status) : check_room(x, p);
    if (status != KK_OK) {
        return status;
    }
    const char *text = kki_value_to_text(&plain, buffer, &length);
    status = kki_xml_add_string(x->result, name, strlen(name), &to.name);
    status = status ? status : kki_xml_add_string(x->result, text, length, &to.value);
    to.value_length = (uint32_t)length;
    status = status ? status : put(x->result, &to);
    return status ? fail_memory(x, p, status) : KK_OK;
}

static kk_status put_attribute(kki_xacro *x, const place *p, int32_t attribute) {
    const kki_xml *xml = xml_of(x, p->document);
    const kki_xml_attribute *from = &xml->attribute[attribute];
    const char *name = kki_xml_string(xml, from->name), *text = kki_xml_string(xml, from->value);
    kki_value value = {.kind = KKI_VALUE_TEXT, .text = text, .length = from->value_length};
    kk_status status = KK_OK;
    if (strcmp(name, "xmlns:xacro") == 0 || strncmp(name, "xacro:", 6) == 0) {
        return KK_OK;
    }
    if (memchr(text, '$', from->value_length)) {
        status = evaluate_attribute(x, p, attribute, &value);
    }
    return status ? status : write_attribute(x, p, from, name, &value, kki_xml_add_attribute);
}

/// Opens an element of that name with the node's attributes; its children are next.
static kk_status put_named_element(kki_xacro *x, const place *p, const char *text, size_t length) {
    const kki_xml_node *n = &xml_of(x, p->document)->node[p->node];
    uint32_t name;
    kk_status status = check_room(x, p);
    if (status != KK_OK) {
        return status;
    }
    status = kki_xml_add_string(x->result, text, length, &name);
    status = status ? status
                    : kki_xml_open_element(x->result, n->place + x->document[p->document].base, name, (uint32_t)length);
    if (status != KK_OK) {
        return fail_memory(x, p, status);
    }
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count && status == KK_OK; i++) {
        status = put_attribute(x, p, i);
    }
    kki_xacro_frame frame = children_frame(x, p);
    frame.closes = true;
    return status ? status : push_frame(x, p, &frame);
}

static kk_status put_element(kki_xacro *x, const place *p) {
    const kki_xml *xml = xml_of(x, p->document);
    const kki_xml_node *n = &xml->node[p->node];
    return put_named_element(x, p, kki_xml_string(xml, n->text), n->length);
}

static bool is_name_text(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (strchr(" \t\r\n<>&'\"/=", text[i])) {
            return false;
        }
    }
    return length > 0;
}

static kk_status check_xml_name(const kki_xacro *x, const place *p, const kki_value *name) {
    return is_name_text(name->text, name->length)
               ? KK_OK
               : FAIL(x, p, KK_INVALID_ARGUMENT, "'%s' is no name of XML; write one without blanks",
                      kki_shorten(name->text, name->length).text);
}

/// <xacro:element xacro:name="...">: an element whose name is computed.
static kk_status do_element(kki_xacro *x, const place *p) {
    kki_value name;
    kk_status status = evaluate_name(x, p, "xacro:name", &name);
    status = status ? status : check_xml_name(x, p, &name);
    return status ? status : put_named_element(x, p, name.text, name.length);
}

/// <xacro:attribute name="..." value="..."/>: an attribute of the element around it.
static kk_status do_attribute(kki_xacro *x, const place *p) {
    int32_t attribute;
    kki_value name, value = {0};
    kk_status status = evaluate_name(x, p, "name", &name);
    status = status ? status : check_xml_name(x, p, &name);
    status = status ? status : need_attribute(x, p, "value", &attribute);
    status = status ? status : evaluate_attribute(x, p, attribute, &value);
    if (status != KK_OK) {
        return status;
    }
    return write_attribute(x, p, &xml_of(x, p->document)->attribute[attribute], name.text, &value,
                           kki_xml_set_attribute);
}

static bool is_blank_text(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r\n", text[i])) {
            return false;
        }
    }
    return true;
}

static kk_status put_text(kki_xacro *x, const place *p) {
    const kki_xacro_text text = kki_xacro_node_text(x, p->document, p->node, p->scope);
    kki_value value = {.kind = KKI_VALUE_TEXT, .text = text.text, .length = text.length};
    kk_status status = memchr(text.text, '$', text.length) ? kki_xacro_evaluate(x, &text, &value) : KK_OK;
    status = status ? status : check_room(x, p);
    if (status != KK_OK) {
        return status;
    }
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    size_t length;
    value = kki_value_written(&x->pool, &value);
    if (value.kind == KKI_VALUE_FAULT) {
        return fail_memory(x, p, value.status);
    }
    const char *written = kki_value_to_text(&value, buffer, &length);
    if (is_blank_text(written, length)) {
        return KK_OK;
    }
    uint32_t offset;
    status = kki_xml_add_string(x->result, written, length, &offset);
    status = status ? status
                    : kki_xml_add_text(x->result, place_of_node(x, p) + x->document[p->document].base, offset,
                                       (uint32_t)length);
    return status ? fail_memory(x, p, status) : KK_OK;
}

// ---- properties and arguments

/// "*name" for blocks, "$name" for arguments, in the pool.
static kk_status prefixed(kki_xacro *x, const place *p, char prefix, const char *name, size_t length,
                          kki_symbol *symbol) {
    char *key = kki_pool_take(&x->pool, length + 2);
    if (!key) {
        return fail_memory(x, p, x->pool.is_over ? KK_LIMIT_EXCEEDED : KK_OUT_OF_MEMORY);
    }
    key[0] = prefix;
    memcpy(key + 1, name, length);
    key[length + 1] = 0;
    symbol->name = key;
    symbol->name_length = length + 1;
    return KK_OK;
}

static kk_status set_symbol(kki_xacro *x, const place *p, kki_symbols *table, const kki_symbol *symbol) {
    const kk_status status = kki_symbols_set(table, symbol);
    return status ? fail_memory(x, p, status) : KK_OK;
}

/// The scope around this one; that of a macro's caller, not of the namespace that the macro is in.
static int32_t caller_scope(const kki_xacro *x, int32_t scope) {
    for (int32_t i = x->frame_count - 1; i >= 0; i--) {
        if (x->frame[i].macro && x->frame[i].scope == scope) {
            return x->frame[i].call_scope;
        }
    }
    return x->symbols.parent[scope];
}

static kk_status choose_scope(const kki_xacro *x, const place *p, int32_t *scope) {
    const char *word = kki_xml_value(xml_of(x, p->document), p->node, "scope");
    const int32_t parent = caller_scope(x, p->scope);
    *scope = p->scope;
    if (!word || strcmp(word, "local") == 0) {
        return KK_OK;
    }
    if (strcmp(word, "global") == 0) {
        *scope = KKI_XACRO_OUTERMOST;
        return KK_OK;
    }
    if (strcmp(word, "parent") == 0) {
        *scope = parent >= 0 ? parent : KKI_XACRO_OUTERMOST;
        return KK_OK;
    }
    return FAIL(x, p, KK_SYNTAX, "scope '%s' is not known; write parent or global", kki_shorten_string(word).text);
}

static kk_status set_block(kki_xacro *x, const place *p, const kki_value *name, int32_t scope) {
    kki_symbol symbol = {.kind = KKI_SYMBOL_BLOCK, .scope = scope, .document = p->document, .block_scope = p->scope};
    symbol.node = xml_of(x, p->document)->node[p->node].first_child;
    const kk_status status = prefixed(x, p, '*', name->text, name->length, &symbol);
    return status ? status : set_symbol(x, p, &x->symbols, &symbol);
}

/// A property's text, evaluated now where nothing is to be computed or the file asks for it.
static kk_status set_property(kki_xacro *x, const place *p, const kki_value *name, int32_t attribute, int32_t scope) {
    const char *lazy = kki_xml_value(xml_of(x, p->document), p->node, "lazy_eval");
    const kki_xacro_text text = kki_xacro_attribute_text(x, p->document, p->node, attribute, p->scope);
    kki_symbol symbol = {.kind = KKI_SYMBOL_RAW,
                         .scope = scope,
                         .document = p->document,
                         .node = p->node,
                         .place = place_of_node(x, p),
                         .name = name->text,
                         .name_length = name->length};
    const bool is_plain = !memchr(text.text, '$', text.length);
    // in another scope the names could mean something else later
    if (is_plain || scope != p->scope ||
        (lazy && (strcmp(lazy, "false") == 0 || strcmp(lazy, "False") == 0 || strcmp(lazy, "0") == 0))) {
        kki_value value = {.kind = KKI_VALUE_TEXT, .text = text.text, .length = text.length};
        const kk_status status = is_plain ? KK_OK : kki_xacro_evaluate(x, &text, &value);
        if (status != KK_OK) {
            return status;
        }
        symbol.kind = KKI_SYMBOL_VALUE;
        symbol.value = value.kind == KKI_VALUE_TEXT ? kki_value_from_text(value.text, value.length) : value;
    }
    return set_symbol(x, p, &x->symbols, &symbol);
}

static bool wants_removal(const kki_xacro *x, const place *p) {
    const char *word = kki_xml_value(xml_of(x, p->document), p->node, "remove");
    return word && (strcmp(word, "true") == 0 || strcmp(word, "True") == 0 || strcmp(word, "1") == 0);
}

/// Makes a property unknown in this scope and in all around it.
static kk_status remove_property(kki_xacro *x, const place *p, const kki_value *name) {
    for (int32_t scope = p->scope; scope >= 0; scope = x->symbols.parent[scope]) {
        const int32_t found = kki_symbols_find_in(&x->symbols, scope, name->text, name->length);
        if (found >= 0) {
            x->symbols.symbol[found].kind = KKI_SYMBOL_NONE;
        }
    }
    return KK_OK;
}

static kk_status do_property(kki_xacro *x, const place *p) {
    kki_value name;
    int32_t scope;
    kk_status status = evaluate_name(x, p, "name", &name);
    status = status ? status : choose_scope(x, p, &scope);
    if (status != KK_OK) {
        return status;
    }
    if (wants_removal(x, p)) {
        return remove_property(x, p, &name);
    }
    const int32_t value = find_attribute(x, p, "value"), normal = find_attribute(x, p, "default");
    if (value == KKI_XML_NONE && normal == KKI_XML_NONE) {
        return set_block(x, p, &name, scope);
    }
    if (value == KKI_XML_NONE && kki_symbols_find(&x->symbols, p->scope, name.text, name.length) >= 0) {
        return KK_OK;
    }
    return set_property(x, p, &name, value != KKI_XML_NONE ? value : normal, scope);
}

static kk_status do_arg(kki_xacro *x, const place *p) {
    kki_value name, value = {0};
    kki_symbol symbol = {.kind = KKI_SYMBOL_VALUE, .scope = KKI_XACRO_OUTERMOST};
    kk_status status = evaluate_name(x, p, "name", &name);
    status = status ? status : prefixed(x, p, '$', name.text, name.length, &symbol);
    const int32_t normal = find_attribute(x, p, "default");
    if (status != KK_OK || normal == KKI_XML_NONE ||
        kki_symbols_find_in(&x->others, KKI_XACRO_OUTERMOST, symbol.name, symbol.name_length) >= 0) {
        return status;
    }
    status = evaluate_attribute(x, p, normal, &value);
    symbol.value = value;
    return status ? status : set_symbol(x, p, &x->others, &symbol);
}

// ---- conditions

/// True or false as xacro takes it: truth values, numbers, and their texts.
static bool read_truth(const kki_value *value, bool *is_true) {
    const kki_value v = value->kind == KKI_VALUE_TEXT ? kki_value_from_text(value->text, value->length) : *value;
    *is_true = kki_value_is_true(&v);
    return v.kind != KKI_VALUE_TEXT;
}

/// Whether the children of an if, or with wanted = false of an unless, are there.
static kk_status check_condition(kki_xacro *x, const place *p, bool wanted, bool *holds) {
    int32_t attribute;
    kki_value value = {0};
    bool is_true;
    kk_status status = need_attribute(x, p, "value", &attribute);
    status = status ? status : evaluate_attribute(x, p, attribute, &value);
    if (status != KK_OK) {
        return status;
    }
    *holds = read_truth(&value, &is_true) && is_true == wanted;
    return read_truth(&value, &is_true)
               ? KK_OK
               : FAIL(x, p, KK_SYNTAX,
                      "the condition '%s' is neither true nor false; write true, false, 1, 0 or ${...}",
                      kki_shorten(value.text, value.length).text);
}

static kk_status do_condition(kki_xacro *x, const place *p, bool wanted) {
    bool holds = false;
    const kk_status status = check_condition(x, p, wanted, &holds);
    const kki_xacro_frame frame = children_frame(x, p);
    return status || !holds ? status : push_frame(x, p, &frame);
}

static kk_status do_if(kki_xacro *x, const place *p) {
    return do_condition(x, p, true);
}

static kk_status do_unless(kki_xacro *x, const place *p) {
    return do_condition(x, p, false);
}

// ---- macros

/// One of the words of a macro's params.
typedef struct parameter {
    const char *name, *normal; ///< normal: its default, NULL where it has none
    size_t length, normal_length;
    int stars;      ///< 1: a block, 2: the children of one
    bool is_passed; ///< ^: the caller's property of the same name
    size_t offset;  ///< of the default in params
} parameter;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Length of a default: up to a blank that is in no quotes and no brackets.
static size_t default_length(const char *text) {
    size_t n = 0;
    char closing = 0;
    while (text[n] && (closing || !is_blank(text[n]))) {
        const char c = text[n++];
        if (closing) {
            closing = c == closing ? 0 : closing;
        } else if (c == '\'' || c == '"') {
            closing = c;
        } else if (c == '$' && (text[n] == '{' || text[n] == '(')) {
            closing = text[n] == '{' ? '}' : ')';
        }
    }
    return n;
}

/// Reads the next word of params; false at the end.
static bool next_parameter(const char *params, size_t *at, parameter *p) {
    *at += strspn(params + *at, " \t\r\n");
    *p = (parameter){.stars = (int)strspn(params + *at, "*")};
    p->name = params + *at + p->stars;
    p->length = strcspn(p->name, " \t\r\n:=");
    *at = (size_t)(p->name - params) + p->length;
    const size_t sign = params[*at] == ':' && params[*at + 1] == '=' ? 2 : params[*at] == '=' ? 1 : 0;
    if (sign > 0) {
        *at += sign;
        p->is_passed = params[*at] == '^';
        *at += p->is_passed ? 1 : 0;
        const bool has_more = p->is_passed && params[*at] == '|';
        *at += has_more ? 1 : 0;
        p->offset = *at;
        p->normal_length = default_length(params + *at);
        p->normal = p->is_passed && !has_more ? NULL : params + *at;
        *at += p->normal_length;
    }
    return p->length > 0;
}

static kk_status check_parameters(const kki_xacro *x, const place *p, const char *params) {
    size_t at = 0;
    parameter word;
    while (next_parameter(params, &at, &word)) {
        if (word.stars > 2) {
            break;
        }
    }
    const bool is_end = word.length == 0 && word.stars == 0 && !word.normal && !word.is_passed;
    return is_end && params[at] == 0
               ? KK_OK
               : FAIL(x, p, KK_SYNTAX, "params '%s' are malformed; write them like \"a b:=1 *block\"",
                      kki_shorten_string(params).text);
}

static const char *params_of(const kki_xacro *x, int32_t document, int32_t node) {
    const char *params = kki_xml_value(xml_of(x, document), node, "params");
    return params ? params : "";
}

static const char *without_prefix(const char *name) {
    return strncmp(name, "xacro:", 6) == 0 ? name + 6 : name;
}

static kk_status do_macro(kki_xacro *x, const place *p) {
    kki_value name;
    kk_status status = evaluate_name(x, p, "name", &name);
    status = status ? status : check_parameters(x, p, params_of(x, p->document, p->node));
    if (status != KK_OK) {
        return status;
    }
    const char *plain = without_prefix(name.text);
    const kki_symbol symbol = {.kind = KKI_SYMBOL_BLOCK,
                               .scope = x->symbols.home[p->scope],
                               .document = p->document,
                               .node = p->node,
                               .name = plain,
                               .name_length = strlen(plain)};
    return set_symbol(x, p, &x->others, &symbol);
}

enum { MOST_LISTS = 16 };

/// A call on its way.
typedef struct call {
    const place *from; ///< the calling element
    const char *params;
    const kki_symbol macro;
    int32_t around;                   ///< the scope that the macro's inside lies in
    int32_t scope;                    ///< of the macro's inside
    kki_xacro_frame list[MOST_LISTS]; ///< the call's children, and lists among them that are put in their place
    int lists;
    place block;     ///< the next element for a block; document −1 at the end
    bool is_dynamic; ///< <xacro:call macro="...">
} call;

static kk_status check_call(const kki_xacro *x, const call *c) {
    const kki_xml *xml = xml_of(x, c->from->document);
    const kki_xml_node *n = &xml->node[c->from->node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        const char *name = kki_xml_string(xml, xml->attribute[i].name);
        size_t at = 0;
        parameter word;
        bool is_known = c->is_dynamic && strcmp(name, "macro") == 0;
        while (!is_known && next_parameter(c->params, &at, &word)) {
            is_known = word.stars == 0 && strlen(name) == word.length && memcmp(name, word.name, word.length) == 0;
        }
        if (!is_known) {
            return kki_xacro_error(x, c->from->document, xml->attribute[i].place, KK_INVALID_ARGUMENT,
                                   "macro '%s' has no parameter '%s'; check its spelling or the macro's params",
                                   kki_shorten_string(c->macro.name).text, kki_shorten_string(name).text);
        }
    }
    return KK_OK;
}

static kk_status fail_parameter(const kki_xacro *x, const call *c, const parameter *word, const char *what) {
    return FAIL(x, c->from, KK_NOT_FOUND, "macro '%s' needs %s '%s'; add it to the call",
                kki_shorten_string(c->macro.name).text, what, kki_shorten(word->name, word->length).text);
}

/// The nodes that <xacro:insert_block name="..."/> stands for.
static kk_status find_block(kki_xacro *x, const place *p, kki_xacro_frame *frame) {
    kki_value name;
    kki_symbol key = {0};
    kk_status status = evaluate_name(x, p, "name", &name);
    status = status ? status : prefixed(x, p, '*', name.text, name.length, &key);
    if (status != KK_OK) {
        return status;
    }
    const int32_t found = kki_symbols_find(&x->symbols, p->scope, key.name, key.name_length);
    if (found < 0) {
        return FAIL(x, p, KK_NOT_FOUND, "block '%s' is not known; add it to the macro's params as *%s",
                    kki_shorten(name.text, name.length).text, kki_shorten(name.text, name.length).text);
    }
    const kki_symbol *block = &x->symbols.symbol[found];
    *frame = (kki_xacro_frame){.document = block->document,
                               .node = block->node,
                               .scope = block->block_scope,
                               .include = -1,
                               .is_single = block->is_single};
    return KK_OK;
}

/// A list that takes the place of an element among the children of a call: what a block holds, or a condition.
static kk_status open_list(kki_xacro *x, call *c, const place *p, const char *name, bool *is_list) {
    kki_xacro_frame frame = children_frame(x, p);
    bool holds = true;
    kk_status status = KK_OK;
    *is_list = true;
    if (strcmp(name, "xacro:insert_block") == 0) {
        status = find_block(x, p, &frame);
    } else if (strcmp(name, "xacro:if") == 0 || strcmp(name, "xacro:unless") == 0) {
        status = check_condition(x, p, name[6] == 'i', &holds);
    } else {
        *is_list = false;
    }
    if (status != KK_OK || !*is_list || !holds) {
        return status;
    }
    if (c->lists == MOST_LISTS) {
        return FAIL(x, p, KK_LIMIT_EXCEEDED, "more than %d blocks and conditions in each other; write some out",
                    MOST_LISTS);
    }
    c->list[c->lists++] = frame;
    return KK_OK;
}

/// Goes on to the next element that the call hands over. As in xacro they are looked at before the macro is expanded, so what blocks and conditions
/// hold counts, not they themselves.
static kk_status next_block(kki_xacro *x, call *c) {
    kk_status status = KK_OK;
    c->block.document = -1;
    while (c->lists > 0 && status == KK_OK) {
        kki_xacro_frame *top = &c->list[c->lists - 1];
        if (top->node == KKI_XML_NONE) {
            c->lists--;
            continue;
        }
        const kki_xml *xml = xml_of(x, top->document);
        const place p = {top->document, top->node, top->scope};
        top->node = top->is_single ? KKI_XML_NONE : xml->node[top->node].next;
        bool is_list = true;
        status = kki_xacro_step(x, p.document, place_of_node(x, &p));
        if (status == KK_OK && kki_xml_is_element(xml, p.node)) {
            status = open_list(x, c, &p, kki_xml_name(xml, p.node), &is_list);
        }
        if (status == KK_OK && !is_list) {
            c->block = p;
            return KK_OK;
        }
    }
    return status;
}

static kk_status bind_block(kki_xacro *x, call *c, const parameter *word) {
    if (c->block.document < 0) {
        return fail_parameter(x, c, word, "an element for the block");
    }
    const kki_xml *xml = xml_of(x, c->block.document);
    kki_symbol symbol = {.kind = KKI_SYMBOL_BLOCK,
                         .scope = c->scope,
                         .document = c->block.document,
                         .node = word->stars == 1 ? c->block.node : xml->node[c->block.node].first_child,
                         .is_single = word->stars == 1,
                         .block_scope = c->block.scope};
    kk_status status = next_block(x, c);
    status = status ? status : prefixed(x, c->from, '*', word->name, word->length, &symbol);
    return status ? status : set_symbol(x, c->from, &x->symbols, &symbol);
}

/// The caller's property of the same name; *is_there tells whether there is one.
static kk_status evaluate_passed(kki_xacro *x, const call *c, const parameter *word, kki_value *value, bool *is_there) {
    char text[KKI_SHORT_TEXT_SIZE + 4] = "${";
    *is_there = word->length < KKI_SHORT_TEXT_SIZE &&
                kki_symbols_find(&x->symbols, c->from->scope, word->name, word->length) >= 0;
    if (!*is_there) {
        return KK_OK;
    }
    memcpy(text + 2, word->name, word->length);
    text[word->length + 2] = '}';
    const int32_t attribute = kki_xml_find(xml_of(x, c->macro.document), c->macro.node, "params");
    const kki_xacro_text source = {text, word->length + 3, c->from->scope, c->macro.document, c->macro.node, attribute,
                                   0};
    return kki_xacro_evaluate(x, &source, value);
}

static kk_status evaluate_default(kki_xacro *x, const call *c, const parameter *word, kki_value *value) {
    bool is_there = false;
    const kk_status status = word->is_passed ? evaluate_passed(x, c, word, value, &is_there) : KK_OK;
    if (status != KK_OK || is_there) {
        return status;
    }
    if (!word->normal) {
        return fail_parameter(x, c, word, "the parameter");
    }
    const int32_t attribute = kki_xml_find(xml_of(x, c->macro.document), c->macro.node, "params");
    const kki_xacro_text text = {word->normal, word->normal_length,   c->scope, c->macro.document, c->macro.node,
                                 attribute,    (uint32_t)word->offset};
    return kki_xacro_evaluate(x, &text, value);
}

static kk_status bind_value(kki_xacro *x, const call *c, const parameter *word) {
    const kki_xml *xml = xml_of(x, c->from->document);
    const kki_xml_node *n = &xml->node[c->from->node];
    int32_t attribute = KKI_XML_NONE;
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        const char *name = kki_xml_string(xml, xml->attribute[i].name);
        if (strlen(name) == word->length && memcmp(name, word->name, word->length) == 0) {
            attribute = i;
        }
    }
    kki_value value = {0};
    const kk_status status = attribute != KKI_XML_NONE ? evaluate_attribute(x, c->from, attribute, &value)
                                                       : evaluate_default(x, c, word, &value);
    if (status != KK_OK) {
        return status;
    }
    const kki_symbol symbol = {.kind = KKI_SYMBOL_VALUE,
                               .scope = c->scope,
                               .name = word->name,
                               .name_length = word->length,
                               .value = value.kind == KKI_VALUE_TEXT ? kki_value_from_text(value.text, value.length)
                                                                     : value};
    return set_symbol(x, c->from, &x->symbols, &symbol);
}

/// Where a macro is and which scope its inside sees: that of the caller, or of the namespace before its name.
typedef struct macro_place {
    int32_t macro, around;
} macro_place;

static macro_place find_macro(const kki_xacro *x, int32_t scope, const char *name, size_t length) {
    macro_place m = {-1, scope};
    for (const char *dot; scope >= 0 && (dot = memchr(name, '.', length)); m.around = scope) {
        scope = kki_xacro_find_namespace(x, scope, name, (size_t)(dot - name));
        length -= (size_t)(dot - name) + 1;
        name = dot + 1;
    }
    while (scope >= 0 && m.macro < 0) {
        const int32_t home = x->symbols.home[scope];
        m.macro = kki_symbols_find_in(&x->others, home, name, length);
        scope = x->symbols.parent[home];
    }
    return m;
}

static kk_status call_macro(kki_xacro *x, const place *p, macro_place where, bool is_dynamic) {
    const kki_symbol found = x->others.symbol[where.macro];
    call c = {.from = p,
              .params = params_of(x, found.document, found.node),
              .macro = found,
              .around = where.around,
              .lists = 1,
              .is_dynamic = is_dynamic};
    kk_status status = kki_symbols_add_scope(&x->symbols, c.around, false, &c.scope);
    c.list[0] = children_frame(x, p);
    status = status ? fail_memory(x, p, status) : check_call(x, &c);
    status = status ? status : next_block(x, &c);
    size_t at = 0;
    parameter word;
    while (status == KK_OK && next_parameter(c.params, &at, &word)) {
        status = word.stars > 0 ? bind_block(x, &c, &word) : bind_value(x, &c, &word);
    }
    if (status == KK_OK && c.block.document >= 0) {
        return FAIL(x, &c.block, KK_INVALID_ARGUMENT, "macro '%s' takes no further block; remove the element",
                    kki_shorten_string(found.name).text);
    }
    const place inside = {found.document, found.node, c.scope};
    kki_xacro_frame frame = children_frame(x, &inside);
    frame.macro = found.name;
    frame.call_document = p->document;
    frame.call_scope = p->scope;
    frame.call_place = place_of_node(x, p);
    return status ? status : push_frame(x, p, &frame);
}

static kk_status do_insert_block(kki_xacro *x, const place *p) {
    kki_xacro_frame frame;
    const kk_status status = find_block(x, p, &frame);
    return status ? status : push_frame(x, p, &frame);
}

// ---- includes

/// What an expansion may take at all, and more for each byte of its files. Few for fuzzing: recursion would take all the time.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { FIRST_STEPS = 1000, STEPS_A_BYTE = 0 };
#else
enum { FIRST_STEPS = 1000000, STEPS_A_BYTE = 4 };
#endif

static int32_t add_bounded(int32_t a, size_t b) {
    return b < (size_t)(INT32_MAX - a) ? a + (int32_t)b : INT32_MAX;
}

/// What an expansion may take is in proportion to the files that it comes from, so that a small bomb stays small.
static void grow_limits(kki_xacro *x, size_t length) {
    x->options.steps = x->steps_grow ? add_bounded(x->options.steps, STEPS_A_BYTE * length) : x->options.steps;
    x->options.nodes = x->nodes_grow ? add_bounded(x->options.nodes, length / 4) : x->options.nodes;
    x->options.bytes += x->bytes_grow ? 4 * length : 0;
    x->pool.limit = x->options.bytes;
}

/// Takes a tree in as a document: a copy of its text goes into the result.
static kk_status add_document(kki_xacro *x, const kki_xml *xml, kki_xml *owned, const char *path, int32_t *document) {
    int32_t source;
    const kki_xml_source *text = &xml->source[0];
    const char *copy = kki_pool_copy(&x->pool, path, strlen(path));
    kk_status status =
        copy ? kki_xml_add_source(x->result, text->file, text->text, text->length, &source) : KK_OUT_OF_MEMORY;
    if (status != KK_OK) {
        return status;
    }
    grow_limits(x, text->length);
    *document = x->document_count++;
    x->document[*document] = (kki_xacro_document){xml, owned, copy, x->result->source[source].base};
    return KK_OK;
}

static kk_status read_document(kki_xacro *x, const place *p, const char *path, int32_t *document) {
    const kki_file_source *s = &x->resolver->source;
    kki_file_data data;
    kki_xml *xml = NULL;
    if (x->document_count == KKI_XACRO_MOST_DOCUMENTS) {
        return FAIL(x, p, KK_LIMIT_EXCEEDED, "more than %d included files; join some", KKI_XACRO_MOST_DOCUMENTS - 1);
    }
    kk_status status = s->read(s->user, path, x->options.file_size, &x->allocator, &data, x->error);
    if (status != KK_OK) {
        return status;
    }
    status = kki_xml_parse(path, data.bytes, data.size, NULL, &x->allocator, &xml, x->error);
    kki_file_release(&data, &x->allocator);
    if (status != KK_OK) {
        const kki_xml_position at = kki_xml_locate(xml_of(x, p->document), place_of_node(x, p));
        kki_error_trail(x->error, "included from %s:%d:%d", at.file, at.line, at.column);
        return status;
    }
    status = add_document(x, xml, xml, path, document);
    if (status != KK_OK) {
        kki_xml_free(xml);
        return fail_memory(x, p, status);
    }
    return KK_OK;
}

static kk_status check_cycle(const kki_xacro *x, const place *p, int32_t document) {
    for (int32_t i = 0; i < x->frame_count; i++) {
        if (x->frame[i].include == document) {
            return FAIL(x, p, KK_INVALID_ARGUMENT, "file %s includes itself; remove one of the includes",
                        x->document[document].path);
        }
    }
    return KK_OK;
}

/// The scope of what is included with ns: a namespace within this scope.
static kk_status open_namespace(kki_xacro *x, const place *p, int32_t *scope) {
    kki_value name;
    kki_symbol symbol = {.kind = KKI_SYMBOL_BLOCK, .scope = p->scope};
    *scope = p->scope;
    if (find_attribute(x, p, "ns") == KKI_XML_NONE) {
        return KK_OK;
    }
    kk_status status = evaluate_name(x, p, "ns", &name);
    status = status ? status : prefixed(x, p, '@', name.text, name.length, &symbol);
    if (status == KK_OK) {
        status = kki_symbols_add_scope(&x->symbols, p->scope, true, scope);
        status = status ? fail_memory(x, p, status) : KK_OK;
    }
    symbol.block_scope = *scope;
    return status ? status : set_symbol(x, p, &x->symbols, &symbol);
}

static kk_status include(kki_xacro *x, const place *p, const char *path) {
    int32_t scope;
    int32_t document = 0;
    while (document < x->document_count && strcmp(x->document[document].path, path) != 0) {
        document++;
    }
    kk_status status =
        document < x->document_count ? check_cycle(x, p, document) : read_document(x, p, path, &document);
    status = status ? status : open_namespace(x, p, &scope);
    if (status != KK_OK) {
        return status;
    }
    const place root = {document, KKI_XML_ROOT, scope};
    kki_xacro_frame frame = children_frame(x, &root);
    frame.include = document;
    return push_frame(x, p, &frame);
}

static bool is_optional(const kki_xacro *x, const place *p) {
    const char *word = kki_xml_value(xml_of(x, p->document), p->node, "optional");
    return word && (strcmp(word, "true") == 0 || strcmp(word, "True") == 0 || strcmp(word, "1") == 0);
}

static kk_status do_include(kki_xacro *x, const place *p) {
    kki_value name;
    char path[KKI_PATH_SIZE];
    kk_error error = {0};
    kk_status status = evaluate_name(x, p, "filename", &name);
    if (status != KK_OK) {
        return status;
    }
    if (strpbrk(name.text, "*?[")) {
        return FAIL(x, p, KK_UNSUPPORTED, "an include with a pattern is not supported; name each file");
    }
    if (!x->resolver) {
        return FAIL(x, p, KK_UNSUPPORTED, "includes need a place to look for files; load the file by its path");
    }
    status = kki_resolve(x->resolver, x->document[p->document].path, name.text, path, &error);
    if (status == KK_NOT_FOUND && is_optional(x, p)) {
        return KK_OK;
    }
    if (status != KK_OK) {
        const uint32_t at = xml_of(x, p->document)->attribute[find_attribute(x, p, "filename")].value_place;
        return kki_xacro_error(x, p->document, at, status, "%s", error.text);
    }
    return include(x, p, path);
}

// ---- what to do with an element

typedef kk_status handler(kki_xacro *x, const place *p);

static handler *find_handler(const char *name) {
    static const struct {
        const char *name;
        handler *run;
    } handlers[] = {{"property", do_property},         {"arg", do_arg},         {"macro", do_macro},
                    {"include", do_include},           {"if", do_if},           {"unless", do_unless},
                    {"insert_block", do_insert_block}, {"element", do_element}, {"attribute", do_attribute}};
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        if (strcmp(name, handlers[i].name) == 0) {
            return handlers[i].run;
        }
    }
    return NULL;
}

static kk_status call_named(kki_xacro *x, const place *p, const char *name, size_t length, bool is_dynamic) {
    const macro_place where = find_macro(x, p->scope, name, length);
    return where.macro >= 0 ? call_macro(x, p, where, is_dynamic)
                            : FAIL(x, p, KK_NOT_FOUND, "macro '%s' is not known; define or include it before its use",
                                   kki_shorten(name, length).text);
}

static kk_status expand_directive(kki_xacro *x, const place *p, const char *name) {
    handler *run = find_handler(name);
    kki_value macro;
    if (run) {
        return run(x, p);
    }
    if (strcmp(name, "call") != 0) {
        return call_named(x, p, name, strlen(name), false);
    }
    const kk_status status = evaluate_name(x, p, "macro", &macro);
    return status ? status : call_named(x, p, macro.text, macro.length, true);
}

static kk_status expand_node(kki_xacro *x, const place *p) {
    const kki_xml *xml = xml_of(x, p->document);
    const kk_status status = kki_xacro_step(x, p->document, place_of_node(x, p));
    if (status != KK_OK) {
        return status;
    }
    if (!kki_xml_is_element(xml, p->node)) {
        return put_text(x, p);
    }
    const char *name = kki_xml_name(xml, p->node), *plain = without_prefix(name);
    return plain != name ? expand_directive(x, p, plain) : put_element(x, p);
}

static kk_status run(kki_xacro *x) {
    kk_status status = KK_OK;
    while (x->frame_count > 0 && status == KK_OK) {
        kki_xacro_frame *top = &x->frame[x->frame_count - 1];
        if (top->node == KKI_XML_NONE) {
            if (top->closes) {
                kki_xml_close_element(x->result);
            }
            x->frame_count--;
            continue;
        }
        const place p = {top->document, top->node, top->scope};
        top->node = top->is_single ? KKI_XML_NONE : xml_of(x, top->document)->node[top->node].next;
        status = expand_node(x, &p);
    }
    return status;
}

// ---- beginning and end

static kki_xacro_options complete(const kki_xacro_options *options) {
    kki_xacro_options o = options ? *options : (kki_xacro_options){0};
    o.steps = o.steps > 0 ? o.steps : FIRST_STEPS;
    o.nodes = o.nodes > 0 ? o.nodes : 1 << 16;
    o.bytes = o.bytes > 0 ? o.bytes : (size_t)4 << 20;
    o.depth = o.depth > 0 ? o.depth : 2000;
    o.file_size = o.file_size > 0 ? o.file_size : (size_t)16 << 20;
    return o;
}

static kk_status set_arguments(kki_xacro *x) {
    const place root = {0, KKI_XML_ROOT, KKI_XACRO_OUTERMOST};
    kk_status status = KK_OK;
    for (int i = 0; i < x->options.argument_count && status == KK_OK; i++) {
        const kki_xacro_argument *a = &x->options.argument[i];
        kki_symbol symbol = {.kind = KKI_SYMBOL_VALUE,
                             .value = {.kind = KKI_VALUE_TEXT, .text = a->value, .length = strlen(a->value)}};
        status = prefixed(x, &root, '$', a->name, strlen(a->name), &symbol);
        status = status ? status : set_symbol(x, &root, &x->others, &symbol);
    }
    return status;
}

static kk_status begin(kki_xacro *x, const kki_xml *xml, const char *path) {
    char canonical[KKI_PATH_SIZE];
    const kki_file_source *s = x->resolver ? &x->resolver->source : NULL;
    const char *name = s && path && s->canonical(s->user, path, canonical) == KK_OK ? canonical : path;
    int32_t document;
    x->frame = kki_allocate_array(&x->allocator, (size_t)x->options.depth, sizeof *x->frame);
    kk_status status = x->frame ? KK_OK : KK_OUT_OF_MEMORY;
    status = status ? status : kki_xml_create(&x->allocator, &x->result);
    status = status ? status : kki_symbols_create(&x->symbols, &x->pool);
    status = status ? status : kki_symbols_create(&x->others, &x->pool);
    status = status ? status : add_document(x, xml, NULL, name ? name : "", &document);
    if (status != KK_OK) {
        return kki_error_at(x->error, status, path, 1, 1, "out of memory while expanding xacro");
    }
    x->frame[x->frame_count++] =
        (kki_xacro_frame){.node = KKI_XML_ROOT, .is_single = true, .include = 0, .scope = KKI_XACRO_OUTERMOST};
    return set_arguments(x);
}

static void end(kki_xacro *x) {
    for (int i = 0; i < x->document_count; i++) {
        kki_xml_free(x->document[i].owned);
    }
    if (x->others.pool) {
        kki_symbols_destroy(&x->others);
    }
    if (x->symbols.pool) {
        kki_symbols_destroy(&x->symbols);
    }
    kki_release_array(&x->allocator, x->frame, (size_t)x->options.depth, sizeof *x->frame);
    kki_release(&x->allocator, x->scratch, x->scratch_capacity);
    kki_pool_destroy(&x->pool);
}

bool kki_xacro_is_used(const kki_xml *xml) {
    return kki_xml_find(xml, KKI_XML_ROOT, "xmlns:xacro") != KKI_XML_NONE;
}

/// <robot name="$(arg name)"> stands before the <xacro:arg> inside it that sets a default: those that the root's own
/// attributes ask for are read first.
static kk_status read_arguments_of_root(kki_xacro *x, const kki_xml *xml) {
    const kki_xml_node *root = &xml->node[KKI_XML_ROOT];
    bool asks = false;
    for (int32_t i = root->first_attribute; i < root->first_attribute + root->attribute_count; i++) {
        asks = asks || strstr(kki_xml_string(xml, xml->attribute[i].value), "$(arg ") != NULL;
    }
    kk_status status = KK_OK;
    for (int32_t n = asks ? kki_xml_first(xml, KKI_XML_ROOT, "xacro:arg") : KKI_XML_NONE;
         n != KKI_XML_NONE && status == KK_OK; n = kki_xml_next(xml, n, "xacro:arg")) {
        const place p = {0, n, KKI_XACRO_OUTERMOST};
        const char *normal = kki_xml_value(xml, n, "default");
        status = normal && !strchr(normal, '$') ? do_arg(x, &p) : KK_OK;
    }
    return status;
}

static kk_status expand(kki_xacro *x, const kki_xml *xml, const char *path) {
    const place root = {0, KKI_XML_ROOT, KKI_XACRO_OUTERMOST};
    kk_status status = begin(x, xml, path);
    if (status == KK_OK && strncmp(kki_xml_name(xml, KKI_XML_ROOT), "xacro:", 6) == 0) {
        return FAIL(x, &root, KK_SYNTAX, "the root is an element of xacro; put it into one like <robot>");
    }
    status = status ? status : read_arguments_of_root(x, xml);
    return status ? status : run(x);
}

kk_status kki_xacro_expand(const kki_xml *xml, const char *path, kki_resolver *resolver,
                           const kki_xacro_options *options, const kk_allocator *allocator, kki_xml **result,
                           kk_error *error) {
    const kk_allocator a = kki_allocator_or_default(allocator);
    *result = NULL;
    kki_xacro *x = kki_allocate_zeroed(&a, sizeof *x);
    if (!x) {
        return kki_error_at(error, KK_OUT_OF_MEMORY, path, 1, 1, "out of memory while expanding xacro");
    }
    x->options = complete(options);
    x->steps_grow = !options || options->steps <= 0;
    x->nodes_grow = !options || options->nodes <= 0;
    x->bytes_grow = !options || options->bytes == 0;
    x->allocator = a;
    x->resolver = resolver;
    x->error = error;
    kki_pool_create(&x->pool, &a, x->options.bytes);
    const kk_status status = expand(x, xml, path);
    if (status == KK_OK) {
        *result = x->result;
    } else {
        kki_xml_free(x->result);
    }
    end(x);
    kki_release(&a, x, sizeof *x);
    return status;
}
