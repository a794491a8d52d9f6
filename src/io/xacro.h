/// xacro, the macro language of URDF files, without Python: a tree with xacro elements becomes one without.
///
///     <xacro:property name= value= [default= scope= lazy_eval=]/>, also with children as a block
///     <xacro:arg name= default=/> and $(arg name); $(find package) becomes package://package, $(dirname)
///     <xacro:macro name= params="a b:=1 c:=^ d:=^|2 *block **blocks">, <xacro:name a="1"/>, <xacro:insert_block name=/>
///     <xacro:call macro=/>, <xacro:include filename= [optional= ns=]/>, <xacro:if value=>, <xacro:unless value=>
///     <xacro:element xacro:name=>, <xacro:attribute name= value=/>
///     ${...} in attributes and texts, see expression.h; $${ and $$( for the characters themselves
///     ${xacro.load_yaml('file')} (yaml.h), $(eval expression over arguments)
/// $(optenv NAME default) and $(env NAME) take the argument NAME; the environment itself is not looked at, so that a file
/// makes the same model everywhere. Patterns of includes and the rest of Python are refused by name.
///
/// Nodes keep the places they were written at. Properties are evaluated when first used. A macro sees the properties of
/// its caller. Blocks are expanded where they are inserted, with the properties of where they were written.
///
/// The expansion is bounded in steps, nodes, bytes and depth: KK_LIMIT_EXCEEDED.
#ifndef KARAKURI_IO_XACRO_H
#define KARAKURI_IO_XACRO_H

#include "resolve.h"
#include "xml.h"

typedef struct kki_xacro_argument {
    const char *name, *value;
} kki_xacro_argument;

typedef struct kki_xacro_options {
    const kki_xacro_argument *argument; ///< [argument_count] for $(arg ...)
    int argument_count;
    int32_t steps;    ///< nodes and expressions looked at; 0: a million, and four for each byte of the files
    int32_t nodes;    ///< of the result; 0: 65536, and one for four bytes of the files
    size_t bytes;     ///< of texts, of the result and on the way each; 0: 4 MiB, and four times the files
    int32_t depth;    ///< elements, macros, conditions and includes in each other; 0: 2000
    size_t file_size; ///< of an included file; 0: 16 MiB
} kki_xacro_options;

/// True where the tree has something to expand: the root declares xmlns:xacro.
bool kki_xacro_is_used(const kki_xml *xml);

/// @param path      of the file that the tree came from, as the resolver knows it
/// @param resolver  for includes; NULL refuses them
/// @param options   NULL for the defaults
kk_status kki_xacro_expand(const kki_xml *xml, const char *path, kki_resolver *resolver,
                           const kki_xacro_options *options, const kk_allocator *allocator, kki_xml **result,
                           kk_error *error);

#endif
