// One pass over the format; what does not fit is counted and not written.
#include "print.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <karakuri/number.h>

typedef struct output {
    char *text;
    size_t room, length; // without the zero byte
} output;

// what stands between % and the letter
typedef struct conversion {
    int width, most; // -1: no bound
    bool is_long;
} conversion;

static void put(output *o, const char *bytes, size_t count) {
    if (o->length < o->room) {
        const size_t left = o->room - o->length;
        memcpy(o->text + o->length, bytes, count < left ? count : left);
    }
    o->length += count;
}

static void put_text(output *o, const char *text, int most) {
    size_t length = 0;
    text = text ? text : "(null)";
    while ((most < 0 || length < (size_t)most) && text[length] != '\0') {
        length++;
    }
    put(o, text, length);
}

static void put_whole(output *o, int64_t value, int width) {
    char text[KK_NUMBER_TEXT_SIZE];
    int length = (int)kk_number_format_int(value, text);
    const int sign = value < 0;
    put(o, text, (size_t)sign);
    for (; length < width; width--) {
        put(o, "0", 1);
    }
    put(o, text + sign, (size_t)(length - sign));
}

// in a struct, since a va_list may be an array, and a pointer to a parameter of that type is none to the list
typedef struct arguments {
    va_list list;
} arguments;

// digits of the format, or the next argument where a star stands for them
static int read_count(const char **p, arguments *a) {
    int value = 0;
    if (**p == '*') {
        ++*p;
        return va_arg(a->list, int);
    }
    for (; **p >= '0' && **p <= '9'; ++*p) {
        value = 10 * value + (**p - '0');
    }
    return value;
}

// p stands behind the % and ends at the letter
static conversion read_conversion(const char **p, arguments *a) {
    conversion c = {0, -1, false};
    *p += **p == '0';
    c.width = read_count(p, a);
    if (**p == '.') {
        ++*p;
        c.most = read_count(p, a);
    }
    for (; **p == 'l'; ++*p) {
        c.is_long = true;
    }
    return c;
}

static void put_value(output *o, char letter, conversion c, arguments *a) {
    switch (letter) {
    case 's': put_text(o, va_arg(a->list, const char *), c.most); break;
    case 'd': put_whole(o, c.is_long ? va_arg(a->list, long long) : va_arg(a->list, int), c.width); break;
    case 'u': put_whole(o, va_arg(a->list, unsigned), c.width); break;
    default: put(o, &letter, 1);
    }
}

size_t kki_print_list(char *text, size_t size, const char *format, va_list values) {
    output o = {text, size > 0 ? size - 1 : 0, 0};
    arguments a;
    va_copy(a.list, values);
    while (*format != '\0') {
        const size_t plain = strcspn(format, "%");
        put(&o, format, plain);
        format += plain;
        if (*format == '%') {
            format++;
            const conversion c = read_conversion(&format, &a);
            put_value(&o, *format, c, &a);
            format += *format != '\0';
        }
    }
    va_end(a.list);
    if (size > 0) {
        text[o.length < o.room ? o.length : o.room] = '\0';
    }
    return o.length;
}

size_t kki_print(char *text, size_t size, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const size_t length = kki_print_list(text, size, format, values);
    va_end(values);
    return length;
}
