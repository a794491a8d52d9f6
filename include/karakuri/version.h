/// The version of the library, at compile time and at run time.
#ifndef KARAKURI_VERSION_H
#define KARAKURI_VERSION_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

#define KK_VERSION_MAJOR 0
#define KK_VERSION_MINOR 1
#define KK_VERSION_PATCH 0
#define KK_VERSION "0.1.0"

/// The version of the linked library, "major.minor.patch". Compare with KK_VERSION, the version of the headers.
KK_API const char *kk_version(void);

KK_END_DECLS
#endif
