/// Lists, dictionaries and parts of texts: what Python's indices, methods and % do with them, as far as robots use it.
///
/// Values never change, so lists share their items. All memory is the pool's, whose bound is the only one on sizes.
#include <string.h>

#include <karakuri/elementary.h>

#include "base/float_bits.h"
#include "base/print.h"
#include "expression_values.h"
#include "text.h"

static bool is_sequence(const kki_value *v) {
    return v->kind == KKI_VALUE_LIST || v->kind == KKI_VALUE_TUPLE;
}

static bool is_number(const kki_value *v) {
    return v->kind == KKI_VALUE_INT || v->kind == KKI_VALUE_FLOAT || v->kind == KKI_VALUE_BOOL;
}

static bool is_text(const kki_value *v) {
    return v->kind == KKI_VALUE_TEXT;
}

static kki_value *take_items(kki_pool *pool, size_t count) {
    return count < SIZE_MAX / sizeof(kki_value) - 1 ? kki_pool_take(pool, (count + 1) * sizeof(kki_value)) : NULL;
}

static kki_value copy_text(kki_pool *pool, const char *text, size_t length) {
    const char *copy = kki_pool_copy(pool, text, length);
    return copy ? kki_value_text(copy, length) : kki_value_no_memory(pool);
}

// ---- making

kki_value kki_value_sequence(kki_pool *pool, kki_value_kind kind, const kki_value *v, size_t count) {
    kki_value *item = take_items(pool, count);
    if (!item) {
        return kki_value_no_memory(pool);
    }
    for (size_t i = 0; i < count; i++) {
        if (v[i].kind == KKI_VALUE_FAULT) {
            return v[i];
        }
        item[i] = v[i];
    }
    return (kki_value){.kind = kind, .item = item, .length = count};
}

kki_value kki_value_dictionary(kki_pool *pool, const kki_value *v, size_t count) {
    kki_value *item = take_items(pool, 2 * count);
    size_t n = 0;
    if (!item) {
        return kki_value_no_memory(pool);
    }
    for (size_t i = 0; i < count; i++) {
        const kki_value so_far = {.kind = KKI_VALUE_DICT, .item = item, .length = n};
        if (v[2 * i + 1].kind == KKI_VALUE_FAULT) {
            return v[2 * i + 1];
        }
        const kki_value *known = kki_dictionary_find(&so_far, &v[2 * i]);
        const size_t at = known ? (size_t)(known - item) / 2 : n++;
        item[2 * at] = v[2 * i];
        item[2 * at + 1] = v[2 * i + 1];
    }
    return (kki_value){.kind = KKI_VALUE_DICT, .item = item, .length = n};
}

// ---- comparing

static double number_of(const kki_value *v) {
    return v->kind == KKI_VALUE_FLOAT ? v->number : (double)v->integer;
}

static bool equal_within(const kki_value *a, const kki_value *b, int *budget);

static bool equal_items(const kki_value *a, const kki_value *b, int *budget) {
    const size_t n = a->kind == KKI_VALUE_DICT ? 2 * a->length : a->length;
    bool equal = a->kind == b->kind && a->length == b->length;
    for (size_t i = 0; i < n && equal; i++) {
        equal = equal_within(&a->item[i], &b->item[i], budget);
    }
    return equal;
}

/// Lists that share their parts could take for ever: what is beyond the budget counts as different.
static bool equal_within(const kki_value *a, const kki_value *b, int *budget) {
    if (--*budget < 0) {
        return false;
    }
    if (is_number(a) && is_number(b)) {
        return a->kind == KKI_VALUE_FLOAT || b->kind == KKI_VALUE_FLOAT
                   ? !(number_of(a) < number_of(b)) && !(number_of(a) > number_of(b))
                   : a->integer == b->integer;
    }
    if (is_text(a) && is_text(b)) {
        return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
    }
    return a->kind == KKI_VALUE_NONE ? b->kind == KKI_VALUE_NONE
                                     : (is_sequence(a) || a->kind == KKI_VALUE_DICT) && equal_items(a, b, budget);
}

bool kki_value_equal(const kki_value *a, const kki_value *b) {
    int budget = 100000;
    return equal_within(a, b, &budget);
}

const kki_value *kki_dictionary_find(const kki_value *dictionary, const kki_value *key) {
    for (size_t i = 0; i < dictionary->length; i++) {
        if (kki_value_equal(&dictionary->item[2 * i], key)) {
            return &dictionary->item[2 * i + 1];
        }
    }
    return NULL;
}

static size_t find_text(const char *text, size_t length, const char *part, size_t part_length) {
    for (size_t i = 0; i + part_length <= length; i++) {
        if (memcmp(text + i, part, part_length) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

kki_value kki_value_contains(kki_pool *pool, const kki_value *container, const kki_value *member) {
    if (container->kind == KKI_VALUE_DICT) {
        return kki_value_truth(kki_dictionary_find(container, member) != NULL);
    }
    if (is_text(container) && is_text(member)) {
        return kki_value_truth(find_text(container->text, container->length, member->text, member->length) != SIZE_MAX);
    }
    if (!is_sequence(container)) {
        return kki_value_fault(pool, KK_INVALID_ARGUMENT, "", "in", 2,
                               " needs a text, a list or a dictionary behind it; check the expression");
    }
    bool found = false;
    for (size_t i = 0; i < container->length && !found; i++) {
        found = kki_value_equal(&container->item[i], member);
    }
    return kki_value_truth(found);
}

// ---- writing

/// A text that grows in the pool.
typedef struct writer {
    kki_pool *pool;
    char *text;
    size_t length, capacity;
    bool is_over;
} writer;

static void put(writer *w, const char *text, size_t length) {
    if (w->is_over) {
        return;
    }
    if (w->length + length >= w->capacity) {
        const size_t capacity = 2 * (w->length + length) + 64;
        char *larger = kki_pool_take(w->pool, capacity);
        if (!larger) {
            w->is_over = true;
            return;
        }
        memcpy(larger, w->text ? w->text : "", w->length);
        w->text = larger;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = 0;
}

static kki_value written(const writer *w) {
    return w->is_over ? kki_value_no_memory(w->pool) : kki_value_text(w->text ? w->text : "", w->length);
}

static void put_value(writer *w, const kki_value *v, bool is_inside) {
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    size_t length;
    const bool is_dictionary = v->kind == KKI_VALUE_DICT;
    if (!is_dictionary && !is_sequence(v)) {
        const char *text = kki_value_to_text(v, buffer, &length);
        const bool has_quotes = is_inside && is_text(v);
        put(w, "'", has_quotes ? 1 : 0);
        put(w, text, length);
        put(w, "'", has_quotes ? 1 : 0);
        return;
    }
    put(w, is_dictionary ? "{" : v->kind == KKI_VALUE_LIST ? "[" : "(", 1);
    for (size_t i = 0; i < v->length && !w->is_over; i++) {
        put(w, ", ", i > 0 ? 2 : 0);
        put_value(w, &v->item[is_dictionary ? 2 * i : i], true);
        if (is_dictionary) {
            put(w, ": ", 2);
            put_value(w, &v->item[2 * i + 1], true);
        }
    }
    put(w, ",", v->kind == KKI_VALUE_TUPLE && v->length == 1 ? 1 : 0);
    put(w, is_dictionary ? "}" : v->kind == KKI_VALUE_LIST ? "]" : ")", 1);
}

kki_value kki_value_written(kki_pool *pool, const kki_value *value) {
    if (value->kind != KKI_VALUE_DICT && !is_sequence(value)) {
        return *value;
    }
    writer w = {.pool = pool};
    put_value(&w, value, false);
    return written(&w);
}

// ---- + and *

kki_value kki_value_join(kki_pool *pool, const kki_value *a, const kki_value *b) {
    if (is_text(a)) {
        writer w = {.pool = pool};
        put(&w, a->text, a->length);
        put(&w, b->text, b->length);
        return written(&w);
    }
    kki_value *item = take_items(pool, a->length + b->length);
    if (!item) {
        return kki_value_no_memory(pool);
    }
    memcpy(item, a->item, a->length * sizeof *item);
    memcpy(item + a->length, b->item, b->length * sizeof *item);
    return (kki_value){.kind = a->kind, .item = item, .length = a->length + b->length};
}

kki_value kki_value_times(kki_pool *pool, const kki_value *a, int64_t times) {
    kki_value result = is_text(a) ? kki_value_text("", 0) : kki_value_sequence(pool, a->kind, a->item, 0);
    if (a->length == 0 || times <= 0) {
        return result;
    }
    for (int64_t i = 0; i < times && result.kind != KKI_VALUE_FAULT; i++) {
        result = kki_value_join(pool, &result, a);
    }
    return result;
}

// ---- %

/// One %...: flags, width, precision and letter.
typedef struct directive {
    bool has_zeros, is_left;
    int width, precision; ///< precision -1: not given
    char letter;
} directive;

static size_t read_directive(const char *text, size_t length, directive *d) {
    size_t i = 0;
    *d = (directive){.precision = -1};
    for (; i < length && (text[i] == '0' || text[i] == '-'); i++) {
        d->has_zeros |= text[i] == '0';
        d->is_left |= text[i] == '-';
    }
    for (; i < length && text[i] >= '0' && text[i] <= '9' && d->width < 100; i++) {
        d->width = 10 * d->width + (text[i] - '0');
    }
    if (i < length && text[i] == '.') {
        d->precision = 0;
        for (i++; i < length && text[i] >= '0' && text[i] <= '9' && d->precision < 100; i++) {
            d->precision = 10 * d->precision + (text[i] - '0');
        }
    }
    d->letter = i < length ? text[i] : 0;
    return i < length ? i + 1 : i;
}

/// A number with that many digits behind the point.
static void put_fixed(char *text, size_t size, double x, int digits) {
    double scale = 1;
    for (int i = 0; i < digits; i++) {
        scale *= 10;
    }
    const double all = kk_floor((x < 0 ? -x : x) * scale + 0.5);
    const int64_t whole = (int64_t)kk_floor(all / scale), rest = (int64_t)(all - (double)whole * scale);
    const char *sign = x < 0 && all > 0 ? "-" : "";
    size_t length = kki_print(text, size, digits > 0 ? "%s%lld." : "%s%lld", sign, (long long)whole);
    for (double unit = scale / 10; unit >= 1 && length + 1 < size; unit /= 10) {
        text[length++] = (char)('0' + rest / (int64_t)unit % 10);
        text[length] = 0;
    }
}

static bool put_directive(writer *w, const directive *d, const kki_value *v) {
    char buffer[KK_NUMBER_TEXT_SIZE + 40];
    const char *text = buffer;
    const kki_value plain = kki_value_written(w->pool, v);
    size_t length;
    if (d->letter == 's' || (d->letter == 'g' && is_number(v))) {
        text = kki_value_to_text(&plain, buffer, &length);
    } else if ((d->letter == 'd' || d->letter == 'i') && is_number(v) && kki_abs(number_of(v)) < 9e18) {
        kki_print(buffer, sizeof buffer, "%lld",
                  (long long)(v->kind == KKI_VALUE_FLOAT ? (int64_t)v->number : v->integer));
        length = strlen(buffer);
    } else if (d->letter == 'f' && is_number(v) && kki_abs(number_of(v)) < 1e8 && d->precision < 10) {
        put_fixed(buffer, sizeof buffer, number_of(v), d->precision < 0 ? 6 : d->precision);
        length = strlen(buffer);
    } else {
        return false;
    }
    const size_t sign = d->has_zeros && length > 0 && text[0] == '-' ? 1 : 0;
    put(w, text, d->is_left ? length : sign);
    for (size_t n = length; n < (size_t)d->width; n++) {
        put(w, d->has_zeros && !d->is_left ? "0" : " ", 1);
    }
    put(w, text + sign, d->is_left ? 0 : length - sign);
    return true;
}

kki_value kki_value_format(kki_pool *pool, const kki_value *format, const kki_value *values) {
    writer w = {.pool = pool};
    const bool is_many = values->kind == KKI_VALUE_TUPLE;
    const size_t count = is_many ? values->length : 1;
    size_t used = 0;
    for (size_t i = 0; i < format->length;) {
        const char c = format->text[i];
        if (c != '%' || (i + 1 < format->length && format->text[i + 1] == '%')) {
            put(&w, &c, 1);
            i += c == '%' ? 2 : 1;
            continue;
        }
        directive d;
        i += 1 + read_directive(format->text + i + 1, format->length - i - 1, &d);
        if (used >= count || !put_directive(&w, &d, is_many ? &values->item[used] : values)) {
            return kki_value_fault(pool, KK_INVALID_ARGUMENT, "the format ", format->text, format->length,
                                   " does not fit its values; the letters s, d, f and g are known");
        }
        used++;
    }
    return written(&w);
}

// ---- parts

static kki_value no_part(kki_pool *pool, const kki_value *key) {
    char buffer[KK_NUMBER_TEXT_SIZE + 2];
    const kki_value plain = kki_value_written(pool, key);
    size_t length;
    const char *text = kki_value_to_text(&plain, buffer, &length);
    return kki_value_fault(pool, KK_NOT_FOUND, "there is no part ", text, length, "; check the key or the index");
}

/// Python's index as one from the front; false where it is outside.
static bool place_in(size_t length, int64_t index, size_t *place) {
    const int64_t n = (int64_t)length, i = index < 0 ? index + n : index;
    *place = (size_t)i;
    return i >= 0 && i < n;
}

kki_value kki_value_at(kki_pool *pool, const kki_value *base, const kki_value *index) {
    size_t place;
    if (base->kind == KKI_VALUE_FAULT || index->kind == KKI_VALUE_FAULT) {
        return base->kind == KKI_VALUE_FAULT ? *base : *index;
    }
    if (base->kind == KKI_VALUE_DICT) {
        const kki_value *found = kki_dictionary_find(base, index);
        return found ? *found : no_part(pool, index);
    }
    if ((index->kind != KKI_VALUE_INT && index->kind != KKI_VALUE_BOOL) || !(is_sequence(base) || is_text(base)) ||
        !place_in(base->length, index->integer, &place)) {
        return no_part(pool, index);
    }
    return is_text(base) ? copy_text(pool, base->text + place, 1) : base->item[place];
}

/// An end of a slice, kept within the length.
static size_t end_of_slice(size_t length, const kki_value *v, size_t normal) {
    const int64_t n = (int64_t)length, i = v->integer < 0 ? v->integer + n : v->integer;
    return v->kind == KKI_VALUE_NONE ? normal : i < 0 ? 0 : i > n ? length : (size_t)i;
}

kki_value kki_value_slice(kki_pool *pool, const kki_value *base, const kki_value *first, const kki_value *end) {
    const kki_value *const parts[] = {base, first, end};
    for (int i = 0; i < 3; i++) {
        if (parts[i]->kind == KKI_VALUE_FAULT) {
            return *parts[i];
        }
        if (i > 0 && parts[i]->kind != KKI_VALUE_INT && parts[i]->kind != KKI_VALUE_NONE) {
            return no_part(pool, parts[i]);
        }
    }
    const size_t a = end_of_slice(base->length, first, 0), b = end_of_slice(base->length, end, base->length);
    const size_t n = b > a ? b - a : 0;
    return is_text(base)       ? copy_text(pool, base->text + a, n)
           : is_sequence(base) ? kki_value_sequence(pool, base->kind, base->item + a, n)
                               : no_part(pool, first);
}

kki_value kki_value_member(kki_pool *pool, const kki_value *base, const char *name, size_t length) {
    const kki_value key = kki_value_text(name, length);
    const kki_value *found = base->kind == KKI_VALUE_DICT ? kki_dictionary_find(base, &key) : NULL;
    return base->kind == KKI_VALUE_FAULT ? *base : found ? *found : no_part(pool, &key);
}

bool kki_value_items(kki_pool *pool, const kki_value *v, kki_value *list) {
    const bool is_dictionary = v->kind == KKI_VALUE_DICT;
    if (is_sequence(v)) {
        *list = kki_value_sequence(pool, KKI_VALUE_LIST, v->item, v->length);
        return true;
    }
    if (!is_dictionary && !is_text(v)) {
        return false;
    }
    kki_value *item = take_items(pool, v->length);
    *list = item ? (kki_value){.kind = KKI_VALUE_LIST, .item = item, .length = v->length} : kki_value_no_memory(pool);
    for (size_t i = 0; item && i < v->length; i++) {
        item[i] = is_dictionary ? v->item[2 * i] : copy_text(pool, v->text + i, 1);
        if (item[i].kind == KKI_VALUE_FAULT) {
            *list = item[i];
            break;
        }
    }
    return true;
}

// ---- methods of texts

typedef kki_value method(kki_pool *pool, const kki_value *base, const kki_value *v, int count);

/// Appends an item to a list that is being made in chunks of the pool.
typedef struct list_maker {
    kki_pool *pool;
    kki_value *item;
    size_t count, capacity;
    bool is_over;
} list_maker;

static void add_item(list_maker *l, kki_value v) {
    if (l->count == l->capacity && !l->is_over) {
        kki_value *larger = take_items(l->pool, 2 * l->capacity + 8);
        l->is_over = !larger;
        if (larger && l->count > 0) {
            memcpy(larger, l->item, l->count * sizeof *larger);
        }
        l->item = larger;
        l->capacity = 2 * l->capacity + 8;
    }
    if (!l->is_over) {
        l->item[l->count++] = v;
    }
}

static kki_value made_list(const list_maker *l) {
    return l->is_over ? kki_value_no_memory(l->pool)
                      : (kki_value){.kind = KKI_VALUE_LIST, .item = l->item, .length = l->count};
}

static void split_at_blanks(list_maker *l, const kki_value *base) {
    for (size_t i = 0; i < base->length;) {
        size_t n = i;
        while (n < base->length && !kki_text_is_blank(base->text[n])) {
            n++;
        }
        if (n > i) {
            add_item(l, copy_text(l->pool, base->text + i, n - i));
        }
        i = n + 1;
    }
}

static kki_value call_split(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    list_maker l = {.pool = pool};
    if (count == 0 || v->kind == KKI_VALUE_NONE) {
        split_at_blanks(&l, base);
        return made_list(&l);
    }
    if (!is_text(v) || v->length == 0) {
        return kki_value_error(KK_INVALID_ARGUMENT, "split needs a text to split at; write split(' ')");
    }
    const int64_t most = count > 1 && v[1].kind == KKI_VALUE_INT && v[1].integer >= 0 ? v[1].integer : INT64_MAX;
    size_t i = 0;
    for (;;) {
        const size_t n =
            (int64_t)l.count < most ? find_text(base->text + i, base->length - i, v->text, v->length) : SIZE_MAX;
        add_item(&l, copy_text(pool, base->text + i, n == SIZE_MAX ? base->length - i : n));
        if (n == SIZE_MAX || l.is_over) {
            return made_list(&l);
        }
        i += n + v->length;
    }
}

static kki_value strip(kki_pool *pool, const kki_value *base, const kki_value *v, int count, bool front, bool back) {
    const char *set = count > 0 && is_text(v) ? v->text : " \t\r\n";
    const size_t n = count > 0 && is_text(v) ? v->length : 4;
    size_t a = 0, b = base->length;
    while (front && a < b && memchr(set, base->text[a], n)) {
        a++;
    }
    while (back && b > a && memchr(set, base->text[b - 1], n)) {
        b--;
    }
    return copy_text(pool, base->text + a, b - a);
}

static kki_value call_strip(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    return strip(pool, base, v, count, true, true);
}

static kki_value call_lstrip(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    return strip(pool, base, v, count, true, false);
}

static kki_value call_rstrip(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    return strip(pool, base, v, count, false, true);
}

static kki_value need_texts(const kki_value *v, int count) {
    for (int i = 0; i < count; i++) {
        if (!is_text(&v[i])) {
            return kki_value_error(KK_INVALID_ARGUMENT, "this method takes texts; check its arguments");
        }
    }
    return kki_value_truth(true);
}

static kki_value call_replace(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    const kki_value fault = need_texts(v, count);
    writer w = {.pool = pool};
    if (fault.kind == KKI_VALUE_FAULT || v->length == 0) {
        return fault.kind == KKI_VALUE_FAULT ? fault : *base;
    }
    for (size_t i = 0;;) {
        const size_t n = find_text(base->text + i, base->length - i, v->text, v->length);
        put(&w, base->text + i, n == SIZE_MAX ? base->length - i : n);
        if (n == SIZE_MAX || w.is_over) {
            return written(&w);
        }
        put(&w, v[1].text, v[1].length);
        i += n + v->length;
    }
}

static kki_value turn_case(kki_pool *pool, const kki_value *base, char first, int by) {
    char *copy = kki_pool_copy(pool, base->text, base->length);
    if (!copy) {
        return kki_value_no_memory(pool);
    }
    for (size_t i = 0; i < base->length; i++) {
        copy[i] = copy[i] >= first && copy[i] < first + 26 ? (char)(copy[i] + by) : copy[i];
    }
    return kki_value_text(copy, base->length);
}

static kki_value call_lower(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)v, (void)count;
    return turn_case(pool, base, 'A', 'a' - 'A');
}

static kki_value call_upper(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)v, (void)count;
    return turn_case(pool, base, 'a', 'A' - 'a');
}

/// Does the text start, or end, with one of v: a text or a tuple of texts?
static kki_value has_end(const kki_value *base, const kki_value *v, bool at_front) {
    const kki_value *item = v->kind == KKI_VALUE_TUPLE ? v->item : v;
    const size_t n = v->kind == KKI_VALUE_TUPLE ? v->length : 1;
    bool is_so = false;
    for (size_t i = 0; i < n; i++) {
        if (!is_text(&item[i])) {
            return need_texts(&item[i], 1);
        }
        const size_t l = item[i].length;
        is_so |= l <= base->length && memcmp(base->text + (at_front ? 0 : base->length - l), item[i].text, l) == 0;
    }
    return kki_value_truth(is_so);
}

static kki_value call_startswith(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)pool, (void)count;
    return has_end(base, v, true);
}

static kki_value call_endswith(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)pool, (void)count;
    return has_end(base, v, false);
}

static kki_value call_find(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)pool;
    const kki_value fault = need_texts(v, count);
    const size_t n = fault.kind == KKI_VALUE_FAULT ? 0 : find_text(base->text, base->length, v->text, v->length);
    return fault.kind == KKI_VALUE_FAULT ? fault : kki_value_whole(n == SIZE_MAX ? -1 : (int64_t)n);
}

static kki_value call_isdigit(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)pool, (void)v, (void)count;
    bool is_so = base->length > 0;
    for (size_t i = 0; i < base->length; i++) {
        is_so = is_so && base->text[i] >= '0' && base->text[i] <= '9';
    }
    return kki_value_truth(is_so);
}

static kki_value call_join(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)count;
    writer w = {.pool = pool};
    kki_value list;
    if (!kki_value_items(pool, v, &list)) {
        return kki_value_error(KK_INVALID_ARGUMENT, "join takes a list of texts; check its argument");
    }
    for (size_t i = 0; i < list.length && list.kind != KKI_VALUE_FAULT; i++) {
        const kki_value fault = need_texts(&list.item[i], 1);
        if (fault.kind == KKI_VALUE_FAULT) {
            return fault;
        }
        put(&w, base->text, i > 0 ? base->length : 0);
        put(&w, list.item[i].text, list.item[i].length);
    }
    return list.kind == KKI_VALUE_FAULT ? list : written(&w);
}

// ---- methods of dictionaries and lists

static kki_value call_get(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)pool;
    const kki_value *found = kki_dictionary_find(base, v);
    return found ? *found : count > 1 ? v[1] : (kki_value){.kind = KKI_VALUE_NONE};
}

/// Every `stride`th item of a dictionary from `first`.
static kki_value half_of(kki_pool *pool, const kki_value *base, size_t first) {
    list_maker l = {.pool = pool};
    for (size_t i = 0; i < base->length && !l.is_over; i++) {
        add_item(&l, base->item[2 * i + first]);
    }
    return made_list(&l);
}

static kki_value call_keys(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)v, (void)count;
    return half_of(pool, base, 0);
}

static kki_value call_values(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)v, (void)count;
    return half_of(pool, base, 1);
}

static kki_value call_items(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)v, (void)count;
    list_maker l = {.pool = pool};
    for (size_t i = 0; i < base->length && !l.is_over; i++) {
        add_item(&l, kki_value_sequence(pool, KKI_VALUE_TUPLE, base->item + 2 * i, 2));
    }
    const kki_value list = made_list(&l);
    return list.kind == KKI_VALUE_FAULT ? list : kki_value_sequence(pool, KKI_VALUE_LIST, list.item, list.length);
}

static kki_value call_index(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)count;
    for (size_t i = 0; i < base->length; i++) {
        if (kki_value_equal(&base->item[i], v)) {
            return kki_value_whole((int64_t)i);
        }
    }
    return no_part(pool, v);
}

static kki_value call_count(kki_pool *pool, const kki_value *base, const kki_value *v, int count) {
    (void)pool, (void)count;
    int64_t n = 0;
    for (size_t i = 0; i < base->length; i++) {
        n += kki_value_equal(&base->item[i], v) ? 1 : 0;
    }
    return kki_value_whole(n);
}

enum { OF_TEXTS, OF_LISTS, OF_DICTIONARIES };

static const struct {
    const char *name;
    int of, least, most;
    method *run;
} methods[] = {
    {"split", OF_TEXTS, 0, 2, call_split},          {"strip", OF_TEXTS, 0, 1, call_strip},
    {"lstrip", OF_TEXTS, 0, 1, call_lstrip},        {"rstrip", OF_TEXTS, 0, 1, call_rstrip},
    {"replace", OF_TEXTS, 2, 2, call_replace},      {"lower", OF_TEXTS, 0, 0, call_lower},
    {"upper", OF_TEXTS, 0, 0, call_upper},          {"startswith", OF_TEXTS, 1, 1, call_startswith},
    {"endswith", OF_TEXTS, 1, 1, call_endswith},    {"find", OF_TEXTS, 1, 1, call_find},
    {"isdigit", OF_TEXTS, 0, 0, call_isdigit},      {"join", OF_TEXTS, 1, 1, call_join},
    {"get", OF_DICTIONARIES, 1, 2, call_get},       {"keys", OF_DICTIONARIES, 0, 0, call_keys},
    {"values", OF_DICTIONARIES, 0, 0, call_values}, {"items", OF_DICTIONARIES, 0, 0, call_items},
    {"index", OF_LISTS, 1, 1, call_index},          {"count", OF_LISTS, 1, 1, call_count},
};

int kki_method_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (kki_text_is_word(name, length, methods[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

kki_value kki_method_call(kki_pool *pool, int m, const kki_value *base, const kki_value *arguments, int count) {
    const char *name = methods[m].name;
    const bool fits = methods[m].of == OF_TEXTS   ? is_text(base)
                      : methods[m].of == OF_LISTS ? is_sequence(base)
                                                  : base->kind == KKI_VALUE_DICT;
    if (base->kind == KKI_VALUE_FAULT) {
        return *base;
    }
    if (!fits || count < methods[m].least || count > methods[m].most) {
        return kki_value_fault(pool, KK_INVALID_ARGUMENT, fits ? "wrong number of arguments of " : "no such value has ",
                               name, strlen(name), "; check the call");
    }
    for (int i = 0; i < count; i++) {
        if (arguments[i].kind == KKI_VALUE_FAULT) {
            return arguments[i];
        }
    }
    return methods[m].run(pool, base, arguments, count);
}
