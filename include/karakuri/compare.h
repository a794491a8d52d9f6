/// Two logs of the same motion beside each other, simulation and robot: by how much their clocks differ, and how far apart their numbers are.
///
/// The shift of the clocks is the one with the best correlation, over all columns together. Between rows both go straight.
#ifndef KARAKURI_COMPARE_H
#define KARAKURI_COMPARE_H

#include <karakuri/status.h>

KK_BEGIN_DECLS

/// Numbers over time.
typedef struct kk_series {
    int count, width;
    const double *time;  ///< [count] s, rising
    const double *value; ///< [count × width]
} kk_series;

/// How a column of one series lies beside that of the other, over the times that both have.
typedef struct kk_likeness {
    double rms;         ///< of b − a
    double mean;        ///< of b − a: an offset of a sensor
    double peak;        ///< the largest |b − a|
    double peak_time;   ///< s, of a, where that is
    double correlation; ///< −1 … 1, Pearson's; 0 where one does not change
    double span;        ///< largest minus smallest number of a, for shares
    int count;          ///< rows of a within b
} kk_likeness;

/// The shift within ± `most` seconds at which b(t + shift) is most like a(t), to a thousandth of a row's time or so. Both have the same columns, those that do
/// not change are passed over; KK_INVALID_ARGUMENT where none changes, or fewer than half of the shorter one's times overlap at every shift.
/// @param shift  result, s
KK_API kk_status kk_series_shift(const kk_series *a, const kk_series *b, double most, double *shift, kk_error *error);
/// Compares one column of both at a shift. KK_INVALID_ARGUMENT where they have no time in common.
KK_API kk_status kk_series_compare(const kk_series *a, const kk_series *b, int column, double shift,
                                   kk_likeness *likeness, kk_error *error);
/// The numbers at a time, straight between rows; those of the nearest row outside. @param value [width] result
KK_API void kk_series_sample(const kk_series *series, double time, double *value);

KK_END_DECLS
#endif
