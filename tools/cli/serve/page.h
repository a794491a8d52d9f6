/// The small page that is part of the program, made from viewer.html by cmake/embed.cmake.
#ifndef KARAKURI_CLI_SERVE_PAGE_H
#define KARAKURI_CLI_SERVE_PAGE_H

#include <stddef.h>

extern const char page_html[];
extern const size_t page_html_size;

#endif
