#!/usr/bin/env python3
"""Makes tests/fuzz/corpus/png: every kind of PNG by Python's zlib, 13 by 9 pixels (and a larger one), with the filters in turn.

The first channel of pixel (x, y) is (37 x + 101 y + 7 x y) modulo 2^bits; tests/io/test_png.c knows."""
import pathlib
import struct
import zlib

KINDS = {"grey": (0, 1, (1, 2, 4, 8, 16)), "rgb": (2, 3, (8, 16)), "palette": (3, 1, (1, 2, 4, 8)), "greya": (4, 2, (8, 16)), "rgba": (6, 4, (8, 16))}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def value(x, y, channel, bits):
    return (37 * x + 101 * y + 7 * x * y + 59 * channel * (x + 1)) % 2**bits


def pack(samples, bits):
    number, count = 0, 0
    for s in samples:
        number, count = number << bits | s, count + bits
    pad = -count % 8
    return (number << pad).to_bytes((count + pad) // 8, "big")


def paeth(a, b, c):
    return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]


def filtered(row, above, behind, kind):
    out = bytearray([kind])
    for i, x in enumerate(row):
        a = row[i - behind] if i >= behind else 0
        b = above[i] if above else 0
        c = above[i - behind] if above and i >= behind else 0
        out.append((x - [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]) % 256)
    return bytes(out)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def picture(kind, channels, bits, interlaced, level, width=13, height=9):
    raw, turn = b"", 0
    for x0, y0, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        above = None
        for y in range(y0, height, dy) if x0 < width else []:
            row = pack([value(x, y, c, bits) for x in range(x0, width, dx) for c in range(channels)], bits)
            raw += filtered(row, above, max(1, channels * bits // 8), turn % 5)
            above, turn = row, turn + 1
    packed = zlib.compress(raw, level)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced))
    # red of color i is 255 - i: the reader must look it up
    palette = chunk(b"PLTE", b"".join(bytes([255 - i, i, 7]) for i in range(2**bits))) if kind == 3 else b""
    half = len(packed) // 2
    pixels = chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:])
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"tEXt", b"Title\0test") + palette + pixels + chunk(b"IEND", b"")


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus" / "png"
    folder.mkdir(exist_ok=True)
    for name, (kind, channels, depths) in KINDS.items():
        for bits in depths:
            for interlaced in (0, 1):
                file = folder / f"{name}_{bits}_{'adam7' if interlaced else 'plain'}.png"
                file.write_bytes(picture(kind, channels, bits, interlaced, (bits + interlaced) % 10))
    # large enough for codes of its own
    (folder / "grey_8_large.png").write_bytes(picture(0, 1, 8, 0, 9, 61, 47))
