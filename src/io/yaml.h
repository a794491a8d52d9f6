/// YAML as robots' parameters are written: mappings, lists and scalars, as values of expressions.
///
///     block and flow style, 'texts', "texts", | and > blocks, # comments, &anchors, *aliases and <<, --- at the front
///     !degrees !radians !meters !millimeters !foot !inches before a number or an expression, as xacro has them
/// Scalars are what YAML 1.1 takes them for: numbers, true yes on, false no off, null ~. Several documents, ? keys and
/// other tags are refused by name.
///
/// Nesting is bounded by 64, memory by the pool.
#ifndef KARAKURI_IO_YAML_H
#define KARAKURI_IO_YAML_H

#include "expression.h"

/// The value of a whole file; a fault says "file:line: what; remedy".
kki_value kki_yaml_read(const char *text, size_t length, const char *file, kki_pool *pool);

#endif
