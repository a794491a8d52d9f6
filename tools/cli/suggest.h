/// «Did you mean»: the nearest of several words.
#ifndef KARAKURI_CLI_SUGGEST_H
#define KARAKURI_CLI_SUGGEST_H

typedef struct suggestion {
    const char *wanted;
    const char *best; ///< NULL while nothing is near enough
    int distance;
} suggestion;

suggestion suggest_begin(const char *wanted);
void suggest_word(suggestion *s, const char *word);

/// Edits between two words: insertions, deletions, replacements and swaps of neighbors, each 1; case counts nothing. At most `limit` is
/// told exactly, more is limit + 1.
int suggest_distance(const char *a, const char *b, int limit);

#endif
