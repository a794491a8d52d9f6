// Quantiles of times from a histogram in logarithmic bins.
#include "spread.h"

#include <karakuri/elementary.h>

/// Lower end of the first bin, s.
static const double LEAST = 1e-9;
static const double LN_2 = 0.69314718055994531;

void spread_add(spread *s, double seconds) {
    const int count = SPREAD_OCTAVES * SPREAD_BINS_AN_OCTAVE;
    const double octaves = seconds > LEAST ? kk_log(seconds / LEAST) / LN_2 : 0;
    const int bin = (int)(octaves * SPREAD_BINS_AN_OCTAVE);
    s->bin[bin < count ? bin : count - 1]++;
    s->worst = seconds > s->worst ? seconds : s->worst;
    s->count++;
}

double spread_quantile(const spread *s, double share) {
    const int64_t wanted = (int64_t)(share * (double)s->count + 0.5);
    int64_t below = 0;
    for (int i = 0; i < SPREAD_OCTAVES * SPREAD_BINS_AN_OCTAVE && s->count > 0; i++) {
        below += s->bin[i];
        if (below >= wanted) {
            const double upper = LEAST * kk_exp(LN_2 * (i + 1.0) / SPREAD_BINS_AN_OCTAVE);
            return upper < s->worst ? upper : s->worst;
        }
    }
    return 0;
}
