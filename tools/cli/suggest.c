// The nearest word by the edit distance of Damerau and Levenshtein (optimal string alignment).
#include "suggest.h"

#include <string.h>

enum { LONGEST = 96 };

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

int suggest_distance(const char *a, const char *b, int limit) {
    const int na = (int)strlen(a), nb = (int)strlen(b);
    if (na > LONGEST || nb > LONGEST || na - nb > limit || nb - na > limit) {
        return limit + 1;
    }
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int k = 0; k <= nb; k++) {
        last[k] = k;
        before[k] = 0;
    }
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        for (int k = 1; k <= nb; k++) {
            const int same = lower(a[i - 1]) == lower(b[k - 1]);
            row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + !same);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1])) {
                row[k] = least(row[k], before[k - 2] + 1);
            }
        }
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return least(last[nb], limit + 1);
}

suggestion suggest_begin(const char *wanted) {
    // a third of the letters may be wrong, but not all of a short word
    const int length = (int)strlen(wanted);
    const int limit = length < 3 ? 1 : length / 3 + 1;
    return (suggestion){wanted, NULL, limit + 1};
}

/// A word that begins with what was written is as near as one edit: «comp» for «compute».
static int distance_to(const suggestion *s, const char *word) {
    const size_t length = strlen(s->wanted);
    if (length >= 2 && strncmp(s->wanted, word, length) == 0) {
        return strlen(word) == length ? 0 : 1;
    }
    return suggest_distance(s->wanted, word, s->distance - 1);
}

void suggest_word(suggestion *s, const char *word) {
    const int distance = distance_to(s, word);
    if (distance < s->distance) {
        s->best = word;
        s->distance = distance;
    }
}
