/** Ten boxes, not quite straight, and a ball to throw. */
export function stack(): string;
/** A dry arch of wedges: it stands by friction and shape alone; a weight falls on it. */
export function arch(count?: number): string;
