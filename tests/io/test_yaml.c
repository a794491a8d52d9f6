// YAML: what PyYAML makes of the same text, and where faults are.
#include <stdio.h>

#include "support.h"

#include "io/yaml.h"

static kki_value read(kki_pool *pool, const char *text) {
    return kki_yaml_read(text, strlen(text), "f.yaml", pool);
}

KK_TEST(yaml_values) {
    static const char *const cases[][2] = {
        {"a: 1", "{'a': 1}"},
        {"", "None"},
        {"# nothing\n---\n", "None"},
        {"%YAML 1.1\n---\na: 1\n...\n", "{'a': 1}"},
        {"42", "42"},
        {"- 1\n- 2.5\n- x y\n", "[1, 2.5, 'x y']"},
        {"a:\n  b: 1\n  c:\n    d: 2\ne: 3\n", "{'a': {'b': 1, 'c': {'d': 2}}, 'e': 3}"},
        {"a:\n- 1\n- 2\nb: 3\n", "{'a': [1, 2], 'b': 3}"},
        {"a:\n  - x: 1\n    y: 2\n  - x: 3\n", "{'a': [{'x': 1, 'y': 2}, {'x': 3}]}"},
        {"- - 1\n  - 2\n- - 3\n", "[[1, 2], [3]]"},
        {"-\n  a: 1\n-\n  - 2\n", "[{'a': 1}, [2]]"},
        {"a: [1, 2.5, x, 'y, z', [3]]", "{'a': [1, 2.5, 'x', 'y, z', [3]]}"},
        {"a: {b: 1, c: {d: e f}, 'g': []}", "{'a': {'b': 1, 'c': {'d': 'e f'}, 'g': []}}"},
        {"a: [1,\n  # two\n  2,\n]\nb: 3", "{'a': [1, 2], 'b': 3}"},
        {"a: true\nb: No\nc: ~\nd: null\ne: on", "{'a': True, 'b': False, 'c': None, 'd': None, 'e': True}"},
        {"a: 'it''s'\nb: \"x\\ty\\\"\"\nc: '# no'", "{'a': 'it's', 'b': 'x\ty\"', 'c': '# no'}"},
        {"a: b#c # d\nb: http://x:80/y", "{'a': 'b#c', 'b': 'http://x:80/y'}"},
        {"a: one\n  two\n  three\nb: 1", "{'a': 'one two three', 'b': 1}"},
        {"a: |\n  x\n    y\n  z\nb: >-\n  p\n  q\n", "{'a': 'x\n  y\nz\n', 'b': 'p q'}"},
        {"a: !degrees 180\nb: !radians 2*pi\nc: !millimeters -5.0\nd: !inches '1'",
         "{'a': 3.141592653589793, 'b': 6.283185307179586, 'c': -0.005, 'd': 0.0254}"},
        {"a: [!degrees 180, !radians 1]", "{'a': [3.141592653589793, 1.0]}"},
        {"a: &x\n  p: 1\n  q: 2\nb:\n  <<: *x\n  q: 3\nc: *x", "{'a': {'p': 1, 'q': 2}, 'b': {'p': 1, 'q': 3}, 'c': "
                                                               "{'p': 1, 'q': 2}}"},
        {"1: a\n'2': b\n", "{1: 'a', '2': 'b'}"},
        {"a: 1\r\nb:\r\n  - 2\r\n", "{'a': 1, 'b': [2]}"},
        {"a: 1\na: 2\n", "{'a': 2}"},
        {"\xef\xbb\xbf"
         "a : -1.5e-3",
         "{'a': -0.0015}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kki_pool pool;
        kki_pool_create(&pool, NULL, 1 << 20);
        const kki_value v = read(&pool, cases[i][0]), plain = kki_value_written(&pool, &v);
        char buffer[KK_NUMBER_TEXT_SIZE + 2];
        size_t length;
        const char *text = v.kind == KKI_VALUE_FAULT ? v.text : kki_value_to_text(&plain, buffer, &length);
        if (v.kind == KKI_VALUE_FAULT || length != strlen(cases[i][1]) || memcmp(text, cases[i][1], length) != 0) {
            KK_FAIL("%s\n    gives %s\n    not   %s", cases[i][0], text, cases[i][1]);
        }
        kki_pool_destroy(&pool);
    }
}

// 64 anchors are read, one more is told
KK_TEST(yaml_anchors_have_a_bound) {
    for (int count = 64; count <= 65; count++) {
        char text[2048];
        size_t n = 0;
        for (int i = 0; i < count; i++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "k%d: &a%d %d\n", i, i, i);
        }
        kki_pool pool;
        kki_pool_create(&pool, NULL, 1 << 20);
        const kki_value v = read(&pool, text);
        KK_CHECK_EQ_INT(v.kind == KKI_VALUE_FAULT, count > 64);
        kki_pool_destroy(&pool);
    }
}

KK_TEST(yaml_faults_have_lines) {
    static const struct {
        const char *text;
        kk_status status;
        const char *says;
    } cases[] = {
        {"a: 1\nb: [1, 2", KK_SYNTAX, "f.yaml:2: a '['"},
        {"a: 1\n\nb: 'x", KK_SYNTAX, "f.yaml:3: a text without"},
        {"a: 1\nb\n", KK_SYNTAX, "f.yaml:2: a key with ':'"},
        {"a: 1\n  b: 2\n", KK_SYNTAX, "f.yaml:"},
        {"  a: 1\nb: 2\n", KK_SYNTAX, "f.yaml:2: a line that belongs to nothing"},
        {"a: *x", KK_NOT_FOUND, "f.yaml:1: an alias"},
        {"a: !degrees x", KK_INVALID_ARGUMENT, "f.yaml:1: a unit"},
        {"a: !!binary x", KK_UNSUPPORTED, "f.yaml:1: a tag"},
        {"? a\n: b", KK_UNSUPPORTED, "f.yaml:1: this part"},
        {"a: {b}", KK_SYNTAX, "f.yaml:1: a key without ':'"},
        {"a: 1\n---\nb: 2", KK_UNSUPPORTED, "f.yaml:2: several documents"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kki_pool pool;
        kki_pool_create(&pool, NULL, 1 << 20);
        const kki_value v = read(&pool, cases[i].text);
        if (v.kind != KKI_VALUE_FAULT || v.status != cases[i].status || !strstr(v.text, cases[i].says) ||
            !strchr(v.text, ';')) {
            KK_FAIL("%s: %s", cases[i].text, v.kind == KKI_VALUE_FAULT ? v.text : "no fault");
        }
        kki_pool_destroy(&pool);
    }
}

// hostile nesting, aliases of aliases, every cut of a file: an end, a bound, and nothing outside of the text is read
KK_TEST(yaml_is_bounded) {
    static const char *const parts[] = {"[", "{a: ", "- ", "!degrees ", "a:\n ", "[&a "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        kki_pool pool;
        builder b = {0};
        build_times(&b, parts[i], 5000);
        kki_pool_create(&pool, NULL, 1 << 22);
        KK_CHECK_EQ_INT(read(&pool, b.text).kind, KKI_VALUE_FAULT);
        kki_pool_destroy(&pool);
        free(b.text);
    }
    static const char whole[] =
        "a: &x [1, 'b', {c: !degrees 2}]\nd:\n  - *x\n  - e: |\n      f\n    g: \"h\\n\"\n<<: {i: j}\n";
    for (size_t n = 0; n < sizeof whole; n++) {
        kki_pool pool;
        char *copy = malloc(n + 1);
        memcpy(copy, whole, n);
        kki_pool_create(&pool, NULL, 1 << 20);
        const kki_value v = kki_yaml_read(copy, n, "f.yaml", &pool);
        KK_CHECK(v.kind != KKI_VALUE_FAULT || v.text);
        kki_pool_destroy(&pool);
        free(copy);
    }
}

KK_TEST(yaml_survives_failing_allocations) {
    int failures = 0;
    for (int k = 0; k < 3; k++) {
        counter c = {.fail_at = k};
        const kk_allocator allocator = counter_allocator(&c);
        kki_pool pool;
        builder b = {0};
        build_times(&b, "- [1, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', {a: 2}]\n", 100);
        kki_pool_create(&pool, &allocator, 1 << 20);
        const kki_value v = read(&pool, b.text);
        failures += v.kind == KKI_VALUE_FAULT && v.status == KK_OUT_OF_MEMORY;
        kki_pool_destroy(&pool);
        KK_CHECK_EQ_INT(c.blocks, 0);
        free(b.text);
    }
    KK_CHECK_EQ_INT(failures, 3);
}
