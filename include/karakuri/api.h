/// Linkage macros shared by every public header.
#ifndef KARAKURI_API_H
#define KARAKURI_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KK_BEGIN_DECLS extern "C" {
#define KK_END_DECLS }
#else
#define KK_BEGIN_DECLS
#define KK_END_DECLS
#endif

#if defined(__GNUC__)
#define KK_API __attribute__((visibility("default")))
#else
#define KK_API
#endif

#endif
