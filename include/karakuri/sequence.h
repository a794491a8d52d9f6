/// Motion sequences: coordinates over time, given at any rate or as a few key frames, asked for at any time.
///
/// | interpolation | between the rows | continuous |
/// |---|---|---|
/// | linear | straight lines | position |
/// | cubic | the cubic spline: least bending | and velocity, acceleration |
/// | quintic | the quintic spline: least squared jerk through all rows | and jerk, snap |
/// | minimum jerk | from rest to rest, 10 s³ − 15 s⁴ + 6 s⁵ (Flash and Hogan 1985): key frames | and velocity, acceleration |
///
/// Quaternions are interpolated as four numbers and scaled to unit length, with the exact derivatives of that. Outside of its rows a
/// sequence stays at the nearest one, at rest.
#ifndef KARAKURI_SEQUENCE_H
#define KARAKURI_SEQUENCE_H

#include <karakuri/model.h>
#include <karakuri/table.h>

KK_BEGIN_DECLS

typedef struct kk_sequence kk_sequence;

typedef enum kk_interpolation {
    KK_INTERPOLATE_LINEAR,
    KK_INTERPOLATE_CUBIC,
    KK_INTERPOLATE_QUINTIC,
    KK_INTERPOLATE_MINIMUM_JERK,
} kk_interpolation;

/// What splines do at the first and the last row.
typedef enum kk_sequence_ends {
    KK_ENDS_FREE,    ///< no bending (cubic), no jerk (quintic): for a piece of a longer motion
    KK_ENDS_AT_REST, ///< no velocity, and of a quintic no acceleration
} kk_sequence_ends;

/// Rows of numbers. Arrays are copied.
typedef struct kk_sequence_def {
    const kk_model
        *model; ///< rows are configurations, width = nq; the model must outlive the sequence. NULL: plain numbers
    kk_interpolation interpolation;
    kk_sequence_ends ends;
    int count, width;
    const double *time;  ///< [count] s, rising
    const double *value; ///< [count × width]
} kk_sequence_def;

KK_API kk_status kk_sequence_create(const kk_sequence_def *def, const kk_allocator *allocator, kk_sequence **sequence,
                                    kk_error *error);
KK_API void kk_sequence_free(kk_sequence *sequence);

KK_API int kk_sequence_count(const kk_sequence *sequence); ///< rows
KK_API int kk_sequence_width(const kk_sequence *sequence);
KK_API double kk_sequence_start(const kk_sequence *sequence); ///< s
KK_API double kk_sequence_end(const kk_sequence *sequence);   ///< s

/// The numbers at a time, and their first and second derivatives. Nothing is allocated. @param rate, second [width] may be NULL
KK_API void kk_sequence_sample(const kk_sequence *sequence, double time, double *value, double *rate, double *second);
/// The same as a state of the model: quaternions of unit length, velocities and accelerations in the joints' coordinates.
/// KK_INVALID_ARGUMENT without a model. @param q [nq], v [nv], a [nv]; v and a may be NULL
KK_API kk_status kk_sequence_state(const kk_sequence *sequence, double time, double *q, double *v, double *a);

/// Largest |rate| and |second derivative| of every number over the whole sequence, exactly. @param rate, second [width] may be NULL
KK_API void kk_sequence_peaks(const kk_sequence *sequence, double *rate, double *second);

typedef enum kk_retiming {
    KK_RETIME_WHOLE, ///< one factor for all times
    KK_RETIME_PIECES, ///< each piece by itself, then what is left by one factor; of minimum-jerk pieces each is as short as can be
} kk_retiming;

/// Moves the times apart or together so that the sequence is as fast as its limits allow; the first row keeps its time. The way through
/// space of linear and minimum-jerk sequences stays the same; splines are laid anew.
/// @param rate, second  [width] limits, > 0, or infinite; `second` does not count for linear sequences; either may be NULL
KK_API kk_status kk_sequence_retime(kk_sequence *sequence, kk_retiming retiming, const double *rate,
                                    const double *second, kk_error *error);

/// How a table becomes a sequence.
typedef struct kk_sequence_options {
    kk_interpolation interpolation;
    kk_sequence_ends ends;
    int ignore_extra; ///< 1: columns that the model has not are skipped
} kk_sequence_options;

/// Configurations from a table with a column `time` and columns named by joints: `knee` or `knee.q`, `base.q.qw` … `base.q.z`. Coordinates without a
/// column stay as in `rest`; followers of couplings follow. Columns of velocities, accelerations and torques (`.v`, `.a`, `.tau`) are not
/// read. @param rest [nq] NULL: every joint at zero    @param options may be NULL: linear
KK_API kk_status kk_sequence_from_table(const kk_model *model, const kk_table *table, const double *rest,
                                        const kk_sequence_options *options, const kk_allocator *allocator,
                                        kk_sequence **sequence, kk_error *error);

KK_END_DECLS
#endif
