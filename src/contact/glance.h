/// A glance at a problem: sweeps of block Gauss-Seidel that are to find its modes, and no digits.
#ifndef KKI_CONTACT_GLANCE_H
#define KKI_CONTACT_GLANCE_H

#include "contact/problem.h"

enum { KKI_GLANCE_BLOCKS = 64 };

/// λ, and u = G λ + g, [stride] each, follow so many sweeps over contacts without adhesion, equalities, limits and boxes, KKI_GLANCE_BLOCKS at most; fewer sweeps where no block
/// changes by more than a twentieth of what it bears.
void kki_glance_baseline(const kki_problem *p, int sweeps, double *lambda, double *u);
/// The same bits, for processors with AVX2 and with AVX-512; in the tables of kernels.
void kki_glance_avx2(const kki_problem *p, int sweeps, double *lambda, double *u);
void kki_glance_avx512(const kki_problem *p, int sweeps, double *lambda, double *u);

#endif
