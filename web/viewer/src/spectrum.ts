// What a signal is made of, and one signal over another.
import type { Frame } from "karakuri-dynamics";
import { CONTACT_NUMBERS } from "karakuri-dynamics";
import { si } from "./dom.js";
import { convexHull } from "./overlays.js";
import { CURVES } from "./palette.js";

const MOST = 8192;

/** In place, radix 2 (Cooley and Tukey 1965). */
function transform(re: Float64Array, im: Float64Array): void {
    const n = re.length;
    for (let i = 1, j = 0; i < n; i++) {
        let bit = n >> 1;
        for (; j & bit; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
        }
    }
    for (let size = 2; size <= n; size *= 2) {
        for (let start = 0; start < n; start += size) {
            for (let k = 0; k < size / 2; k++) {
                const angle = (-2 * Math.PI * k) / size, [c, s] = [Math.cos(angle), Math.sin(angle)], a = start + k, b = a + size / 2;
                const [x, y] = [re[b] * c - im[b] * s, re[b] * s + im[b] * c];
                [re[b], im[b]] = [re[a] - x, im[a] - y];
                re[a] += x;
                im[a] += y;
            }
        }
    }
}

/** Frequencies, then the amplitude of each signal at them: of equal samples between the frames, without the mean, under Hann's window. */
export function spectrum(times: number[], columns: (number | null)[][]): (number | null)[][] {
    let n = 64;
    while (2 * n <= Math.min(times.length, MOST)) {
        n *= 2;
    }
    if (times.length < 64) {
        return [[1, 2], ...columns.map(() => [null, null])];
    }
    const begin = times[times.length - n], step = (times[times.length - 1] - begin) / (n - 1) || 1e-3;
    const amplitudes = columns.map((values) => {
        const re = new Float64Array(n), im = new Float64Array(n);
        for (let i = 0, at = times.length - n; i < n; i++) {
            const time = begin + i * step;
            while (at + 1 < times.length - 1 && times[at + 1] <= time) {
                at++;
            }
            const share = (time - times[at]) / (times[at + 1] - times[at] || 1);
            re[i] = (values[at] ?? 0) * (1 - share) + (values[at + 1] ?? 0) * share;
        }
        const mean = re.reduce((a, b) => a + b, 0) / n;
        re.forEach((x, i) => { re[i] = (x - mean) * (1 - Math.cos((2 * Math.PI * i) / n)); });
        transform(re, im);
        return Array.from({ length: n / 2 - 1 }, (_, i) => Math.hypot(re[i + 1], im[i + 1]) * (2 / n) || 1e-15);
    });
    return [Array.from({ length: n / 2 - 1 }, (_, i) => (i + 1) / (n * step)), ...amplitudes];
}

interface Side { label: string; unit: string; values: (number | null)[] }

/** One signal over another at equal scales; under points of pressure the polygon of support. */
export function drawPath(canvas: HTMLCanvasElement, size: { width: number; height: number }, sides: Side[], now: Frame | undefined, signals: { read(frame: Frame): number; id: string }[]): void {
    const ratio = devicePixelRatio, { width, height } = size;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = canvas.getContext("2d")!, style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--soft").trim();
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui";
    pen.fillStyle = ink;
    const [x, y] = sides;
    if (!y) {
        pen.fillText("x – y: + 1", 12, 24);
        return;
    }
    const points = x.values.map((v, i): [number, number] | undefined => (v === null || y.values[i] === null || y.values[i] === undefined ? undefined : [v, y.values[i]]));
    const isZmp = signals.slice(0, 2).every((s) => /ZMP/.test(s.id));
    const hull = isZmp && now ? convexHull(Array.from({ length: now.contactCount }, (_, i): [number, number] => [now.contacts[CONTACT_NUMBERS * i], now.contacts[CONTACT_NUMBERS * i + 1]])) : [];
    const all = [...points.filter((p): p is [number, number] => p !== undefined), ...hull];
    const [xs, ys] = [all.map((p) => p[0]), all.map((p) => p[1])];
    const bound = (list: number[]) => list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const [x0, x1] = bound(xs), [y0, y1] = bound(ys);
    if (!(x1 >= x0)) {
        return;
    }
    const margin = 34, scale = Math.min((width - 2 * margin) / (x1 - x0 || 1e-6), (height - 2 * margin) / (y1 - y0 || 1e-6));
    const place = ([a, b]: [number, number]): [number, number] => [width / 2 + (a - (x0 + x1) / 2) * scale, height / 2 - (b - (y0 + y1) / 2) * scale];
    const path = (list: ([number, number] | undefined)[]) => {
        pen.beginPath();
        list.forEach((p, i) => p && (i && list[i - 1] ? pen.lineTo(...place(p)) : pen.moveTo(...place(p))));
    };
    if (hull.length > 2) {
        path([...hull, hull[0]]);
        pen.fillStyle = "#2b8a3e33";
        pen.fill();
        pen.strokeStyle = "#2b8a3e";
        pen.stroke();
    }
    path(points);
    pen.strokeStyle = CURVES[0];
    pen.lineWidth = 1.4;
    pen.stroke();
    if (now) {
        pen.beginPath();
        pen.arc(...place([signals[0].read(now), signals[1].read(now)]), 4, 0, 7);
        pen.fillStyle = CURVES[1];
        pen.fill();
    }
    pen.fillStyle = ink;
    pen.fillText(`${x.label}: ${si(x0, x.unit)} … ${si(x1, x.unit)}`, margin, height - 8);
    pen.fillText(`${y.label}: ${si(y0, y.unit)} … ${si(y1, y.unit)}`, margin, 14);
}
