// Collects contact problems of all simulators of a program into a file: the program is linked with --wrap=kk_step.
#ifndef KK_TESTS_CORPUS_COLLECT_H
#define KK_TESTS_CORPUS_COLLECT_H

/// From now on records go to PATH, and a line of JSON for each to PATH.index. 0 where the files cannot be made.
int collect_begin(const char *path, const char *family, const char *source);
void collect_end(void);

#endif
