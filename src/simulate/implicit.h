/// How implicit a stiff force is: the θ of springs, dampers, servos, tendons, soft contacts and soft loops.
///
/// With the length L and the rate v, all at θ between the step's start and its end, f = −k L_θ − d v_θ is
///     f = −k (L + (θ − ½) h v₀) − d v₀ − σ (v₁ − v₀),    σ = θ (h/2 k + d),
/// L being that of the middle. θ = ½ is the trapezoidal rule: of second order, and a spring keeps its amplitude for ever; θ = 1 is Euler's backward
/// rule, which takes away what the step cannot follow. Both, and all between, are stable for any gain (A-stable). So θ is ½ as long as the step
/// follows the force, and from there grows without a jump until all is taken at the step's end; of z = h (h/2 k + d) w with the mobility w, which is
/// (ωh)²/2 of a spring,
///     θ = ½ where z ≤ ⅛ (ωh ≤ ½), 1 where z ≥ 2⅛ (ωh ≥ 2), and in between on a straight line.
#ifndef KKI_SIMULATE_IMPLICIT_H
#define KKI_SIMULATE_IMPLICIT_H

#define KKI_FOLLOWED 0.125
#define KKI_RIGID 2.125
/// Of what is to be taken at the step's end, whatever it is.
#define KKI_ANY_MOBILITY 1e300

/// @param z  ≥ 0; no number counts as 0
static inline double kki_theta(double z) {
    const double least = z > KKI_FOLLOWED ? z : KKI_FOLLOWED, within = least < KKI_RIGID ? least : KKI_RIGID;
    return 1 - 0.5 / (KKI_RIGID - KKI_FOLLOWED) * (KKI_RIGID - within);
}

#endif
