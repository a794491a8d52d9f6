// libFuzzer target of the XML reader: reads the bytes, and where they are a document looks at every part of it; then
// expands it as xacro within small limits.
//
//     clang -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc tests/fuzz/fuzz_xml.c ...: scripts/fuzz.sh xml
// The corpus in tests/fuzz/corpus/xml is replayed by tests/io/test_fuzz_corpus.c.
#include <stdlib.h>
#include <string.h>

#include "io/xacro.h"
#include "io/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
    if (!condition) {
        abort();
    }
}

/// All strings end, all numbers are in range, all places are in the file.
static void check_tree(const kki_xml *xml) {
    for (int32_t n = 0; n < xml->node_count; n++) {
        const kki_xml_node *node = &xml->node[n];
        require(strlen(kki_xml_string(xml, node->text)) == node->length);
        require(node->parent < n && node->first_child < xml->node_count && node->next < xml->node_count);
        require(node->first_child == KKI_XML_NONE || xml->node[node->first_child].parent == n);
        const kki_xml_position p = kki_xml_locate(xml, node->place);
        require(p.line > 0 && p.column > 0);
        if (!kki_xml_is_element(xml, n)) {
            require(kki_xml_place_in_text(xml, n, node->length / 2) >= node->place);
        }
    }
    for (int32_t i = 0; i < xml->attribute_count; i++) {
        const kki_xml_attribute *a = &xml->attribute[i];
        require(strlen(kki_xml_string(xml, a->value)) == a->value_length);
        require(kki_xml_place_in_value(xml, i, a->value_length) >= a->value_place);
    }
}

/// Most inputs have nothing to expand.
static int has_xacro(const char *text, size_t size) {
    for (size_t i = 0; i + 6 <= size; i++) {
        if ((text[i] == '$' && (text[i + 1] == '{' || text[i + 1] == '(')) || memcmp(text + i, "xacro:", 6) == 0) {
            return 1;
        }
    }
    return 0;
}

static void expand(const kki_xml *xml) {
    const kki_xacro_argument argument = {"a", "1"};
    const kki_xacro_options options = {
        .argument = &argument, .argument_count = 1, .steps = 2000, .nodes = 1000, .bytes = 100000, .depth = 50};
    kki_xml *result;
    kk_error error = {0};
    if (kki_xacro_expand(xml, "fuzz.xacro", NULL, &options, NULL, &result, &error) == KK_OK) {
        check_tree(result);
    } else {
        require(error.text[0] != 0 && error.line > 0);
    }
    kki_xml_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kki_xml *xml;
    kk_error error = {0};
    if (kki_xml_parse("fuzz.xml", (const char *)data, size, NULL, NULL, &xml, &error) == KK_OK) {
        check_tree(xml);
        if (has_xacro((const char *)data, size)) {
            expand(xml);
        }
    } else {
        require(error.text[0] != 0 && error.line > 0 && error.column > 0);
    }
    kki_xml_free(xml);
    return 0;
}
