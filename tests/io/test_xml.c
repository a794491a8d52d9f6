// The tree: structure, strings, places, limits, memory and time.
#include "support.h"

#include <stdio.h>

#if !defined(__wasm__)
#include <pthread.h>
#endif

static void check_place(const kki_xml *xml, uint32_t place, int line, int column) {
    const kki_xml_position p = kki_xml_locate(xml, place);
    KK_CHECK_EQ_INT(p.line, line);
    KK_CHECK_EQ_INT(p.column, column);
    KK_CHECK_STR(p.file, "test.xml");
}

KK_TEST(xml_tree_has_elements_attributes_and_texts) {
    kki_xml *xml = parse_good("<a x='1' y=\"2\"><b/>text<c z='3'>more</c></a>");
    KK_CHECK_EQ_INT(xml->node_count, 5);
    KK_CHECK_EQ_INT(xml->attribute_count, 3);
    KK_CHECK(kki_xml_is(xml, KKI_XML_ROOT, "a"));
    KK_CHECK_STR(kki_xml_value(xml, KKI_XML_ROOT, "x"), "1");
    KK_CHECK_STR(kki_xml_value(xml, KKI_XML_ROOT, "y"), "2");
    KK_CHECK(kki_xml_value(xml, KKI_XML_ROOT, "z") == NULL);
    const int32_t b = xml->node[0].first_child, text = xml->node[b].next, c = xml->node[text].next;
    KK_CHECK_STR(kki_xml_name(xml, b), "b");
    KK_CHECK(!kki_xml_is_element(xml, text));
    KK_CHECK_STR(kki_xml_text(xml, text), "text");
    KK_CHECK_STR(kki_xml_name(xml, text), "");
    KK_CHECK_STR(kki_xml_text(xml, KKI_XML_ROOT), "text");
    KK_CHECK_STR(kki_xml_text(xml, c), "more");
    KK_CHECK_STR(kki_xml_text(xml, b), "");
    KK_CHECK_EQ_INT(xml->node[c].next, KKI_XML_NONE);
    KK_CHECK_EQ_INT(xml->node[c].parent, 0);
    KK_CHECK_EQ_INT(xml->node[0].parent, KKI_XML_NONE);
    KK_CHECK_EQ_INT(kki_xml_first(xml, 0, NULL), b);
    KK_CHECK_EQ_INT(kki_xml_first(xml, 0, "c"), c);
    KK_CHECK_EQ_INT(kki_xml_next(xml, b, NULL), c);
    KK_CHECK_EQ_INT(kki_xml_next(xml, b, "b"), KKI_XML_NONE);
    kki_xml_free(xml);
    kki_xml_free(NULL);
}

KK_TEST(xml_decodes_references_cdata_and_line_ends) {
    static const struct {
        const char *xml, *text;
    } cases[] = {
        {"<a>&lt;&gt;&amp;&quot;&apos;</a>", "<>&\"'"},
        {"<a>&#65;&#x42;&#x6A5f;&#x1F916;</a>", "AB\xe6\xa9\x9f\xf0\x9f\xa4\x96"},
        {"<a>&#x7f;&#x80;&#x7ff;&#x800;&#xffff2;</a>", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xf3\xbf\xbf\xb2"},
        {"<a>&#000065;</a>", "A"},
        {"<a>1<![CDATA[<b>&amp;]] ]>]]>2</a>", "1<b>&amp;]] ]>2"},
        {"<a><![CDATA[]]>x<![CDATA[y]]></a>", "xy"},
        {"<a>x<!-- c -->y<?p q?>z</a>", "xyz"},
        {"<a><!-->-->x<!--->--></a>", "x"},
        {"<a>1\r\n2\r3\n4\n\r5</a>", "1\n2\n3\n4\n\n5"},
        {"<a><![CDATA[1\r\n2\r3]]></a>", "1\n2\n3"},
        {"<a>&#13;&#10;x</a>", "\r\nx"},
        {"<a>]]&gt; ] ]]</a>", "]]> ] ]]"},
        {"<a>\n  x \n</a>", "\n  x \n"},
        {"<a>></a>", ">"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kki_xml *xml = parse_good(cases[i].xml);
        if (xml) {
            KK_CHECK_STR(kki_xml_text(xml, KKI_XML_ROOT), cases[i].text);
            KK_CHECK_EQ_INT(xml->node[1].length, strlen(cases[i].text));
            KK_CHECK_EQ_INT(xml->node_count, 2);
        }
        kki_xml_free(xml);
    }
}

KK_TEST(xml_normalizes_values) {
    kki_xml *xml = parse_good("<a b=\"x\ty\nz\r\nu\rv\" c='&#9;&#10;&#13;\"' d='&lt;&#x6a5f;>' e=''/>");
    KK_CHECK_STR(kki_xml_value(xml, 0, "b"), "x y z u v");
    KK_CHECK_STR(kki_xml_value(xml, 0, "c"), "\t\n\r\"");
    KK_CHECK_STR(kki_xml_value(xml, 0, "d"), "<\xe6\xa9\x9f>");
    KK_CHECK_STR(kki_xml_value(xml, 0, "e"), "");
    KK_CHECK_EQ_INT(xml->attribute[1].value_length, 4);
    kki_xml_free(xml);
}

KK_TEST(xml_accepts_what_is_well_formed) {
    static const char *const texts[] = {"<a/>",
                                        "<a />",
                                        "<a></a >",
                                        "<a\n>\t</a\r\n>",
                                        "\n<a/>\n",
                                        "<a b = '1'\n\tc\r=\n\"2\" />",
                                        "<?xml version=\"1.0\"?><a/>",
                                        "<?xml version='1.0' encoding='utf-8' standalone='no' ?>\n<a/>",
                                        "<?xml version = \"1.1\" encoding=\"US-ASCII\"?><a/>",
                                        "<?xml version=\"2.0\"?><a/>",
                                        "<?xml version=''?><a/>",
                                        "<?xml version=\"1.0\" standalone=\"yes\"?><a/>",
                                        "\xef\xbb\xbf<a/>",
                                        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>",
                                        "<?p?><a/><?q r?>",
                                        "<!----><a/><!-- - - -->",
                                        "<_/>",
                                        "<:a:b/>",
                                        "<a.b-c_1/>",
                                        "<\xe6\xa9\x9f\xe6\xa2\xb0 \xc3\xa9='1'/>",
                                        "<a\xc2\xb7\xcc\x80/>",
                                        "<\xf0\x90\x80\x80/>",
                                        "<xml/>",
                                        "<?xml-stylesheet href='x'?><a/>",
                                        "<?xmlx?><a/>",
                                        "<a xmlns='u' xmlns:b='v' b:c='1' c='2'/>",
                                        "<a><?p ? ?></a>",
                                        "<a>\x7f</a>",
                                        "<a b='>'/>",
                                        "<a>\"'</a>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kki_xml *xml = parse_good(texts[i]);
        KK_CHECK(xml && xml->node_count ==
                            1 + (i == sizeof texts / sizeof *texts - 3 || i == sizeof texts / sizeof *texts - 1));
        kki_xml_free(xml);
    }
}

KK_TEST(xml_places_are_exact) {
    kki_xml *xml = parse_good(
        "\xef\xbb\xbf<?xml version='1.0'?>\r\n<a>\r\n\t<b\n  c = 'v'\td=\"w\"/> t\xe6\xa9\x9f<!-- \n --><e/>\r</a>");
    const int32_t b = kki_xml_first(xml, 0, "b"), e = kki_xml_first(xml, 0, "e"), t = xml->node[b].next;
    check_place(xml, xml->node[0].place, 2, 1);
    check_place(xml, xml->node[b].place, 3, 2);
    check_place(xml, xml->attribute[0].place, 4, 3);
    check_place(xml, xml->attribute[0].value_place, 4, 8);
    check_place(xml, xml->attribute[1].place, 4, 11);
    check_place(xml, xml->attribute[1].value_place, 4, 14);
    check_place(xml, xml->node[t].place, 4, 18);
    check_place(xml, xml->node[e].place, 5, 5);
    kki_xml_free(xml);
}

// a byte of a decoded value is found again in the file
KK_TEST(xml_places_inside_values_and_texts) {
    kki_xml *xml = parse_good("<a b='1 &lt;\r\n&#x6a5f; 2'>x<!--\n-->&amp;y<![CDATA[&\r\nz]]>\nw<?p?>v</a>");
    static const int value_places[][2] = {{1, 7}, {1, 8}, {1, 9}, {1, 13}, {2, 1}, {2, 1}, {2, 1}, {2, 9}, {2, 10}};
    for (uint32_t i = 0; i < 9; i++) {
        check_place(xml, kki_xml_place_in_value(xml, 0, i), value_places[i][0], value_places[i][1]);
    }
    KK_CHECK_STR(kki_xml_text(xml, 0), "x&y&\nz\nwv");
    static const int text_places[][2] = {{2, 13}, {3, 4}, {3, 9}, {3, 19}, {3, 20}, {4, 1}, {4, 5}, {5, 1}, {5, 7}};
    for (uint32_t i = 0; i < 9; i++) {
        check_place(xml, kki_xml_place_in_text(xml, 1, i), text_places[i][0], text_places[i][1]);
    }
    check_place(xml, kki_xml_place_in_text(xml, 1, 9), 5, 8);
    kki_xml_free(xml);
}

// the index of lines has blocks of 4096 bytes: a place beside each border
KK_TEST(xml_places_across_blocks_of_lines) {
    for (int width = 1; width < 400; width += 23) {
        builder b = {0};
        build(&b, "<a>");
        int lines = 0;
        while (b.size < 20000) {
            build_times(&b, "x", width);
            build(&b, lines % 3 == 0 ? "\n" : lines % 3 == 1 ? "\r\n" : "\r");
            lines++;
        }
        build(&b, "<b/></a>");
        kki_xml *xml = parse_good(b.text);
        int line = 1, column = 1;
        for (uint32_t i = 0; i < (uint32_t)b.size; i++) {
            const kki_xml_position p = kki_xml_locate(xml, i);
            if (p.line != line || p.column != column) {
                KK_FAIL("byte %d: %d:%d, not %d:%d", (int)i, p.line, p.column, line, column);
                break;
            }
            const bool ends = b.text[i] == '\n' || (b.text[i] == '\r' && b.text[i + 1] != '\n');
            line += ends;
            column = ends ? 1 : column + 1;
        }
        KK_CHECK_EQ_INT(kki_xml_locate(xml, xml->node[2].place).line, lines + 1);
        kki_xml_free(xml);
        free(b.text);
    }
}

// ---- limits

static kk_status parse_limited(const builder *b, const kki_xml_limits *limits, kk_error *error) {
    kki_xml *xml;
    const kk_status status = kki_xml_parse("big.xml", b->text, b->size, limits, NULL, &xml, error);
    kki_xml_free(xml);
    return status;
}

static void check_limited(const char *text, kki_xml_limits limits, kk_status status, int column, const char *reason) {
    builder b = {0};
    kk_error error = {0};
    build(&b, text);
    KK_CHECK_EQ_INT(parse_limited(&b, &limits, &error), status);
    KK_CHECK_EQ_INT(error.column, column);
    KK_CHECK(strstr(error.text, reason) != NULL);
    free(b.text);
}

KK_TEST(xml_limits_hold_exactly) {
    kki_xml_limits limits = kki_xml_limits_default();
    KK_CHECK_EQ_INT(limits.depth, 16384);
    KK_CHECK_EQ_INT(limits.size, 256 << 20);
    limits.depth = 2;
    check_limited("<a><b/></a>", limits, KK_OK, 0, "");
    check_limited("<a><b><c/></b></a>", limits, KK_LIMIT_EXCEEDED, 7, "depth");
    limits = kki_xml_limits_default();
    limits.nodes = 2;
    check_limited("<a>x</a>", limits, KK_OK, 0, "");
    check_limited("<a>x<b/></a>", limits, KK_LIMIT_EXCEEDED, 5, "number of elements");
    check_limited("<a><b/>x</a>", limits, KK_LIMIT_EXCEEDED, 8, "number of elements");
    limits = kki_xml_limits_default();
    limits.attributes = 1;
    check_limited("<a b=''/>", limits, KK_OK, 0, "");
    check_limited("<a b='' c=''/>", limits, KK_LIMIT_EXCEEDED, 9, "number of attributes");
    limits = kki_xml_limits_default();
    limits.name_length = 3;
    check_limited("<abc def=''/>", limits, KK_OK, 0, "");
    check_limited("<abcd/>", limits, KK_LIMIT_EXCEEDED, 2, "length of a name");
    check_limited("<a bcde=''/>", limits, KK_LIMIT_EXCEEDED, 4, "length of a name");
    limits = kki_xml_limits_default();
    limits.size = 4;
    check_limited("<a/>", limits, KK_OK, 0, "");
    check_limited("<a/> ", limits, KK_LIMIT_EXCEEDED, 1, "limit");
}

// ---- bombs: time and memory stay in proportion

/// Parses with a counting allocator; memory must stay below 32 times the text, and time below a second for 10 MB.
static kk_status parse_measured(const builder *b, kk_error *error) {
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    kki_xml *xml;
    const double start = kk_test_seconds();
    const kk_status status = kki_xml_parse("bomb.xml", b->text, b->size, NULL, &allocator, &xml, error);
    const double elapsed = kk_test_seconds() - start;
    KK_CHECK(elapsed < 1.0 + 1e-6 * (double)b->size); // slow machines and sanitizers
    KK_CHECK(c.peak <= 32 * b->size + 4096);
    KK_CHECK(c.calls <= 6); // tree, sources, text, nodes, attributes, strings: none had to grow
    kki_xml_free(xml);
    KK_CHECK_EQ_INT(c.blocks, 0);
    KK_CHECK_EQ_INT(c.bytes, 0);
    return status;
}

static void check_bomb(const char *before, const char *middle, int times, const char *after, kk_status status) {
    builder b = {0};
    kk_error error = {0};
    build(&b, before);
    build_times(&b, middle, kk_test_is_quick() ? times / 10 : times);
    build(&b, after);
    if (!KK_CHECK_EQ_INT(parse_measured(&b, &error), status)) {
        KK_FAIL("bomb of '%s': %s", middle, error.text);
    }
    free(b.text);
}

KK_TEST(xml_bombs_stay_in_their_bounds) {
    check_bomb("<a>", "<a/>", 1000000, "</a>", KK_OK);
    check_bomb("<a>", "<a/>b", 1000000, "</a>", KK_OK);
    check_bomb("<a>", "b<a/>", 1000000, "</a>", KK_OK);
    check_bomb("<a>", "<a></a>", 500000, "</a>", KK_OK);
    check_bomb("<a>", "<a>b</a>", 500000, "</a>", KK_OK);
    check_bomb("<a>", "<a b=''/>", 500000, "</a>", KK_OK);
    check_bomb("<a>", "\n", 3000000, "</a>", KK_OK);
    check_bomb("<a>", "=", 3000000, "</a>", KK_OK);
    check_bomb("<a>", "&#9;", 1000000, "</a>", KK_OK);
    check_bomb("<a>", "x<!---->", 500000, "</a>", KK_OK);
    check_bomb("<a>", "<![CDATA[]]>", 300000, "</a>", KK_OK);
    check_bomb("<a><![CDATA[", "<=", 1000000, "]]></a>", KK_OK);
    check_bomb("<a><![CDATA[", "]]", 1000000, "]]></a>", KK_OK);
    check_bomb("<a><!-- ", "<a =", 1000000, "--></a>", KK_OK);
    check_bomb("<a><!-- ", "- ", 1000000, "--></a>", KK_OK);
    check_bomb("<a b='", "\t", 1000000, "'/>", KK_OK);
    check_bomb("", "<", 1000000, "", KK_SYNTAX);
    check_bomb("", "<a>", 300000, "", KK_LIMIT_EXCEEDED);
    check_bomb("<a ", "b", 3000000, "=''/>", KK_LIMIT_EXCEEDED);
    check_bomb("<", "a", 3000000, "/>", KK_LIMIT_EXCEEDED);
    check_bomb("<a>&", "a", 3000000, ";</a>", KK_SYNTAX);
    check_bomb("<a>&#", "1", 3000000, ";</a>", KK_SYNTAX);
    check_bomb("<a><?", "p", 3000000, "?></a>", KK_OK);
}

KK_TEST(xml_many_attributes_are_refused) {
    builder b = {0};
    kk_error error = {0};
    build(&b, "<a");
    for (int i = 0; i < 100000; i++) {
        char text[32];
        snprintf(text, sizeof text, " a%d=''", i);
        build(&b, text);
    }
    build(&b, "/>");
    KK_CHECK_EQ_INT(parse_measured(&b, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK(strstr(error.text, "attributes") != NULL);
    free(b.text);
}

/// Elements in elements to the default bound; `closes` as many end tags.
static void build_deep(builder *b, int depth) {
    build_times(b, "<a>", depth);
    build_times(b, "</a>", depth);
}

KK_TEST(xml_depth_at_the_bound) {
    builder b = {0};
    kk_error error = {0};
    build_deep(&b, 16384);
    KK_CHECK_EQ_INT(parse_measured(&b, &error), KK_OK);
    b.size = 0;
    build_deep(&b, 16385);
    KK_CHECK_EQ_INT(parse_measured(&b, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(error.column, 49153);
    free(b.text);
}

// ---- 100 000 links, also on a small stack

typedef struct many_links {
    builder text;
    int32_t nodes;
    kk_status status;
} many_links;

static void build_links(builder *b, int count) {
    build(b, "<robot name='r'>\n");
    for (int i = 0; i < count; i++) {
        char text[200];
        snprintf(
            text, sizeof text,
            "  <link name='l%d'>\n    <inertial><mass value='1.5'/><origin xyz='0 0 1' rpy='0 0 0'/></inertial>\n  "
            "</link>\n",
            i);
        build(b, text);
    }
    build(b, "</robot>\n");
}

static void *parse_links(void *argument) {
    many_links *m = argument;
    kki_xml *xml;
    m->status = kki_xml_parse("links.urdf", m->text.text, m->text.size, NULL, NULL, &xml, NULL);
    m->nodes = m->status ? 0 : xml->node_count;
    for (int32_t n = m->status ? KKI_XML_NONE : kki_xml_first(xml, 0, "link"); n != KKI_XML_NONE;
         n = kki_xml_next(xml, n, "link")) {
        m->nodes += kki_xml_value(xml, n, "name") == NULL;
    }
    kki_xml_free(xml);
    return NULL;
}

static void parse_on_small_stack(many_links *m) {
#if defined(__wasm__)
    parse_links(m);
#else
    pthread_attr_t attributes;
    pthread_t thread;
    KK_CHECK_EQ_INT(pthread_attr_init(&attributes), 0);
    KK_CHECK_EQ_INT(pthread_attr_setstacksize(&attributes, 65536), 0);
    if (KK_CHECK_EQ_INT(pthread_create(&thread, &attributes, parse_links, m), 0)) {
        KK_CHECK_EQ_INT(pthread_join(thread, NULL), 0);
    }
    pthread_attr_destroy(&attributes);
#endif
}

KK_TEST(xml_of_hundred_thousand_links) {
    many_links m = {.status = KK_IO};
    build_links(&m.text, 100000);
    parse_on_small_stack(&m);
    KK_CHECK_EQ_INT(m.status, KK_OK);
    KK_CHECK_EQ_INT(m.nodes, 400001);
    free(m.text.text);
}

/// Best of several, for the machine has other things to do.
static double time_links(int count) {
    many_links m = {.status = KK_IO};
    double best = 1e9;
    build_links(&m.text, count);
    for (int i = 0; i < 5; i++) {
        const double start = kk_test_seconds();
        parse_links(&m);
        const double elapsed = kk_test_seconds() - start;
        best = elapsed < best ? elapsed : best;
    }
    free(m.text.text);
    return best / count;
}

KK_TEST(xml_time_is_linear) {
    if (kk_test_is_quick()) {
        KK_SKIP("times mean nothing under sanitizers");
    }
    const double small = time_links(5000), large = time_links(100000);
    KK_CHECK(large < 8 * small); // caches; quadratic would be 20
}

// ---- memory that runs out

KK_TEST(xml_survives_failing_allocations) {
    static const char text[] = "<a b='1' c='2'>x<d/>y<e>z</e></a>";
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    kki_xml *xml;
    KK_CHECK_EQ_INT(kki_xml_parse("f", text, strlen(text), NULL, &allocator, &xml, NULL), KK_OK);
    kki_xml_free(xml);
    const int calls = c.calls;
    KK_CHECK(calls >= 5);
    for (int k = 0; k < calls; k++) {
        kk_error error = {0};
        c = (counter){.fail_at = k};
        KK_CHECK_EQ_INT(kki_xml_parse("f", text, strlen(text), NULL, &allocator, &xml, &error), KK_OUT_OF_MEMORY);
        KK_CHECK(xml == NULL);
        KK_CHECK_EQ_INT(error.status, KK_OUT_OF_MEMORY);
        KK_CHECK(error.text[0] != 0);
        KK_CHECK_EQ_INT(c.blocks, 0);
        KK_CHECK_EQ_INT(c.bytes, 0);
    }
}

// what is declared as Latin-1 is read as such: one byte a character, all of them legal but the controls below a blank
KK_TEST(xml_reads_latin1) {
    static const char text[] = "<?xml version='1.0' encoding='ISO-8859-1'?>\n"
                               "<a n='\xe9t\xe9 \x80\xff'>\xfc"
                               "ber\n <b\xe8 c='x'/></a>";
    kki_xml *xml = parse_good(text);
    KK_CHECK_STR(kki_xml_value(xml, KKI_XML_ROOT, "n"), "\xc3\xa9t\xc3\xa9 \xc2\x80\xc3\xbf");
    KK_CHECK_STR(kki_xml_text(xml, KKI_XML_ROOT), "\xc3\xbc"
                                                  "ber\n ");
    const int32_t b = kki_xml_first(xml, KKI_XML_ROOT, "b\xc3\xa8");
    KK_CHECK(b != KKI_XML_NONE);
    const kki_xml_position at = kki_xml_locate(xml, xml->node[b].place);
    KK_CHECK(at.line == 3 && at.column == 2);
    kki_xml_free(xml);
}

// in memory of at most 32 times the file, and given back when any allocation fails
KK_TEST(xml_of_latin1_survives_failing_allocations) {
    builder text = {0};
    build(&text, "<?xml version='1.0' encoding='latin1'?><a>");
    build_times(&text, "<\xe9/>\xff", 20000);
    build(&text, "</a>");
    int calls = 1;
    for (int i = -1; i < calls; i++) {
        counter c = {.fail_at = i};
        const kk_allocator allocator = counter_allocator(&c);
        kki_xml *xml = NULL;
        kk_error error = {0};
        const kk_status status = kki_xml_parse("t.xml", text.text, text.size, NULL, &allocator, &xml, &error);
        KK_CHECK_EQ_INT(status, i < 0 ? KK_OK : KK_OUT_OF_MEMORY);
        KK_CHECK(c.peak <= 32 * text.size + 1000);
        calls = i < 0 ? c.calls : calls;
        kki_xml_free(xml);
        KK_CHECK_EQ_INT(c.blocks, 0);
    }
    KK_CHECK(calls > 5);
    free(text.text);
}
