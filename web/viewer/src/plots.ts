// Plots of any signal, picked by click; the last seconds of it, live.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Frame } from "karakuri-dynamics";

export interface Signal { id: string; label: string; unit: string; read(frame: Frame): number }

const SECONDS = 8;
const MOST = 2000;
const COLORS = ["#1864ab", "#e8590c", "#2b8a3e", "#9c36b5", "#c92a2a", "#0b7285", "#845ef7", "#5f3dc4"];

const scaleOf = (unit: string): string => unit || "1";

export class Plots {
    readonly signals: Signal[] = [];
    private times: number[] = [];
    private values: (number | null)[][] = []; // null: a gap
    private plot: uPlot | undefined;
    /** the moment that is looked at, where it is not the newest */
    private looked: number | undefined;
    private drawn = 0;

    constructor(private readonly panel: HTMLElement, private readonly area: HTMLElement) {
        new ResizeObserver(() => this.plot?.setSize(this.size())).observe(panel);
    }

    /** What the names below the curves leave; these may take several lines. */
    private size() {
        const names = (this.area.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 30) + 8;
        return { width: Math.max(100, this.panel.clientWidth - 12), height: Math.max(80, this.panel.clientHeight - names) };
    }

    has(id: string): boolean { return this.signals.some((s) => s.id === id); }

    toggle(signal: Signal): void {
        const at = this.signals.findIndex((s) => s.id === signal.id);
        if (at >= 0) {
            this.signals.splice(at, 1);
            this.values.splice(at, 1);
        } else {
            this.signals.push(signal);
            this.values.push(this.times.map(() => null));
        }
        this.rebuild();
    }

    clear(): void {
        this.signals.length = 0;
        this.values = [];
        this.rebuild();
    }

    private rebuild(): void {
        this.plot?.destroy();
        this.plot = undefined;
        this.panel.hidden = this.signals.length === 0;
        if (this.signals.length === 0) {
            return;
        }
        const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft").trim();
        const axis = { stroke: ink, grid: { stroke: `${ink}30` }, ticks: { stroke: `${ink}60` } };
        // a scale for each unit; the first two have an axis, left and right
        const units = [...new Set(this.signals.map((s) => s.unit))];
        const axes = units.slice(0, 2).map((unit, i) => ({ ...axis, size: 60, scale: scaleOf(unit), side: i ? 1 : 3, grid: i ? { show: false } : axis.grid }));
        this.plot = new uPlot({
            ...this.size(), scales: { x: { time: false } }, axes: [{ ...axis, size: 32 }, ...axes], cursor: { drag: { x: false, y: false } }, hooks: { draw: [(u) => this.mark(u, ink)] },
            series: [{ label: "t / s" }, ...this.signals.map((s, i) => ({ label: s.unit ? `${s.label} / ${s.unit}` : s.label, stroke: COLORS[i % COLORS.length], width: 1.5, scale: scaleOf(s.unit) }))],
        }, this.data(), this.area);
        requestAnimationFrame(() => this.fit());
    }

    /** Its names may have come to another number of lines. */
    private fit(): void {
        if (this.plot && Math.abs(this.size().height - this.plot.height) > 4) {
            this.plot.setSize(this.size());
        }
    }

    /** A line at the moment that is looked at. */
    private mark(u: uPlot, ink: string): void {
        if (this.looked !== undefined) {
            const x = Math.round(u.valToPos(this.looked, "x", true));
            u.ctx.fillStyle = ink;
            u.ctx.fillRect(x, u.bbox.top, 2, u.bbox.height);
        }
    }

    private data(): uPlot.AlignedData { return [this.times, ...this.values] as uPlot.AlignedData; }

    private forget(): void {
        this.times = [];
        this.values = this.signals.map(() => []);
    }

    add(frame: Frame): void {
        const newest = this.times[this.times.length - 1] ?? -Infinity;
        this.looked = frame.replays && frame.time < newest ? frame.time : undefined;
        if (this.looked !== undefined && frame.time >= this.times[0]) {
            return; // looked at again: it is drawn already
        }
        if (this.looked !== undefined) { // before all that is drawn
            this.forget();
            this.looked = undefined;
        }
        // a fork: forget what came later
        while (this.times.length && this.times[this.times.length - 1] >= frame.time) {
            this.times.pop();
            this.values.forEach((v) => v.pop());
        }
        this.times.push(frame.time);
        this.signals.forEach((s, i) => {
            const value = s.read(frame);
            this.values[i].push(Number.isFinite(value) ? value : null);
        });
        while (this.times.length > MOST || this.times[0] < frame.time - SECONDS) {
            this.times.shift();
            this.values.forEach((v) => v.shift());
        }
    }

    draw(): void {
        this.plot?.setData(this.data());
        if (++this.drawn % 30 === 0) {
            this.fit();
        }
        if (this.plot && (this.plot.cursor.left ?? -1) < 0) { // numbers of now, unless the mouse asks for others
            const at = this.looked === undefined ? this.times.length - 1 : this.times.findIndex((t) => t >= this.looked!);
            this.plot.setLegend({ idx: at });
        }
    }
    private scale(signal: number): uPlot.Scale | undefined { return this.plot?.scales[scaleOf(this.signals[signal].unit)]; }

    /** How many values of a signal there are, the newest, and the axis they are drawn on; for tests. */
    last(id: string): { count: number; value: number; axis: (number | null | undefined)[] } | undefined {
        const at = this.signals.findIndex((s) => s.id === id);
        const list = this.values[at]?.filter((x): x is number => x !== null);
        return at < 0 ? undefined : { count: list.length, value: list[list.length - 1], axis: [this.scale(at)?.min, this.scale(at)?.max] };
    }
}
