// Pictures without a graphics card: compression, triangles, camera, light, against what is known.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/camera.h"
#include "cli/render/cast.h"
#include "cli/render/deflate.h"
#include "cli/render/draw.h"
#include "cli/render/picture.h"
#include "cli/render/raster.h"
#include "harness.h"

// ---- compression. An inflater by the letter of RFC 1951, a bit at a time

typedef struct bits {
    const uint8_t *bytes;
    size_t size, at; ///< bit
} bits;

static int take(bits *b, int count) {
    int value = 0;
    for (int i = 0; i < count; i++, b->at++) {
        value |= b->at / 8 < b->size ? (b->bytes[b->at / 8] >> b->at % 8 & 1) << i : 0;
    }
    return value;
}

typedef struct book {
    int count[16], symbol[320];
} book;

static void make_book(book *k, const uint8_t *length, int n) {
    int start[16] = {0};
    memset(k, 0, sizeof *k);
    for (int i = 0; i < n; i++) {
        k->count[length[i]]++;
    }
    k->count[0] = 0;
    for (int i = 1; i < 16; i++) {
        start[i] = start[i - 1] + k->count[i - 1];
    }
    for (int i = 0; i < n; i++) {
        if (length[i]) {
            k->symbol[start[length[i]]++] = i;
        }
    }
}

static int read_symbol(bits *b, const book *k) {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length < 16; length++) {
        code |= take(b, 1);
        if (code - first < k->count[length]) {
            return k->symbol[index + code - first];
        }
        index += k->count[length];
        first = (first + k->count[length]) << 1;
        code <<= 1;
    }
    return -1;
}

static void read_books(bits *b, book *literal, book *distance) {
    static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const int literals = take(b, 5) + 257, distances = take(b, 5) + 1, lengths = take(b, 4) + 4;
    uint8_t length[320] = {0};
    book code;
    for (int i = 0; i < lengths; i++) {
        length[order[i]] = (uint8_t)take(b, 3);
    }
    make_book(&code, length, 19);
    memset(length, 0, sizeof length);
    for (int i = 0; i < literals + distances;) {
        const int s = read_symbol(b, &code);
        if (s < 0) {
            return;
        }
        int repeat = s == 16 ? 3 + take(b, 2) : s == 17 ? 3 + take(b, 3) : s == 18 ? 11 + take(b, 7) : 1;
        const uint8_t value = s == 16 && i ? length[i - 1] : s < 16 ? (uint8_t)s : 0;
        for (; repeat > 0 && i < 320; repeat--) {
            length[i++] = value;
        }
    }
    make_book(literal, length, literals);
    make_book(distance, length + literals, distances);
}

static int extended(bits *b, int symbol, bool is_length) {
    if (is_length) {
        const int extra = symbol < 8 || symbol == 28 ? 0 : symbol / 4 - 1;
        const int base = symbol == 28 ? 258 : symbol < 8 ? symbol + 3 : ((4 + symbol % 4) << extra) + 3;
        return base + take(b, extra);
    }
    const int extra = symbol < 4 ? 0 : symbol / 2 - 1;
    return (symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1) + take(b, extra);
}

/// The bytes of a zlib stream with dynamic blocks alone; what it holds is compared with `wanted`.
static bool inflates_to(const cli_text *stream, const uint8_t *wanted, size_t size) {
    bits b = {(const uint8_t *)stream->bytes, stream->size, 16};
    uint8_t *out = malloc(size + 1);
    size_t n = 0;
    bool is_last = false, is_good = true;
    while (!is_last && is_good) {
        book literal, distance;
        is_last = take(&b, 1);
        is_good = take(&b, 2) == 2;
        read_books(&b, &literal, &distance);
        for (int s = read_symbol(&b, &literal); is_good && s != 256; s = read_symbol(&b, &literal)) {
            const int length = s > 256 ? extended(&b, s - 257, true) : 1;
            const int back = s > 256 ? extended(&b, read_symbol(&b, &distance), false) : 0;
            is_good = s >= 0 && n + (size_t)length <= size && (size_t)back <= n;
            for (int i = 0; i < length && is_good; i++, n++) {
                out[n] = back ? out[n - (size_t)back] : (uint8_t)s;
            }
        }
    }
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = (low + out[i]) % 65521;
        high = (high + low) % 65521;
    }
    const uint8_t *end = (const uint8_t *)stream->bytes + stream->size - 4;
    const uint32_t sum = (uint32_t)end[0] << 24 | (uint32_t)end[1] << 16 | (uint32_t)end[2] << 8 | end[3];
    is_good = is_good && n == size && memcmp(out, wanted, size) == 0 && sum == (high << 16 | low);
    free(out);
    return is_good;
}

// nothing, one byte, runs longer than the window, noise, and words that repeat at every distance come back as they were
KK_TEST(render_deflate_comes_back) {
    static const size_t sizes[] = {0, 1, 2, 3, 300, 70000, 200001};
    uint8_t *bytes = malloc(200001);
    for (int kind = 0; kind < 4; kind++) {
        kk_random random = {.seed = (uint64_t)kind + 1};
        for (size_t i = 0; i < 200001; i++) {
            const uint32_t noise = (uint32_t)kk_random_next_uint64(&random);
            bytes[i] = (uint8_t)(kind == 0   ? 7
                                 : kind == 1 ? noise
                                 : kind == 2 ? i % 251 * (i / 251 % 3)
                                             : (noise % 97 ? bytes[i > 9 ? i - 9 : 0] : noise));
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            cli_text out = {0};
            deflate_zlib(&out, bytes, sizes[i]);
            KK_CHECK(inflates_to(&out, bytes, sizes[i]));
            KK_CHECK(kind == 1 || sizes[i] < 1000 || out.size < sizes[i] / 4);
            text_free(&out);
        }
    }
    free(bytes);
}

// frequencies like Fibonacci's numbers make the longest Huffman codes there are; they must be cut to 15 bits
KK_TEST(render_deflate_limits_codes) {
    uint8_t *bytes = malloc(200000);
    size_t n = 0;
    for (int symbol = 0, a = 1, b = 1; symbol < 22; symbol++) {
        for (int i = 0; i < a && n < 200000; i++) {
            // apart from each other, so that there is nothing to match
            bytes[n++] = (uint8_t)symbol;
        }
        const int next = a + b;
        a = b;
        b = next;
    }
    kk_random random = {.seed = 5};
    for (size_t i = n - 1; i > 0; i--) {
        const size_t k = (size_t)(kk_random_next_uint64(&random) % (i + 1));
        const uint8_t swap = bytes[i];
        bytes[i] = bytes[k];
        bytes[k] = swap;
    }
    cli_text out = {0};
    deflate_zlib(&out, bytes, n);
    KK_CHECK(inflates_to(&out, bytes, n));
    text_free(&out);
    free(bytes);
}

// ---- triangles

/// Samples well inside the square of half diagonal r are covered by one of both, those well outside by none.
static void check_square(const raster *one, const raster *two, double angle, double r) {
    for (int i = 0; i < 48 * 48; i++) {
        double x, y;
        raster_sample(one, i % 48, i / 48, &x, &y);
        const double u = (x - 24) * cos(angle) + (y - 24) * sin(angle),
                     v = (y - 24) * cos(angle) - (x - 24) * sin(angle);
        const double distance = fabs(u) + fabs(v);
        const bool is_covered = one->id[i] == 1 || two->id[i] == 2;
        KK_CHECK(distance > r - 0.02 || is_covered);
        KK_CHECK(distance < r + 0.02 || !is_covered);
    }
}

static void draw_square_of_two(int side, double angle, double r) {
    raster_corner c[4];
    for (int i = 0; i < 4; i++) {
        c[i] = (raster_corner){24 + r * cos(angle + i * KK_HALF_PI), 24 + r * sin(angle + i * KK_HALF_PI), 1};
    }
    raster one = raster_make(48, 48, side, 1), two = raster_make(48, 48, side, 1);
    raster_clear(&one, 0, 0, 48);
    raster_clear(&two, 0, 0, 48);
    raster_triangle(&one, (raster_corner[]){c[0], c[1], c[2]}, 1, ~0u, 0, 48);
    raster_triangle(&two, (raster_corner[]){c[2], c[3], c[0]}, 2, ~0u, 0, 48);
    int both = 0;
    for (int i = 0; i < 48 * 48; i++) {
        both += one.id[i] == 1 && two.id[i] == 2;
    }
    KK_CHECK(both <= 6);
    check_square(&one, &two, angle, r);
    raster_free(&one);
    raster_free(&two);
}

// two triangles that share an edge leave no sample of their square out, wherever the edge runs, and hardly any is in both
KK_TEST(render_triangles_leave_no_gap) {
    for (int side = 1; side <= 3; side++) {
        for (int turn = 0; turn < 24; turn++) {
            draw_square_of_two(side, 0.13 + turn * 0.2618, 17.3);
        }
    }
}

// the nearer triangle is seen, its depth is that of its plane, and rows outside the band stay as they are
KK_TEST(render_triangles_hide_each_other) {
    raster r = raster_make(40, 40, 1, 1);
    raster_clear(&r, 0, 0, 40);
    raster_triangle(&r, (raster_corner[]){{0, 0, 0.2f}, {40, 0, 0.2f}, {0, 40, 0.2f}}, 1, 1, 0, 40);
    raster_triangle(&r, (raster_corner[]){{0, 0, 0.1f}, {40, 0, 0.5f}, {0, 40, 0.1f}}, 2, 1, 0, 20);
    for (int y = 0; y < 40; y++) {
        for (int x = 0; x < 40 - y - 1; x++) {
            const double slanted = 0.1 + 0.4 * (x + 0.5) / 40;
            const bool is_slanted = y < 20 && slanted > 0.2;
            KK_CHECK_EQ_INT(r.id[y * 40 + x], is_slanted ? 2 : 1);
            KK_CHECK_NEAR((double)r.depth[y * 40 + x], is_slanted ? slanted : 0.2, 1e-6);
        }
    }
    raster_free(&r);
}

// ---- the camera

// every point is seen, and at least one touches the frame on opposite sides: the camera is as near as can be
KK_TEST(render_camera_frames) {
    kk_random random = {.seed = 11};
    for (int trial = 0; trial < 50; trial++) {
        v3 p[20];
        for (int i = 0; i < 20; i++) {
            p[i] = v3_make((float)kk_random_next_between(&random, -1, 3), (float)kk_random_next_between(&random, -2, 1),
                           (float)kk_random_next_between(&random, 0, 2));
        }
        camera c = camera_turned(kk_random_next_between(&random, -180, 180), kk_random_next_between(&random, -30, 80),
                                 35, 1.5);
        camera_frame(&c, p, 20, 0.1f);
        double left = 0, right = 0, up = 0, down = 0;
        for (int i = 0; i < 20; i++) {
            const v3 d = v3_sub(p[i], c.eye);
            const double z = (double)v3_dot(d, c.forward), x = (double)(v3_dot(d, c.right) / c.slope_x) / z,
                         y = (double)(v3_dot(d, c.up) / c.slope_y) / z;
            KK_CHECK(z > 0 && fabs(x) < 0.8 + 1e-4 && fabs(y) < 0.8 + 1e-4);
            left = x < left ? x : left;
            right = x > right ? x : right;
            down = y < down ? y : down;
            up = y > up ? y : up;
        }
        KK_CHECK((fabs(left + 0.8) < 1e-3 && fabs(right - 0.8) < 1e-3) ||
                 (fabs(down + 0.8) < 1e-3 && fabs(up - 0.8) < 1e-3));
    }
}

// ---- a whole picture

static void add(cast *c, form *f, float x, float y, float z, v3 color) {
    form_finish(f);
    const int index = stage_add_form(&c->s, f);
    stage_add(&c->s, (thing){.kind = THING_SOLID,
                             .form = index,
                             .alpha = 1,
                             .color = color,
                             .is_framed = true,
                             .place = affine_from(kk_transform_translation((double)x, (double)y, (double)z))});
}

static const uint8_t *pixel(const picture *p, double x, double y) {
    return p->rgb + 3 * ((int)(y * p->height) * p->width + (int)(x * p->width));
}

// a red ball above a floor: red in the middle, the sky above, a shadow on the side away from the sun and none on the other
KK_TEST(render_ball_and_shadow) {
    enum { W = 192, H = 128 };
    cast c = {0};
    form ball = {0};
    form_sphere(&ball, v3_make(0.5f, 0.5f, 0.5f), 48);
    add(&c, &ball, 0, 0, 0.5f, v3_make(0.7f, 0.02f, 0.02f));
    stage_add(&c.s, (thing){.kind = THING_FLOOR,
                            .form = -1,
                            .alpha = 1,
                            .color = v3_make(0.5f, 0.5f, 0.5f),
                            .place = affine_from(kk_transform_identity())});
    // looking along y, the sun from the left
    camera view = camera_turned(-90, 20, 30, (double)W / H);
    camera_aim(&view, v3_make(0, 0, 0.5f), 5);
    drawing d;
    picture out = picture_make(W, H);
    drawing_make(&d, (draw_options){.sun = v3_make(-1, 0, 1), .width = W, .height = H, .detail = 1, .square = 1000});
    draw_stage(&d, &c.s, &view, &out);
    const uint8_t *middle = pixel(&out, 0.5, 0.5), *sky = pixel(&out, 0.5, 0.02);
    KK_CHECK(middle[0] > 120 && middle[0] > 2 * middle[1]);
    KK_CHECK(sky[2] >= sky[0] && sky[2] > 180);
    // the shadow's middle is at x = +0.5 on the floor, its mirror image is not in the shadow
    const v3 at = v3_sub(v3_make(0.95f, 0, 0), view.eye);
    const double depth = (double)v3_dot(at, view.forward),
                 x = 0.5 * (double)(v3_dot(at, view.right) / view.slope_x) / depth,
                 y = 0.5 - 0.5 * (double)(v3_dot(at, view.up) / view.slope_y) / depth;
    const uint8_t *shadow = pixel(&out, 0.5 + x, y), *bright = pixel(&out, 0.5 - x, y);
    KK_CHECK(shadow[1] + 40 < bright[1]);
    // drawn again it is the same
    picture again = picture_make(W, H);
    draw_stage(&d, &c.s, &view, &again);
    KK_CHECK(memcmp(out.rgb, again.rgb, (size_t)3 * W * H) == 0);
    picture_free(&again);
    picture_free(&out);
    drawing_free(&d);
    cast_free(&c);
}
