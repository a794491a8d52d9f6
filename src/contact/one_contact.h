/// The law of one contact or one rolling pair alone, solved exactly: u = B λ + b with b given.
#ifndef KKI_CONTACT_ONE_CONTACT_H
#define KKI_CONTACT_ONE_CONTACT_H

#include <stdbool.h>

/// Of a contact that slides along the unit vector d: so many steps of Newton's method in its angle, fewer where that ends on the law. Gives whether it does. λn is −bn over the
/// pole, that before the last step; it stays as it is where d points to one.
bool kki_turn_slide(const double B[6], const double b[3], double friction, int limit, double d[2], double *pole);
/// Coulomb's law. @param B packed nn, n1, n2, 11, 12, 22    @param lambda [3] result
void kki_solve_contact(const double B[6], const double b[3], double friction, double lambda[3]);
/// |λ| ≤ radius, opposing u. @param B packed 11, 12, 22    @param lambda [2] result
void kki_solve_disc(const double B[3], const double b[2], double radius, double lambda[2]);

#endif
