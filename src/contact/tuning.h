/// Thresholds of the contact solver that more than one method or file shares: unit, reason, and what shows it.
#ifndef KKI_CONTACT_TUNING_H
#define KKI_CONTACT_TUNING_H

// ---- where a search ends

/// Floors that a warm start may be off by: one that rests is left as it is, for a step that gains a digit there only stirs impulses that move nothing.
static const double KKI_REST = 5;
/// Floors up to which sweeps alone are tried: a factor would stir what all but rests.
static const double KKI_NEAR = 1e3;
/// Share of the tolerance at which statuses that stand still are accepted where rows are many.
static const double KKI_LAST_DIGITS = 1e-2;
/// Rows up to which the last digits are always worth their price: a box that comes to rest creeps by what is left.
enum { KKI_LAST_DIGITS_ROWS = 18 };
/// Shares of the tolerance that more rows need not get below: by methods as dear as a path; where nothing is at rest; by dearer methods.
static const double KKI_FINE = 0.1, KKI_FINE_MOVING = 0.5, KKI_PROVEN = 0.9;
/// The same over ties, where the last digits cost a factor each.
static const double KKI_ENOUGH_OF_TIES = 1e-3;
/// Shares of the tolerance at which accelerated sweeps end: as the last resort, and where few digits are asked for.
static const double KKI_UNFACTORED = 0.3, KKI_UNSEARCHED = 0.9;

/// m/s; who asks for no more than this gets sweeps first, and no last digits.
static const double KKI_SPARSE_COARSE_TOLERANCE = 1e-7;

// ---- effort

/// Newton steps from the warm start, from where the continuation is, and for the last digits behind it.
enum { KKI_FIRST_NEWTON = 6, KKI_REFINING_NEWTON = 5, KKI_LAST_NEWTON = 3 };
/// Sweeps near the floor; turns of these and Newton's steps for the last digits.
enum { KKI_LAST_SWEEPS = 3, KKI_LAST_TURNS = 3 };
/// Growth of the residual that the first Newton steps may have.
static const double KKI_NEWTON_SLACK = 30;
/// Changes of status on one path.
enum { KKI_LONGEST_PATH = 40 };
/// Factors of one continuation.
enum { KKI_CONTINUATION_FACTORS = 600 };
/// Sweeps that one of Anderson's turns takes; where few digits are asked for.
enum { KKI_TURN = 4, KKI_QUICK_TURN = 6 };
/// Accelerated sweeps: first where rows are many, last, and where no factor fits.
enum { KKI_FIRST_ACCELERATED = 1500, KKI_LAST_ACCELERATED = 2000, KKI_ONLY_ACCELERATED = 6000 };
/// Rows over ties above which a factor costs as much as hundreds of sweeps.
enum { KKI_MANY_TIED_ROWS = 10000 };
/// Few digits: as many sweeps first as these factors are worth, and no more than so many.
enum { KKI_FACTORS_WORTH = 10, KKI_MOST_QUICK_SWEEPS = 800 };

// ---- shifts of a Newton step over ties, as shares of a block's scale

static const double KKI_FIRST_SHIFT = 1e-5, KKI_LEAST_SHIFT = 1e-7, KKI_LARGEST_SHIFT = 1e-2;

#endif
