// Expressions give what Python gives, or say what is wrong and where.
#include "support.h"

#include "io/expression.h"

/// a = 2, b = 0.5, s = 'abc', t = True, e = ''.
static kki_value look_up(void *user, const char *name, size_t length) {
    (void)user;
    if (length == 1) {
        switch (name[0]) {
        case 'a': return (kki_value){.kind = KKI_VALUE_INT, .integer = 2};
        case 'b': return (kki_value){.kind = KKI_VALUE_FLOAT, .number = 0.5};
        case 's': return (kki_value){.kind = KKI_VALUE_TEXT, .text = "abc", .length = 3};
        case 't': return (kki_value){.kind = KKI_VALUE_BOOL, .integer = 1};
        case 'e': return (kki_value){.kind = KKI_VALUE_TEXT, .text = "", .length = 0};
        case 'p': return (kki_value){.kind = KKI_VALUE_PENDING, .integer = 77};
        default: break;
        }
    }
    return (kki_value){.kind = KKI_VALUE_FAULT, .status = KK_NOT_FOUND};
}

static kki_value evaluate(kki_pool *pool, const char *text, size_t *offset) {
    const kki_names names = {.look_up = look_up, .pool = pool};
    return kki_evaluate(text, strlen(text), &names, offset);
}

static const struct {
    const char *text, *value;
} evaluations[] = {
    {"1", "1"},
    {"1.0", "1.0"},
    {"1e3", "1000.0"},
    {".5", "0.5"},
    {"1e-7", "1e-07"},
    {"1e22", "1e+22"},
    {"1+2", "3"},
    {"1+2.0", "3.0"},
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"7/2", "3.5"},
    {"6/2", "3.0"},
    {"7//2", "3"},
    {"-7//2", "-4"},
    {"7.0//2", "3.0"},
    {"7%3", "1"},
    {"-7%3", "2"},
    {"7%-3", "-2"},
    {"-7.5%2", "0.5"},
    {"2**10", "1024"},
    {"2**-1", "0.5"},
    {"-2**2", "-4"},
    {"2**3**2", "512"},
    {"(-2)**2", "4"},
    {"2.0**3", "8.0"},
    {"10-3-2", "5"},
    {"100/10/2", "5.0"},
    {"- -3", "3"},
    {"+3", "3"},
    {"-a", "-2"},
    {"-b", "-0.5"},
    {"a--1", "3"},
    {"a*b", "1.0"},
    {"a", "2"},
    {"s", "abc"},
    {"s + 'd'", "abcd"},
    {"\"x\" + s", "xabc"},
    {"'it''s'", NULL},
    {"1 < 2", "True"},
    {"2 <= 1", "False"},
    {"1 == 1.0", "True"},
    {"1 != 2", "True"},
    {"'a' < 'b'", "True"},
    {"s == 'abc'", "True"},
    {"s == 1", "False"},
    {"s != 1", "True"},
    {"2 > 1", "True"},
    {"2 >= 3", "False"},
    {"not 1", "False"},
    {"not 0 == 1", "True"},
    {"not not a", "True"},
    {"1 and 2", "2"},
    {"0 and 1/0", "0"},
    {"0 or 5", "5"},
    {"1 or 1/0", "1"},
    {"e or 'x'", "x"},
    {"1 < 2 and 2 < 3", "True"},
    {"True + 1", "2"},
    {"1 or 0 and 0", "1"},
    {"t", "True"},
    {"True", "True"},
    {"false", "False"},
    {"-True", "-1"},
    {"1 if 1 else 2", "1"},
    {"1 if 0 else 2", "2"},
    {"1/0 if 0 else 2", "2"},
    {"1 if 1 else nowhere", "1"},
    {"1 if 0 else 2 if 0 else 3", "3"},
    {"(1 if 1 else 0) + 1", "2"},
    {"1 + 1 if 1 else 0", "2"},
    {"1 if a == 2 and not 0 else 2", "1"},
    {"max(1, 2 if 1 else 3)", "2"},
    {"1 if 0 if 1 else 1 else 2", "2"},
    {"sin(0)", "0.0"},
    {"cos(0)", "1.0"},
    {"sqrt(16)", "4.0"},
    {"abs(-3)", "3"},
    {"abs(-3.5)", "3.5"},
    {"min(3, 1.5, 2)", "1.5"},
    {"max(1, 2, 3)", "3"},
    {"pi", "3.141592653589793"},
    {"math.pi", "3.141592653589793"},
    {"math.sin(pi/2)", "1.0"},
    {"radians(180)", "3.141592653589793"},
    {"degrees(pi)", "180.0"},
    {"atan2(1, 1)*4", "3.141592653589793"},
    {"sin (pi / 2)", "1.0"},
    {"2*sin(pi/2)+1", "3.0"},
    {"pow(2,3)", "8.0"},
    {"hypot(3,4)", "5.0"},
    {"floor(-1.5)", "-2"},
    {"ceil(1.2)", "2"},
    {"int(3.9)", "3"},
    {"int('12')", "12"},
    {"float(3)", "3.0"},
    {"float('2.5')", "2.5"},
    {"str(3) + 'x'", "3x"},
    {"exp(0)", "1.0"},
    {"log(1)", "0.0"},
    {"tan(0)", "0.0"},
    {"asin(0)", "0.0"},
    {"acos(1)", "0.0"},
    {"atan(0)", "0.0"},
    {"  ( ( 1 ) )  ", "1"},
    {"0.1+0.2", "0.30000000000000004"},
    {"9223372036854775807", "9223372036854775807"},
    {"'a b' + \"'\"", "a b'"},
    {"-9223372036854775807 - 1", "-9223372036854775808"},
    {"9223372036854775808", "9.223372036854776e+18"},
    {"(-1)**1001", "-1"},
    {"1**9223372036854775807", "1"},
    {"0**0", "1"},
    {"5 % 3.5", "1.5"},
    {"1e16", "1e+16"},
    {"123456789.0", "123456789.0"},
    {"-0.0", "-0.0"},
    // comparisons
    {"1 < 2 < 3", "True"},
    {"1 < 2 < 2", "False"},
    {"not 1 < 2 < 2", "True"},
    {"1 in [1, 2]", "True"},
    {"'x' not in [False, 'y', 0]", "True"},
    {"'bc' in s", "True"},
    {"None is None", "True"},
    {"a is not None", "True"},
    {"[1, 'a'] == [1.0, 'a']", "True"},
    {"(1, 2) == [1, 2]", "False"},
    {"'a' in dict(a=1)", "True"},
    // lists, indices, slices
    {"[1, 'a', 2.5]", "[1, 'a', 2.5]"},
    {"[]", "[]"},
    {"(1, 2)", "(1, 2)"},
    {"(1,)", "(1,)"},
    {"[[1, 2], [3]][0][1]", "2"},
    {"s[0] + s[-1]", "ac"},
    {"s[1:] + s[:1] + s[:-2] + s[:]", "bcaaabc"},
    {"[1, 2, 3][1:]", "[2, 3]"},
    {"[1] + [2] * 2", "[1, 2, 2]"},
    {"'ab' * 3", "ababab"},
    {"len([1, 2]) + len(s) + len(dict(a=1))", "6"},
    {"-[1, 2][0] ** 2", "-1"},
    {"1 if [] else 2", "2"},
    {"[1, 2][1/0] if 0 else 3", "3"},
    {"dict(a=1, b='x')", "{'a': 1, 'b': 'x'}"},
    {"dict(a=dict(b=7)).a.b", "7"},
    {"dict(a=dict(b=7))['a']['b'] + 1", "8"},
    {"dict(a=1).get('b', 5)", "5"},
    {"list(dict(a=1, b=2).keys())", "['a', 'b']"},
    {"dict(a=1, b=2).items()[1][0]", "b"},
    {"max([3, 1, 2]) + min(4, 5)", "7"},
    {"range(3)", "[0, 1, 2]"},
    {"list(range(5, 0, -2))", "[5, 3, 1]"},
    {"sum([1, 2.5])", "3.5"},
    {"sorted([3, 1, 2])", "[1, 2, 3]"},
    {"reversed([1, 2])", "[2, 1]"},
    {"any([0, 1]) and not all([0, 1])", "True"},
    {"bool('')", "False"},
    {"None", "None"},
    // texts
    {"'1 2 3'.split(' ')[1]", "2"},
    {"'  x  '.strip() + ' y '.lstrip()", "xy "},
    {"'1  2'.split()", "['1', '2']"},
    {"'a,b,c'.split(',', 1)[1]", "b,c"},
    {"s.upper() + 'ABC'.lower()", "ABCabc"},
    {"s.replace('b', '--')", "a--c"},
    {"s.startswith('ab') and s.endswith('c')", "True"},
    {"'_'.join(['a', 'b'])", "a_b"},
    {"s.find('c')", "2"},
    {"'%s_%d' % ('x', 3)", "x_3"},
    {"'%.3f' % 0.5", "0.500"},
    {"'%03d|%4d|%-3s|' % (7, -5, 'a')", "007|  -5|a  |"},
    {"'%f' % -1.25", "-1.250000"},
    {"'%d%%' % 5", "5%"},
    {"round(2.5)", "2"},
    {"round(2.675, 1)", "2.7"},
    {"python.len(s)", "3"},
    {"max(1, 2, )", "2"},
};

KK_TEST(expressions_give_what_python_gives) {
    for (size_t i = 0; i < sizeof evaluations / sizeof *evaluations; i++) {
        kki_pool pool;
        size_t offset, length = 0;
        char buffer[KK_NUMBER_TEXT_SIZE + 2];
        kki_pool_create(&pool, NULL, 1 << 20);
        const kki_value v = evaluate(&pool, evaluations[i].text, &offset);
        if (!evaluations[i].value) {
            KK_CHECK_EQ_INT(v.kind, KKI_VALUE_FAULT);
        } else if (v.kind == KKI_VALUE_FAULT) {
            KK_FAIL("%s: %s", evaluations[i].text, v.text);
        } else {
            const kki_value plain = kki_value_written(&pool, &v);
            const char *text = kki_value_to_text(&plain, buffer, &length);
            if (length != strlen(evaluations[i].value) || memcmp(text, evaluations[i].value, length) != 0) {
                KK_FAIL("%s is %.*s, not %s", evaluations[i].text, (int)length, text, evaluations[i].value);
            }
        }
        kki_pool_destroy(&pool);
    }
}

KK_TEST(expressions_say_what_is_wrong) {
    static const struct {
        const char *text;
        kk_status status;
        int offset;
        const char *says;
    } cases[] = {
        {"", KK_SYNTAX, 0, "empty"},
        {"  ", KK_SYNTAX, 0, "empty"},
        {"1 +", KK_SYNTAX, 0, "ends too early"},
        {"+ * 1", KK_SYNTAX, 2, "missing here"},
        {"1 2", KK_UNSUPPORTED, 2, "operator '2'"},
        {"(1", KK_SYNTAX, 0, "')' is missing"},
        {"1)", KK_SYNTAX, 1, "too many"},
        {"()", KK_SYNTAX, 1, "missing here"},
        {"a b", KK_UNSUPPORTED, 2, "operator is missing before 'b'"},
        {"zzz", KK_NOT_FOUND, 0, "name 'zzz' is not known"},
        {"1/0", KK_INVALID_ARGUMENT, 0, "division by zero"},
        {"1 % 0", KK_INVALID_ARGUMENT, 0, "division by zero"},
        {"1 // 0.0", KK_INVALID_ARGUMENT, 0, "division by zero"},
        {"1 + s", KK_INVALID_ARGUMENT, 0, "text 'abc'"},
        {"-s", KK_INVALID_ARGUMENT, 0, "sign before the text"},
        {"s < 1", KK_INVALID_ARGUMENT, 0, "compared with a number"},
        {"{1}", KK_UNSUPPORTED, 0, "in braces"},
        {"a[0]", KK_NOT_FOUND, 0, "no part '0'"},
        {"a.b", KK_NOT_FOUND, 0, "no part 'b'"},
        {"zzz.b", KK_NOT_FOUND, 0, "'zzz.b'"},
        {"s[3]", KK_NOT_FOUND, 0, "no part '3'"},
        {"[1, 2][-3]", KK_NOT_FOUND, 0, "no part '-3'"},
        {"dict(a=1)['b']", KK_NOT_FOUND, 0, "no part 'b'"},
        {"dict(a=1).b", KK_NOT_FOUND, 0, "no part 'b'"},
        {"dict(a=1, 2)", KK_INVALID_ARGUMENT, 0, "takes a list"},
        {"1 in 2", KK_INVALID_ARGUMENT, 0, "behind it"},
        {"[1", KK_SYNTAX, 0, "']' is missing"},
        {"1]", KK_SYNTAX, 1, "too many"},
        {"(1]", KK_SYNTAX, 2, "too many"},
        {"s[1:2:3]", KK_UNSUPPORTED, 5, "':'"},
        {"s[1, 2]", KK_UNSUPPORTED, 3, "comma"},
        {"1:2", KK_UNSUPPORTED, 1, "':'"},
        {"[1, 2] < 3", KK_INVALID_ARGUMENT, 0, "compared"},
        {"[1/0]", KK_INVALID_ARGUMENT, 0, "division"},
        {"-[1, 2]", KK_INVALID_ARGUMENT, 0, "sign before the text '[1, 2]'"},
        {"int([1, 2])", KK_INVALID_ARGUMENT, 0, "text '[1, 2]' is not a number"},
        {"float(None)", KK_INVALID_ARGUMENT, 0, "'None' is not"},
        {"1 + dict(a=1)", KK_INVALID_ARGUMENT, 0, "text '{'a': 1}'"},
        {"len(1)", KK_INVALID_ARGUMENT, 0, "takes a list"},
        {"range(1e9)", KK_INVALID_ARGUMENT, 0, "range"},
        {"range(1000000)", KK_INVALID_ARGUMENT, 0, "range"},
        {"'a' * 10000000", KK_LIMIT_EXCEEDED, 0, "too much"},
        {"'%d' % 'x'", KK_INVALID_ARGUMENT, 0, "format"},
        {"'%d %d' % 1", KK_INVALID_ARGUMENT, 0, "format"},
        {"a.upper()", KK_INVALID_ARGUMENT, 0, "no such value has 'upper'"},
        {"s.encode()", KK_UNSUPPORTED, 1, "method 'encode'"},
        {"foo(1)", KK_UNSUPPORTED, 0, "function 'foo'"},
        {"sin()", KK_INVALID_ARGUMENT, 0, "wrong number of arguments of 'sin'"},
        {"sin(1, 2)", KK_INVALID_ARGUMENT, 0, "wrong number"},
        {"sin(s)", KK_INVALID_ARGUMENT, 0, "text as an argument of 'sin'"},
        {"atan2(1)", KK_INVALID_ARGUMENT, 0, "wrong number"},
        {"1, 2", KK_UNSUPPORTED, 1, "comma"},
        {"lambda x: 1", KK_UNSUPPORTED, 0, "Python's 'lambda'"},
        {"1 in s", KK_INVALID_ARGUMENT, 0, "'in'"},
        {"x for x in y", KK_UNSUPPORTED, 2, "Python's 'for'"},
        {"1 if 2", KK_SYNTAX, 0, "without 'else'"},
        {"(1 if 2)", KK_SYNTAX, 7, "without 'else'"},
        {"1 else 2", KK_SYNTAX, 2, "without 'if'"},
        {"1 & 2", KK_UNSUPPORTED, 2, "operator '&'"},
        {"1 = 2", KK_UNSUPPORTED, 2, "operator '='"},
        {"~1", KK_SYNTAX, 0, "missing here"},
        {"'abc", KK_SYNTAX, 0, "closing quote"},
        {"'a\\n'", KK_UNSUPPORTED, 0, "backslash"},
        {"1abc", KK_SYNTAX, 0, "letter after a number"},
        {"1e999", KK_NOT_FINITE, 0, "too large"},
        {"1e308*10", KK_NOT_FINITE, 0, "not a finite"},
        {"9223372036854775807 + 1", KK_LIMIT_EXCEEDED, 0, "64 bits"},
        {"2**64", KK_LIMIT_EXCEEDED, 0, "64 bits"},
        {"9223372036854775807 * 2", KK_LIMIT_EXCEEDED, 0, "64 bits"},
        {"-9223372036854775807 - 2", KK_LIMIT_EXCEEDED, 0, "64 bits"},
        {"sqrt(-1)", KK_NOT_FINITE, 0, "not a finite"},
        {"log(0)", KK_NOT_FINITE, 0, "not a finite"},
        {"acos(2)", KK_NOT_FINITE, 0, "not a finite"},
        {"int('x')", KK_INVALID_ARGUMENT, 0, "text 'x' is not a number"},
        {"int(1e300)", KK_LIMIT_EXCEEDED, 0, "64 bits"},
        {"1 * not 0", KK_SYNTAX, 4, "'not' after"},
        {"1.2.3", KK_UNSUPPORTED, 3, "method"},
        {"\xc3\xa9", KK_SYNTAX, 0, "missing here"},
        {"1 if 1/0 else 2", KK_INVALID_ARGUMENT, 0, "division by zero"},
        {"max(1/0, 2)", KK_INVALID_ARGUMENT, 0, "division"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kki_pool pool;
        size_t offset = 99;
        kki_pool_create(&pool, NULL, 1 << 20);
        const kki_value v = evaluate(&pool, cases[i].text, &offset);
        if (v.kind != KKI_VALUE_FAULT) {
            KK_FAIL("%s: no fault", cases[i].text);
        } else if (v.status != cases[i].status || (int)offset != cases[i].offset || !strstr(v.text, cases[i].says) ||
                   !strchr(v.text, ';')) {
            KK_FAIL("%s: %s at %d: %s", cases[i].text, kk_status_name(v.status), (int)offset, v.text);
        }
        kki_pool_destroy(&pool);
    }
}

KK_TEST(expressions_are_bounded) {
    static const char *const parts[][2] = {{"(", ")"},           {"-", ""}, {"not ", ""}, {"1+(", ")"}, {"max(1,", ")"},
                                           {"1 if 0 else ", ""}, {"[", "]"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (int n = 10; n <= 10000; n *= 10) {
            kki_pool pool;
            builder b = {0};
            size_t offset;
            build_times(&b, parts[i][0], n);
            build(&b, "1");
            build_times(&b, parts[i][1], n);
            kki_pool_create(&pool, NULL, 1 << 20);
            const kki_value v = evaluate(&pool, b.text, &offset);
            KK_CHECK(n == 10 ? v.kind != KKI_VALUE_FAULT : v.kind == KKI_VALUE_FAULT && v.status == KK_LIMIT_EXCEEDED);
            kki_pool_destroy(&pool);
            free(b.text);
        }
    }
}

KK_TEST(expressions_wait_for_what_is_pending) {
    kki_pool pool;
    size_t offset;
    kki_pool_create(&pool, NULL, 1 << 20);
    const kki_value v = evaluate(&pool, "1 + p * nowhere", &offset);
    KK_CHECK_EQ_INT(v.kind, KKI_VALUE_PENDING);
    KK_CHECK_EQ_INT(v.integer, 77);
    kki_pool_destroy(&pool);
}

KK_TEST(expressions_survive_failing_allocations) {
    for (int k = 0; k < 2; k++) {
        counter c = {.fail_at = k};
        const kk_allocator allocator = counter_allocator(&c);
        kki_pool pool;
        size_t offset;
        kki_pool_create(&pool, &allocator, 1 << 20);
        const kki_value v = evaluate(&pool, "s + 'x' == str(1) or nowhere", &offset);
        KK_CHECK_EQ_INT(v.kind, KKI_VALUE_FAULT);
        KK_CHECK_EQ_INT(v.status, k == 0 ? KK_OUT_OF_MEMORY : KK_NOT_FOUND);
        kki_pool_destroy(&pool);
        KK_CHECK_EQ_INT(c.blocks, 0);
    }
}
