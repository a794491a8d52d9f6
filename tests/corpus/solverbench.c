// karakuri_solverbench: every method of the contact solver on every problem of the corpus, under one judge.
//
//     karakuri_solverbench tests/corpus/*.bin                  a table
//     karakuri_solverbench --json now.json tests/corpus/*.bin  and a line of JSON for each problem and method
//     karakuri_solverbench --compare old.json …                ends with code 1 where `engine` leaves unsolved what it solved then,
//                                                              or takes more than 1.1 times as long in the geometric mean
//     --method NAME   only this one (may be given again)       --family NAME, --name PART   only these problems
//     --every N       of all problems each N-th
//     --repeats N     each solution so often, if it is short; the least time counts (5)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <karakuri/elementary.h>

#include "methods.h"

enum { MOST_METHODS = 48, MOST_PROBLEMS = 65536, WORD = 144 };
/// Seconds of all repetitions after which a solution is not measured again.
static const double LONG = 0.002;
/// Added to times before they are compared: beneath it they mean nothing, s.
static const double TICK = 1e-7;
/// Bar on the geometric mean of times against those of --compare.
static const double BAR = 1.1;

/// What one method made of one problem.
typedef struct outcome {
    bool applies, solved;
    double residual, seconds;
    int factorizations;
} outcome;

typedef struct row {
    char name[CORPUS_NAME], family[CORPUS_NAME];
    outcome of[MOST_METHODS];
} row;

/// A line of an older run.
typedef struct old_result {
    char problem[WORD], method[WORD];
    int solved;
    double seconds;
} old_result;

static struct {
    row *rows;
    int count;
    bool wanted[MOST_METHODS];
    const char *family, *name, *json, *compare;
    int repeats, every, seen;
} my;

static outcome take(const method *m, corpus_case *c) {
    outcome best = {.applies = true};
    double sum = 0;
    for (int k = 0; k < my.repeats; k++) {
        kki_solver_stats stats = {0};
        if (!method_try(m, c, &stats)) {
            return (outcome){0};
        }
        const double residual = corpus_judge(c).residual;
        if (k == 0 || c->seconds < best.seconds) {
            best.seconds = c->seconds;
        }
        best.residual = residual < 1e300 ? residual : 1e300; // a NaN, too
        best.solved = residual <= c->p->tolerance;
        best.factorizations = stats.factorizations;
        sum += c->seconds;
        if (sum > LONG) {
            break;
        }
    }
    return best;
}

static void take_all(const corpus_problem *p, FILE *json) {
    corpus_case c;
    row *r = &my.rows[my.count];
    if (my.seen++ % my.every != 0 || (my.family && strcmp(my.family, p->family) != 0) ||
        (my.name && !strstr(p->name, my.name)) || my.count == MOST_PROBLEMS || !corpus_case_make(p, &c)) {
        return;
    }
    my.count++;
    snprintf(r->name, sizeof r->name, "%s", p->name);
    snprintf(r->family, sizeof r->family, "%s", p->family);
    take(&methods[0], &c); // once for nothing: whoever comes first would pay for all that is not in the cache yet
    for (int m = 0; m < method_count; m++) {
        r->of[m] = my.wanted[m] ? take(&methods[m], &c) : (outcome){0};
        if (json && r->of[m].applies) {
            fprintf(json,
                    "{\"problem\": \"%s/%s\", \"method\": \"%s\", \"solved\": %d, \"seconds\": %.4g, "
                    "\"factorizations\": %d, "
                    "\"residual\": %.3g, \"tolerance\": %.3g, \"family\": \"%s\", \"rows\": %d, \"flags\": %d}\n",
                    p->family, p->name, methods[m].name, r->of[m].solved, r->of[m].seconds, r->of[m].factorizations,
                    r->of[m].residual, p->tolerance, p->family, p->nrow, p->flags);
        }
    }
    corpus_case_free(&c);
}

static int take_file(const char *path, FILE *json) {
    size_t size, at = 0;
    unsigned char *bytes = corpus_load_file(path, &size);
    int code = bytes ? 0 : 3;
    while (bytes && at < size && code == 0) {
        corpus_problem p;
        const char *fault = corpus_read(bytes, size, &at, &p);
        if (fault) {
            fprintf(stderr, "%s: %s\n", path, fault);
            code = 3;
        } else {
            take_all(&p, json);
            corpus_free(&p);
        }
    }
    if (!bytes) {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(bytes);
    return code;
}

// ---- tables

/// Problems that method m alone solves of the single ones; those that the engine solves and m does not; and the geometric mean of m's time over the engine's.
static int alone(int m) {
    int count = 0;
    for (int i = 0; i < my.count; i++) {
        bool others = false;
        for (int k = 0; k < method_count; k++) {
            others |= k != m && methods[k].kind == METHOD_SINGLE && my.rows[i].of[k].solved;
        }
        count += methods[m].kind == METHOD_SINGLE && my.rows[i].of[m].solved && !others;
    }
    return count;
}

static int lost(int m) {
    int count = 0;
    for (int i = 0; i < my.count; i++) {
        count += my.rows[i].of[0].solved && !my.rows[i].of[m].solved;
    }
    return count;
}

static double ratio(int m) {
    int both = 0;
    double logs = 0;
    for (int i = 0; i < my.count; i++) {
        const outcome *a = &my.rows[i].of[0], *b = &my.rows[i].of[m];
        if (a->solved && b->solved) {
            both++;
            logs += kk_log((b->seconds + TICK) / (a->seconds + TICK));
        }
    }
    return both > 0 ? kk_exp(logs / both) : 0;
}

static void print_method(int m) {
    int tried = 0, solved = 0;
    long factors = 0;
    double seconds = 0;
    for (int i = 0; i < my.count; i++) {
        const outcome *o = &my.rows[i].of[m];
        tried += o->applies;
        solved += o->solved;
        factors += o->factorizations;
        seconds += o->seconds;
    }
    if (tried > 0) {
        printf("%-16s %6d %6d %6.1f%% %6d %6d %9ld %9.4f %8.3f\n", methods[m].name, tried, solved,
               100.0 * solved / tried, lost(m), alone(m), factors, seconds, ratio(m));
    }
}

static void print_table(void) {
    printf("%-16s %6s %6s %7s %6s %6s %9s %9s %8s\n", "method", "tried", "solved", "share", "lost", "alone", "factors",
           "seconds", "ratio");
    for (int m = 0; m < method_count; m++) {
        if (m > 0 && methods[m].kind != methods[m - 1].kind) {
            printf("\n");
        }
        print_method(m);
    }
    printf("tried: problems it is for; lost: of those that engine solves; alone: solved by no other single method; "
           "seconds: of this "
           "thread, in sum; ratio: geometric mean of time over engine's\n");
}

static void print_families(void) {
    printf("\n%-12s", "solved");
    for (int m = 0; m < method_count; m++) {
        if (my.wanted[m] && methods[m].kind != METHOD_WITHOUT) {
            printf(" %7.7s", methods[m].name);
        }
    }
    printf("\n");
    for (int i = 0; i < my.count;) {
        int end = i;
        while (end < my.count && strcmp(my.rows[end].family, my.rows[i].family) == 0) {
            end++;
        }
        printf("%-8.8s %3d", my.rows[i].family, end - i);
        for (int m = 0; m < method_count; m++) {
            int solved = 0;
            for (int k = i; k < end; k++) {
                solved += my.rows[k].of[m].solved;
            }
            if (my.wanted[m] && methods[m].kind != METHOD_WITHOUT) {
                printf(" %7d", solved);
            }
        }
        printf("\n");
        i = end;
    }
}

// ---- against an older run

/// By family/name.
static const row *find(const char *name) {
    for (int i = 0; i < my.count; i++) {
        const size_t n = strlen(my.rows[i].family);
        if (strncmp(my.rows[i].family, name, n) == 0 && name[n] == '/' && strcmp(my.rows[i].name, name + n + 1) == 0) {
            return &my.rows[i];
        }
    }
    return NULL;
}

/// What follows a key in a line, up to the next quote or the line's end.
static const char *value_of(const char *line, const char *key, char word[WORD]) {
    const char *at = strstr(line, key);
    word[0] = 0;
    if (at) {
        at += strlen(key);
        snprintf(word, WORD, "%.*s", (int)strcspn(at, "\",}"), at);
    }
    return word;
}

static old_result parse_line(const char *line) {
    old_result r;
    char number[WORD];
    value_of(line, "\"problem\": \"", r.problem);
    value_of(line, "\"method\": \"", r.method);
    r.solved = strtol(value_of(line, "\"solved\": ", number), NULL, 10) == 1;
    r.seconds = strtod(value_of(line, "\"seconds\": ", number), NULL);
    return r;
}

static int compare(const char *path) {
    FILE *file = fopen(path, "r");
    char line[1024];
    int both = 0, gone = 0;
    double logs = 0;
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 3;
    }
    while (fgets(line, sizeof line, file)) {
        const old_result old = parse_line(line);
        const row *now = strcmp(old.method, "engine") == 0 && old.solved ? find(old.problem) : NULL;
        if (now && now->of[0].solved) {
            both++;
            logs += kk_log((now->of[0].seconds + TICK) / (old.seconds + TICK));
        } else if (now) {
            gone++;
            printf("no longer solved: %s, residual %.3g\n", old.problem, now->of[0].residual);
        }
    }
    fclose(file);
    const double times = both > 0 ? kk_exp(logs / both) : 1;
    printf("\nagainst %s: %d solved in both, %.3f times the time in the geometric mean, %d no longer solved\n", path,
           both, times, gone);
    return gone > 0 || times > BAR;
}

static int index_of(const char *name) {
    for (int m = 0; m < method_count; m++) {
        if (strcmp(methods[m].name, name) == 0) {
            return m;
        }
    }
    return -1;
}

static bool any_wanted(void) {
    for (int m = 0; m < method_count; m++) {
        if (my.wanted[m]) {
            return true;
        }
    }
    return false;
}

static int count_of(const char *word) {
    const long n = strtol(word, NULL, 10);
    return n > 0 ? (int)n : 1;
}

/// The first word that is no option, or −1 after a word about what is wrong.
static int parse(int argc, char **argv) {
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        const int m = strcmp(argv[i], "--method") == 0 ? index_of(argv[i + 1]) : 0;
        if (strcmp(argv[i], "--json") == 0) {
            my.json = argv[i + 1];
        } else if (strcmp(argv[i], "--compare") == 0) {
            my.compare = argv[i + 1];
        } else if (strcmp(argv[i], "--repeats") == 0) {
            my.repeats = count_of(argv[i + 1]);
        } else if (strcmp(argv[i], "--every") == 0) {
            my.every = count_of(argv[i + 1]);
        } else if (strcmp(argv[i], "--name") == 0) {
            my.name = argv[i + 1];
        } else if (strcmp(argv[i], "--family") == 0) {
            my.family = argv[i + 1];
        } else if (strcmp(argv[i], "--method") == 0 && m >= 0) {
            my.wanted[m] = true;
        } else {
            fprintf(stderr, "unknown: %s %s\n", argv[i], argv[i + 1]);
            return -1;
        }
    }
    for (int m = 0, all = !any_wanted(); m < method_count && all; m++) {
        my.wanted[m] = true;
    }
    my.wanted[0] |= my.compare != NULL;
    return i;
}

int main(int argc, char **argv) {
    my.repeats = 5;
    my.every = 1;
    const int first = parse(argc, argv);
    if (first < 0 || first >= argc) {
        fprintf(stderr, "karakuri_solverbench [--json FILE] [--compare FILE] [--method NAME] [--family NAME] "
                        "[--repeats N] [--every N] FILE.bin …\n");
        return 2;
    }
    FILE *json = my.json ? fopen(my.json, "w") : NULL;
    my.rows = calloc(MOST_PROBLEMS, sizeof *my.rows);
    if (!my.rows || (my.json && !json)) {
        fprintf(stderr, "no memory, or %s cannot be written\n", my.json ? my.json : "");
        return 4;
    }
    int code = 0;
    for (int i = first; i < argc; i++) {
        const int fault = take_file(argv[i], json);
        code = fault ? fault : code;
    }
    if (json) {
        fclose(json);
    }
    print_table();
    print_families();
    code = code == 0 && my.compare ? compare(my.compare) : code;
    free(my.rows);
    return code;
}
