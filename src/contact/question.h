/// What is in question is swept while all else holds.
///
/// Sweeps over all of a robot's contacts forget, contact by contact, that the others would answer: where seven points of a trunk hold while a foot lands it takes hundreds.
/// Rows that surely hold are eliminated instead, and the few blocks in question see each other through the Schur complement, with all that the others do about it.
#ifndef KKI_CONTACT_QUESTION_H
#define KKI_CONTACT_QUESTION_H

#include "contact/dense_kernels.h"
#include "contact/problem.h"

/// Rows of a problem, and of them in question, at most: more of these are swept as they are.
enum { KKI_QUESTION_ROWS = 64, KKI_QUESTION_OPEN = 36 };

/// λ, and u = G λ + g, [stride] each, follow so many sweeps over the blocks in question, while the others hold. Of those that cannot hold, all are in question then, and it begins again
/// from there. Laws as in glance.h. @param is_open [nblock] in question    @param A [KKI_QUESTION_ROWS + 4, squared] scratch
void kki_question_sweep(const kki_problem *p, const kki_dense_kernels *kernels, int sweeps, int8_t *is_open, double *A,
                        double *lambda, double *u);

#endif
