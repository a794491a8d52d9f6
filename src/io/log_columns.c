// What logs have beside states; see kk_log_is_aside in recording.h.
#include <karakuri/model.h>
#include <karakuri/recording.h>
#include <string.h>

static const kk_table_column figures[] = {{"residual", "m/s"},  {"cone", "m/s"},         {"signorini", "J"},
                                          {"penetration", "m"}, {"energy.kinetic", "J"}, {"constraint_work", "J"},
                                          {"contacts", ""},     {"sweeps", ""},          {"newton", ""}};
enum { FIGURES = sizeof figures / sizeof *figures };

const kk_table_column *kk_log_figures(int *count) {
    *count = FIGURES;
    return figures;
}

static int is_word(const char *text, size_t length, const char *word) {
    return word && strlen(word) == length && memcmp(text, word, length) == 0;
}

/// "actuator12", for those that have no name and drive no joint or tendon.
static int is_number_of_actuator(const kk_model *model, const char *text, size_t length) {
    static const char word[] = "actuator";
    const size_t n = sizeof word - 1;
    int number = 0;
    if (length <= n || length > n + 6 || memcmp(text, word, n) != 0) {
        return 0;
    }
    for (size_t i = n; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return 0;
        }
        number = 10 * number + (text[i] - '0');
    }
    return number < kk_model_nactuator(model);
}

static int is_actuator(const kk_model *model, const char *text, size_t length) {
    for (int i = 0; i < kk_model_nactuator(model); i++) {
        const kk_actuator_info a = kk_model_actuator(model, i);
        const int is_joint = a.transmission == KK_TRANSMISSION_JOINT,
                  is_tendon = a.transmission == KK_TRANSMISSION_TENDON;
        if (is_word(text, length, a.name) || (is_joint && is_word(text, length, kk_model_joint(model, a.joint).name)) ||
            (is_tendon && is_word(text, length, kk_model_tendon_name(model, a.tendon)))) {
            return 1;
        }
    }
    return is_number_of_actuator(model, text, length);
}

int kk_log_is_aside(const kk_model *model, const char *column) {
    for (int i = 0; i < FIGURES; i++) {
        if (strcmp(column, figures[i].name) == 0) {
            return 1;
        }
    }
    const size_t n = strlen(column);
    return n > 2 && strcmp(column + n - 2, ".u") == 0 && is_actuator(model, column, n - 2);
}
