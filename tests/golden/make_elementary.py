#!/usr/bin/env python3
"""Writes tests/golden/elementary.inc: arguments and correctly rounded results of the elementary functions.

Run as  python3 tests/golden/make_elementary.py > tests/golden/elementary.inc
The oracle is mpmath 1.3 with 3200 bits, enough to reduce 1.8e308 modulo pi; results are rounded once, to nearest
even, denormals included. Half of the arguments are hard on purpose: near multiples of pi/2, near 1, denormal, huge, on
table boundaries.
"""
import math
import random
import struct
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

mp.prec = 3200
random.seed(20240607)
COUNT = 80


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from_bits(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def rounded(x):
    """mpf to double, one rounding: Python divides integers correctly, also into denormals."""
    sign, man, exponent, _ = x._mpf_
    value = Fraction(int(man)) * Fraction(2) ** exponent
    try:
        result = value.numerator / value.denominator
    except OverflowError:
        result = math.inf
    return -result if sign else result


def any_finite():
    while True:
        x = from_bits(random.getrandbits(64))
        if math.isfinite(x):
            return x


def near(x, steps=3):
    return from_bits(bits(x) + random.randint(-steps, steps))


def spread(low, high):
    """Log-uniform size between 2^low and 2^high, either sign."""
    return random.choice((-1, 1)) * math.ldexp(random.uniform(1, 2), random.randint(low, high - 1))


def denominators(exponent):
    """Denominators m < 2^53 of the continued fraction of 2^exponent / (pi/2); multiples of it are nearly whole."""
    x = mpf(2) ** exponent * 2 / mpmath.pi
    found = [0, 1]
    while True:
        x = 1 / (x - mpmath.floor(x))
        following = int(mpmath.floor(x)) * found[-1] + found[-2]
        if following >= 2 ** 53:
            return found
        found.append(following)


def close_to_multiple(exponent):
    """The double m 2^exponent closest to a multiple of pi/2."""
    return math.ldexp(denominators(exponent)[-1], exponent)


def rare_carry(exponent):
    """A double near a multiple of pi/2 for which the 192-bit product of reduce.c carries into its first word."""
    mask = 2 ** 64 - 1
    window = int(mpmath.floor(2 / mpmath.pi * mpf(2) ** (exponent + 190)))
    middle, low = window >> 64 & mask, window & mask
    step = next(d for d in denominators(exponent) if d > 2 ** 38)
    m = denominators(exponent)[-1]
    while m < 2 ** 52 or (m * middle & mask) + (m * low >> 64) <= mask:
        m += step
        if m >= 2 ** 53:
            return close_to_multiple(exponent)
    return math.ldexp(m, exponent)


def angles():
    worst = [math.ldexp(6381956970095103, 797), math.ldexp(5319372648326541, 255),
             float.fromhex("0x1.6ac5b262ca1ffp849"), 1e22, 2.0 ** 1023, 1.7976931348623157e308, 2.0 ** 20,
             near(2.0 ** 20), 5e-324, 1e-310, 2.0 ** -27,
             near(2.0 ** -27)]
    counts = [random.randint(1, 10 ** random.randint(1, 14)) for _ in range(COUNT)]
    multiples = [near(rounded(mpf(n) * mpmath.pi / 4), 1) for n in counts]
    worst += [close_to_multiple(e) for e in range(-50, 970, 17)] + [rare_carry(e) for e in range(0, 970, 60)]
    return worst + multiples + [any_finite() for _ in range(COUNT // 2)] + \
        [random.uniform(-10, 10) for _ in range(COUNT)]


def unit_interval():
    edges = [1.0, -1.0, 0.5, -0.5, 5e-324, 1e-310, 2.0 ** -30, near(2.0 ** -30), 1 - 2.0 ** -53, -(1 - 2.0 ** -53)]
    close = [random.choice((-1, 1)) * (1 - 2.0 ** -random.uniform(1, 52)) for _ in range(COUNT)]
    return edges + close + [spread(-60, 0) for _ in range(COUNT // 2)] + [random.uniform(-1, 1) for _ in range(COUNT)]


def tangents():
    boundaries = [near(k / 64 + 1 / 128) for k in range(64)]
    return boundaries + [1 / b for b in boundaries] + [spread(-70, 70) for _ in range(COUNT)]


def exponents():
    edges = [709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, -708.3964185322641, 5e-324,
             1e-300, 710.5]
    edges += [random.uniform(-711, -708.4) for _ in range(COUNT)]
    return edges + [random.uniform(-745, -708) for _ in range(COUNT // 2)] + [spread(-60, 9) for _ in range(COUNT)] + \
        [random.uniform(-20, 20) for _ in range(COUNT // 2)]


def positives():
    edges = [5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308, 1.0,
             1 - 2.0 ** -53, 1 + 2.0 ** -52]
    boundaries = [near(11 / 16 + k / 256) for k in range(0, 80, 2)] + [near(1 + k / 128) for k in range(0, 48, 2)]
    return edges + boundaries + [abs(any_finite()) for _ in range(COUNT)] + \
        [random.uniform(0.9, 1.1) for _ in range(COUNT // 2)]


def powers():
    pairs = [(2.0, -1074.0), (2.0, 1023.0), (10.0, 22.0), (10.0, 308.0), (-3.0, 33.0), (-2.0, -1073.0),
             (1 + 2.0 ** -52, 2.0 ** 61), (1 - 2.0 ** -53, 2.0 ** 62), (0.5, 1074.0), (0.5, 1075.0), (1.0000001, 1e9),
             (5e-324, 1.0), (5e-324, 0.5), (9.0, 0.5)]
    for _ in range(2 * COUNT):
        x = abs(any_finite()) if random.random() < 0.5 else random.uniform(0, 30)
        pairs.append((x, random.uniform(-745, 709) / math.log(x)))
    return pairs + [(random.uniform(0, 10), random.uniform(-5, 5)) for _ in range(COUNT)]


def vectors():
    pairs = [(any_finite(), any_finite()) for _ in range(COUNT // 2)]
    pairs += [(from_bits(random.getrandbits(51)), from_bits(random.getrandbits(51))) for _ in range(COUNT)]
    for _ in range(COUNT):
        x = any_finite()
        pairs.append((x * random.uniform(-3, 3) if abs(x) < 1e307 else x / 3, x))
    return pairs + [(random.uniform(-10, 10), random.uniform(-10, 10)) for _ in range(COUNT)]


def emit(name, function, arguments):
    print(f"// {name}")
    for argument in arguments:
        pair = argument if isinstance(argument, tuple) else (argument,)
        result = rounded(function(*[mpf(a) for a in pair]))
        x, y = pair[0], pair[1] if len(pair) > 1 else 0.0
        print(f"{{\"{name}\", 0x{bits(x):016x}u, 0x{bits(y):016x}u, 0x{bits(result):016x}u}},")


print("// name, bits of the argument, of a second one, and of the correctly rounded result. By make_elementary.py")
emit("sin", mpmath.sin, angles())
emit("cos", mpmath.cos, angles())
emit("tan", mpmath.tan, angles())
mp.prec = 400
emit("asin", mpmath.asin, unit_interval())
emit("acos", mpmath.acos, unit_interval())
emit("atan", mpmath.atan, tangents())
emit("atan2", mpmath.atan2, [v for v in vectors() if v[0] != 0 and v[1] != 0])
emit("exp", mpmath.exp, exponents())
emit("log", mpmath.log, positives())
emit("pow", mpmath.power, powers())
emit("hypot", mpmath.hypot, vectors())
