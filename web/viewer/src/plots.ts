// Plots of any signal, picked by click; the last seconds of it, live.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Frame } from "karakuri-dynamics";

export interface Signal { id: string; label: string; unit: string; read(frame: Frame): number }

const SECONDS = 8;
const MOST = 2000;
const COLOURS = ["#1864ab", "#e8590c", "#2b8a3e", "#9c36b5", "#c92a2a", "#0b7285", "#845ef7", "#5f3dc4"];

export class Plots {
    readonly signals: Signal[] = [];
    private times: number[] = [];
    private values: (number | null)[][] = []; // null: a gap
    private plot: uPlot | undefined;

    constructor(private readonly panel: HTMLElement, private readonly area: HTMLElement) {
        new ResizeObserver(() => this.plot?.setSize(this.size())).observe(panel);
    }

    private size() { return { width: Math.max(100, this.panel.clientWidth - 12), height: Math.max(80, this.panel.clientHeight - 38) }; }

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
        this.plot = new uPlot({
            ...this.size(), scales: { x: { time: false } }, axes: [{ ...axis, size: 32 }, { ...axis, size: 60 }], cursor: { drag: { x: false, y: false } },
            series: [{ label: "t / s" }, ...this.signals.map((s, i) => ({ label: s.unit ? `${s.label} / ${s.unit}` : s.label, stroke: COLOURS[i % COLOURS.length], width: 1.5 }))],
        }, this.data(), this.area);
    }

    private data(): uPlot.AlignedData { return [this.times, ...this.values] as uPlot.AlignedData; }

    add(frame: Frame): void {
        // gone back: forget what came later
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

    draw(): void { this.plot?.setData(this.data()); }
    /** How many values of a signal there are, the newest, and the axis they are drawn on; for tests. */
    last(id: string): { count: number; value: number; axis: (number | null | undefined)[] } | undefined {
        const at = this.signals.findIndex((s) => s.id === id);
        const list = this.values[at]?.filter((x): x is number => x !== null);
        return at < 0 ? undefined : { count: list.length, value: list[list.length - 1], axis: [this.plot?.scales.y.min, this.plot?.scales.y.max] };
    }
}
