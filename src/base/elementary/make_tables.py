#!/usr/bin/env python3
"""Writes tables.h: every constant of the elementary functions, from first principles.

Run as  python3 src/base/elementary/make_tables.py > src/base/elementary/tables.h
Needs mpmath. Each constant is computed with 1500 bits and then rounded to what the code needs.
"""
from mpmath import mp, mpf, pi, log, exp, atan, sin, cos, factorial, floor, nint

mp.prec = 1500


def to_double(x):
    """Correctly rounded double of an mpf."""
    return float(mpf(x))


def chop(x, bits):
    """x rounded to nearest with `bits` significant bits, exactly representable."""
    x = mpf(x)
    if x == 0:
        return mpf(0)
    exponent = int(floor(log(abs(x), 2))) + 1
    unit = mpf(2) ** (exponent - bits)
    return nint(x / unit) * unit


def c_double(x):
    value = to_double(x)
    return value.hex() if value != 0 else "0.0"


def define(name, x, comment=""):
    print(f"#define {name} {c_double(x)}" + (f" // {comment}" if comment else ""))


def array(name, values):
    print(f"static const double {name}[{len(values)}] = {{")
    for value in values:
        print(f"    {c_double(value)},")
    print("};\n")


def array_of_structs(kind, name, rows):
    print(f"static const {kind} {name}[{len(rows)}] = {{")
    for row in rows:
        print("    {" + ", ".join(c_double(value) for value in row) + "},")
    print("};\n")


def high_low(x, bits=53):
    high = chop(x, bits)
    return high, chop(x - high, 53)


def chebyshev_fit(f, a, b, degree):
    """Monomial coefficients of the interpolant of f at the Chebyshev nodes of [a, b]: near-minimax."""
    n = degree + 1
    nodes = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    matrix = mp.matrix(n, n)
    right = mp.matrix(n, 1)
    for i, node in enumerate(nodes):
        for j in range(n):
            matrix[i, j] = node ** j
        right[i] = f(node)
    solution = mp.lu_solve(matrix, right)
    return [solution[i] for i in range(n)]


def write_reduction():
    print("// pi/2 in three parts of 33 bits and a rest: their products with |n| <= 2^20 are exact")
    rest = pi / 2
    for i in range(3):
        part = chop(rest, 33)
        define(f"HALF_PI_{i + 1}", part)
        rest -= part
    define("HALF_PI_4", rest)
    high, low = high_low(pi / 2)
    define("HALF_PI_HIGH", high)
    define("HALF_PI_LOW", low)
    define("PI_HIGH", 2 * high)
    define("PI_LOW", 2 * low)
    define("TWO_OVER_PI", 2 / pi)
    print()
    print("// the bits of 2/pi: one zero word, then 1216 bits after the binary point")
    bits = int(floor(2 / pi * mpf(2) ** 1216))
    words = [(bits >> (64 * (18 - i))) & (2 ** 64 - 1) for i in range(19)]
    print("static const uint64_t TWO_OVER_PI_BITS[20] = {\n    0x0000000000000000u,")
    for word in words:
        print(f"    0x{word:016x}u,")
    print("};\n")


def write_trigonometric():
    top = (pi / 4) ** 2 * mpf("1.001")
    tiny = mpf(10) ** -30

    def sine_rest(z):
        r = mp.sqrt(z)
        return (sin(r) - r + r * z / 6) / (r * z * z)

    def cosine_rest(z):
        return (cos(mp.sqrt(z)) - 1 + z / 2) / (z * z)

    print("// sin(r) = r - r^3/6 + r^5 S(r^2) on |r| <= pi/4, S interpolated at Chebyshev nodes")
    array("SINE", chebyshev_fit(sine_rest, tiny, top, 5))
    high, low = high_low(mpf(1) / 6)
    define("SIXTH_HIGH", high)
    define("SIXTH_LOW", low)
    print()
    print("// cos(r) = 1 - r^2/2 + r^4 C(r^2) on |r| <= pi/4")
    array("COSINE", chebyshev_fit(cosine_rest, tiny, top, 5))


def write_arctangent():
    print("// atan(k/64) as high + low")
    array_of_structs("kki_dd", "ARCTANGENT", [high_low(atan(mpf(k) / 64)) for k in range(65)])


def write_exponential():
    print("// ln 2 / 64 in a part of 34 bits and a rest; 2^(k/64) as high + low")
    high, low = high_low(log(mpf(2)) / 64, 34)
    define("LN2_64_HIGH", high)
    define("LN2_64_LOW", low)
    define("SIXTY_FOUR_OVER_LN2", 64 / log(mpf(2)))
    array_of_structs("kki_dd", "POWER_OF_TWO", [high_low(mpf(2) ** (mpf(k) / 64)) for k in range(64)])


def write_logarithm():
    """Mantissas m in [0.6875, 1.375), 128 intervals; c is a 9-bit reciprocal of the middle, 1 around m = 1."""
    print("// ln 2 as a multiple of 2^-42 and a rest; for mantissa interval k: c ~ 1/m, and -ln c in two such parts")
    unit = mpf(2) ** -42
    ln2 = log(mpf(2))
    ln2_high = nint(ln2 / unit) * unit
    define("LN2_HIGH", ln2_high)
    define("LN2_LOW", ln2 - ln2_high)
    rows = []
    for k in range(128):
        # the top seven fraction bits count from 1.375 = 0x3ff6..., wrapping to half of it below 1
        lower = mpf(11) / 16 + mpf(k) / 256 if k < 80 else 1 + mpf(k - 80) / 128
        width = mpf(1) / 256 if k < 80 else mpf(1) / 128
        middle = lower + width / 2
        c = mpf(1) if abs(middle - 1) < mpf(1) / 128 else nint(512 / middle) / 512
        minus_log = -log(c)
        high = nint(minus_log / unit) * unit
        rows.append((c, high, minus_log - high))
    array_of_structs("logarithm_entry", "LOGARITHM", rows)


print("// Constants of the elementary functions. Generated by make_tables.py, do not edit.")
print("// clang-format off")
print("#ifndef KARAKURI_BASE_ELEMENTARY_TABLES_H\n#define KARAKURI_BASE_ELEMENTARY_TABLES_H\n")
for section, writer in (("REDUCTION", write_reduction), ("TRIGONOMETRIC", write_trigonometric),
                        ("ARCTANGENT", write_arctangent), ("EXPONENTIAL", write_exponential),
                        ("LOGARITHM", write_logarithm)):
    print(f"#ifdef KKI_TABLES_{section}\n")
    writer()
    print("#endif\n")
print("#endif")
