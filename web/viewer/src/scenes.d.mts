/** Ten boxes, not quite straight, and a ball to throw. */
export function stack(): string;
/** A dry arch of wedges: it stands by friction and shape alone, with a weight on its keystone; more than none: so high above it. */
export function arch(count?: number, fall?: number): string;
