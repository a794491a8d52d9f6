/// The state of an expansion, and the evaluation of its texts: ${...} and $(...).
#ifndef KARAKURI_IO_XACRO_TEXT_H
#define KARAKURI_IO_XACRO_TEXT_H

#include "xacro.h"
#include "xacro_symbols.h"

enum { KKI_XACRO_MOST_DOCUMENTS = 256, KKI_XACRO_OUTERMOST = 0 };

/// A file that takes part.
typedef struct kki_xacro_document {
    const kki_xml *xml;
    kki_xml *owned; ///< of an include; NULL for the first
    const char *path;
    uint32_t base; ///< of its places in the result
} kki_xacro_document;

/// A YAML file that was loaded, so that it is read once.
typedef struct kki_xacro_yaml {
    const char *path;
    kki_value value;
    struct kki_xacro_yaml *next;
} kki_xacro_yaml;

/// A list of siblings that is being expanded.
typedef struct kki_xacro_frame {
    int32_t document;
    int32_t node; ///< the next, KKI_XML_NONE at the end
    int32_t scope;
    int32_t include;   ///< document that is included by this frame; -1 else
    const char *macro; ///< macro that is expanded by this frame; NULL else
    int32_t call_document;
    uint32_t call_place;
    int32_t call_scope; ///< of the caller
    bool is_single;     ///< without the siblings after it
    bool closes;        ///< an element of the result ends with it
} kki_xacro_frame;

typedef struct kki_xacro {
    kki_xacro_options options;               ///< without zeros
    bool steps_grow, nodes_grow, bytes_grow; ///< with each file: bounds that were not given
    kk_allocator allocator;
    kki_resolver *resolver;
    kki_xml *result;
    kk_error *error;
    kki_pool pool;
    kki_symbols symbols; ///< properties, and blocks with a '*' before their names
    kki_symbols others;  ///< macros, and arguments with a '$' before their names, all in one scope
    kki_xacro_document document[KKI_XACRO_MOST_DOCUMENTS];
    int document_count;
    kki_xacro_yaml *yaml;
    kki_xacro_frame *frame; ///< [options.depth]
    int32_t frame_count;
    int32_t steps;
    char *scratch; ///< a text that is being put together
    size_t scratch_used, scratch_capacity;
} kki_xacro;

/// A text to evaluate, and where it is written.
typedef struct kki_xacro_text {
    const char *text;
    size_t length;
    int32_t scope;
    int32_t document, node, attribute; ///< the text node where the attribute is KKI_XML_NONE
    uint32_t offset;                   ///< of the text in it
} kki_xacro_text;

/// Value of an attribute, and content of a text node.
kki_xacro_text kki_xacro_attribute_text(const kki_xacro *x, int32_t document, int32_t node, int32_t attribute,
                                        int32_t scope);
kki_xacro_text kki_xacro_node_text(const kki_xacro *x, int32_t document, int32_t node, int32_t scope);

/// The value of a property or the scope of a namespace by its name, which may have namespaces before it: a.b.c.
/// Gives the symbol, -1 where there is none.
int32_t kki_xacro_find(const kki_xacro *x, int32_t scope, const char *name, size_t length);
/// The scope of a namespace as seen from a scope, -1 where there is none.
int32_t kki_xacro_find_namespace(const kki_xacro *x, int32_t scope, const char *name, size_t length);

/// Evaluates the text: a text of nothing but one ${...} keeps its kind of value.
kk_status kki_xacro_evaluate(kki_xacro *x, const kki_xacro_text *text, kki_value *value);

/// Counts a step.
kk_status kki_xacro_step(kki_xacro *x, int32_t document, uint32_t place);

/// An error at a place of a document, with the macro that it happened in.
__attribute__((format(printf, 5, 6))) kk_status kki_xacro_error(const kki_xacro *x, int32_t document, uint32_t place,
                                                                kk_status status, const char *format, ...);

#endif
