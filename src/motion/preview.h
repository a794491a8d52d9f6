/// Preview control of the zero-moment point; see preview.c.
#ifndef KKI_MOTION_PREVIEW_H
#define KKI_MOTION_PREVIEW_H

typedef struct kki_preview {
    double dt;        ///< s
    double ratio;     ///< height/g of the center of mass, s²
    double gain_sum;  ///< of the summed error
    double gain_x[3]; ///< of position, velocity, acceleration
    double *gain;     ///< [count] of the ZMP to come
    int count;
} kki_preview;

/// Fills the gains of a controller whose dt, ratio, gain and count are set.
void kki_preview_design(kki_preview *p);
/// One axis: the motion of the center of mass that lets the ZMP follow, from rest above the first point.
/// @param zmp [count], position [count] result
void kki_preview_follow(const kki_preview *p, const double *zmp, int count, double *position);

/// c − ratio c̈ = zmp with c given at both ends, c̈ by second differences: the motion whose ZMP is exact (Nishiwaki et al. 2000).
/// @param zmp [count] in, c out; its ends are the ends of c    @param scratch [count]
void kki_zmp_invert(double ratio, double dt, int count, double *zmp, double *scratch);

#endif
