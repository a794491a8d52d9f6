// Plots: any number of charts over each other, each of any signals. They draw the whole log of frames, so a signal has its past whenever it is chosen.
// Drag: zoom; wheel: zoom; shift and drag: pan; double click: follow again; click: go there; the mouse shows the robot of that moment.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Frame } from "karakuri-dynamics";
import { make, si } from "./dom.js";
import { download } from "./files.js";
import type { FrameLog } from "./log.js";
import { CURVES } from "./palette.js";
import { drawPath, spectrum } from "./spectrum.js";
import { t } from "./words.js";

export interface Signal { id: string; label: string; unit: string; read(frame: Frame): number }

type Kind = "time" | "spectrum" | "xy";
const KINDS: readonly Kind[] = ["time", "spectrum", "xy"];
const FOLLOWED = 10; // s that are shown while it runs

interface Chart {
    signals: Signal[];
    kind: Kind;
    isLog: boolean;
    root: HTMLElement;
    plot?: uPlot;
    canvas?: HTMLCanvasElement;
    legend: HTMLElement;
}

/** Values of a signal for each frame of the log, made longer when the log is. */
class Column {
    values: (number | null)[] = [];
    private epoch = -1;
    constructor(readonly signal: Signal) {}
    fill(log: FrameLog): void {
        if (this.epoch !== log.epoch) {
            this.epoch = log.epoch;
            this.values = [];
        }
        for (let i = this.values.length; i < log.frames.length; i++) {
            const value = this.signal.read(log.frames[i]);
            this.values.push(Number.isFinite(value) ? value : null);
        }
    }
}

export class Plots {
    readonly charts: Chart[] = [];
    private readonly columns = new Map<string, Column>();
    private times: number[] = [];
    private epoch = -1;
    private seen = -1;
    private drawnAt = 0;
    /** what is shown of the time; none: it follows */
    private range: [number, number] | undefined;
    private now: Frame | undefined;
    /** finds what was dragged here */
    signalOf: (id: string) => Signal | undefined = () => undefined;
    changed: () => void = () => undefined;

    constructor(private readonly panel: HTMLElement, private readonly area: HTMLElement, private readonly log: FrameLog,
        private readonly seek: (frame: Frame) => void, private readonly hover: (frame: Frame | undefined) => void) {
        new ResizeObserver(() => this.resize()).observe(area);
        area.addEventListener("dragover", (e) => e.dataTransfer?.types.includes("text/karakuri-signal") && e.preventDefault());
        area.addEventListener("drop", (e) => this.drop(e));
    }

    get signals(): Signal[] { return this.charts.flatMap((c) => c.signals); }
    has(id: string): boolean { return this.signals.some((s) => s.id === id); }

    private drop(event: DragEvent): void {
        const id = event.dataTransfer?.getData("text/karakuri-signal"), signal = id ? this.signalOf(id) : undefined;
        if (!signal) {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
        const chart = this.charts.find((c) => c.root.contains(event.target as Node));
        this.remove(signal.id);
        this.add(signal, chart);
    }

    toggle(signal: Signal): void { this.has(signal.id) ? this.remove(signal.id) : this.add(signal); }

    /** To a chart, or to the one with the same unit, or to one of its own. */
    add(signal: Signal, chart = this.charts.find((c) => c.kind === "time" && c.signals[0]?.unit === signal.unit && c.signals.length < CURVES.length)): void {
        this.columns.set(signal.id, new Column(signal));
        if (chart) {
            chart.signals.push(signal);
        } else {
            this.charts.push(this.newChart([signal]));
        }
        this.rebuild();
    }

    remove(id: string): void {
        this.charts.forEach((c) => { c.signals = c.signals.filter((s) => s.id !== id); });
        this.charts.filter((c) => c.signals.length === 0).forEach((c) => this.close(c));
        this.columns.delete(id);
        this.rebuild();
    }

    clear(): void {
        this.charts.slice().forEach((c) => this.close(c));
        this.columns.clear();
        this.rebuild();
    }

    private close(chart: Chart): void {
        chart.plot?.destroy();
        chart.root.remove();
        this.charts.splice(this.charts.indexOf(chart), 1);
        chart.signals.forEach((s) => this.columns.delete(s.id));
    }

    private newChart(signals: Signal[]): Chart {
        const legend = make("div", { class: "legend" }), root = make("div", { class: "chart" });
        const chart: Chart = { signals, kind: "time", isLog: false, root, legend };
        const kinds = make("select", { "aria-label": t("chartKind") }, ...KINDS.map((k) => new Option(t(k === "time" ? "overTime" : k), k)));
        kinds.onchange = () => { chart.kind = kinds.value as Kind; this.rebuild(); };
        const log = make("button", { type: "button", "aria-pressed": "false", title: t("logAxis"), click: () => {
            chart.isLog = !chart.isLog;
            log.setAttribute("aria-pressed", String(chart.isLog));
            this.rebuild();
        } }, "log");
        const tools = make("div", { class: "tools" }, kinds, log, make("button", { type: "button", click: () => this.csv(chart) }, "CSV"),
            make("button", { type: "button", click: () => this.png(chart) }, "PNG"),
            make("button", { type: "button", "aria-label": t("close"), click: () => { this.close(chart); this.rebuild(); } }, "×"));
        root.append(make("div", { class: "head" }, legend, tools));
        this.area.append(root);
        return chart;
    }

    // ---- drawing

    private rebuild(): void {
        this.panel.hidden = this.charts.length === 0;
        document.body.classList.toggle("plots", !this.panel.hidden);
        this.panel.style.setProperty("--charts", String(Math.min(4, this.charts.length)));
        this.seen = -1;
        this.refill();
        this.charts.forEach((c) => this.build(c));
        this.changed();
    }

    private sizeOf(chart: Chart): { width: number; height: number } {
        const head = chart.root.querySelector<HTMLElement>(".head")!.offsetHeight || 26;
        return { width: Math.max(120, this.area.clientWidth - 12), height: Math.max(70, Math.max(110, this.area.clientHeight / Math.min(3, this.charts.length)) - head - 6) };
    }

    private resize(): void {
        this.charts.forEach((c) => c.plot?.setSize(this.sizeOf(c)));
        this.seen = -1;
    }

    private build(chart: Chart): void {
        chart.plot?.destroy();
        chart.plot = undefined;
        chart.canvas?.remove();
        chart.canvas = undefined;
        this.buildLegend(chart);
        if (chart.kind === "xy") {
            chart.canvas = make("canvas", { class: "path" });
            chart.root.append(chart.canvas);
            return;
        }
        const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft").trim(), line = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
        const unit = chart.signals[0]?.unit ?? "";
        const axis = { stroke: ink, grid: { stroke: line, width: 0.5 }, ticks: { stroke: line, width: 0.5 }, font: "11px system-ui" };
        chart.plot = new uPlot({
            ...this.sizeOf(chart), legend: { show: false }, scales: { x: { time: false, auto: chart.kind === "spectrum" }, y: { distr: chart.isLog || chart.kind === "spectrum" ? 3 : 1 } },
            axes: [{ ...axis, size: 24, space: 70, values: (_, ticks) => ticks.map((x) => si(x, chart.kind === "time" ? "s" : "Hz")) },
                { ...axis, size: 66, space: 28, values: (_, ticks) => ticks.map((y) => (y === null ? "" : si(y, unit))) }],
            cursor: { drag: { x: true, y: false, dist: 6 }, sync: chart.kind === "time" ? { key: "karakuri" } : undefined },
            series: [{}, ...chart.signals.map((s, i) => ({ label: s.label, stroke: CURVES[i % CURVES.length], width: 1.6, spanGaps: false, points: { show: false } }))],
            hooks: chart.kind === "time" ? {
                draw: [(u) => this.mark(u, ink)], setCursor: [(u) => this.point(chart, u)],
                setSelect: [(u) => u.select.width > 4 && this.zoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")])],
            } : {},
        }, this.dataOf(chart), chart.root);
        chart.kind === "time" && this.listen(chart.plot);
    }

    private buildLegend(chart: Chart): void {
        chart.legend.replaceChildren(...chart.signals.map((s, i) => {
            const chip = make("span", { class: "chip", draggable: "true", dragstart: (e) => (e as DragEvent).dataTransfer?.setData("text/karakuri-signal", s.id) },
                make("i", { style: `background:${CURVES[i % CURVES.length]}` }), `${s.label} `, make("b", { class: "value" }),
                make("button", { type: "button", "aria-label": `${t("remove")} ${s.label}`, click: () => this.remove(s.id) }, "×"));
            return chip;
        }));
    }

    private listen(plot: uPlot): void {
        const { over } = plot;
        let pan: { x: number; from: [number, number] } | undefined, down = 0;
        over.addEventListener("wheel", (e) => {
            e.preventDefault();
            const { min, max } = plot.scales.x as { min: number; max: number };
            const at = plot.posToVal(e.offsetX, "x"), factor = 1.2 ** Math.sign(e.deltaY);
            this.zoom([at - (at - min) * factor, at + (max - at) * factor]);
        }, { passive: false });
        over.addEventListener("mousedown", (e) => {
            down = e.clientX;
            if (e.shiftKey || e.button === 1) {
                e.stopImmediatePropagation();
                pan = { x: e.clientX, from: [plot.scales.x.min!, plot.scales.x.max!] };
            }
        }, { capture: true });
        over.addEventListener("mousemove", (e) => {
            if (pan) {
                const shift = ((pan.x - e.clientX) / over.clientWidth) * (pan.from[1] - pan.from[0]);
                this.zoom([pan.from[0] + shift, pan.from[1] + shift]);
            }
        });
        over.addEventListener("mouseup", () => { pan = undefined; });
        over.addEventListener("mouseleave", () => { pan = undefined; this.hover(undefined); });
        over.addEventListener("click", (e) => {
            const frame = Math.abs(e.clientX - down) < 4 ? this.log.at(plot.posToVal(e.offsetX, "x")) : undefined;
            frame && this.seek(frame);
        });
        over.addEventListener("dblclick", () => this.zoom(undefined));
    }

    private zoom(range: [number, number] | undefined): void {
        this.range = range;
        this.seen = -1;
        this.draw();
    }

    /** The whole of it. */
    showAll(): void { this.times.length > 1 && this.zoom([this.times[0], this.times[this.times.length - 1]]); }
    showNow(): void { this.zoom(undefined); }

    private point(chart: Chart, u: uPlot): void {
        const left = u.cursor.left ?? -1;
        if (left < 0) {
            this.showValues(chart, this.now);
        } else {
            const frame = this.log.at(u.posToVal(left, "x"));
            this.showValues(chart, frame);
            u.over.matches(":hover") && this.hover(frame);
        }
    }

    private showValues(chart: Chart, frame: Frame | undefined): void {
        chart.legend.querySelectorAll<HTMLElement>(".value").forEach((e, i) => { e.textContent = frame ? si(chart.signals[i].read(frame), chart.signals[i].unit) : ""; });
    }

    /** A line at the moment that is shown. */
    private mark(u: uPlot, ink: string): void {
        if (this.now) {
            const x = Math.round(u.valToPos(this.now.time, "x", true));
            if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) {
                u.ctx.fillStyle = ink;
                u.ctx.fillRect(x, u.bbox.top, 1.5, u.bbox.height);
            }
        }
    }

    private refill(): void {
        const { frames, epoch } = this.log;
        if (this.epoch !== epoch) {
            this.epoch = epoch;
            this.times = [];
        }
        for (let i = this.times.length; i < frames.length; i++) {
            this.times.push(frames[i].time);
        }
        this.columns.forEach((c) => c.fill(this.log));
    }

    private dataOf(chart: Chart): uPlot.AlignedData {
        const columns = chart.signals.map((s) => this.columns.get(s.id)!.values);
        if (chart.kind === "spectrum") {
            return spectrum(this.times, columns) as uPlot.AlignedData;
        }
        const values = chart.isLog ? columns.map((c) => c.map((x) => (x === null || x === 0 ? null : Math.abs(x)))) : columns;
        return [this.times, ...values] as uPlot.AlignedData;
    }

    /** The newest frame; it is in the log already. */
    show(frame: Frame): void { this.now = frame; }

    draw(): void {
        const clock = performance.now(), isLong = this.log.frames.length > 5000;
        if (this.panel.hidden || (this.seen === this.log.version && !this.now) || (clock - this.drawnAt < (isLong ? 150 : 30) && this.seen >= 0)) {
            return;
        }
        this.drawnAt = clock;
        this.seen = this.log.version;
        this.refill();
        const newest = Math.max(this.now?.time ?? 0, this.times[this.times.length - 1] ?? 0), oldest = this.times[0] ?? 0;
        const end = this.now?.replays && this.now.time < newest - FOLLOWED ? this.now.time + FOLLOWED / 2 : newest;
        const range = this.range ?? [Math.max(oldest, end - FOLLOWED), Math.max(end, oldest + 0.5)];
        for (const chart of this.charts) {
            if (chart.canvas) {
                drawPath(chart.canvas, { ...this.sizeOf(chart) }, chart.signals.slice(0, 2).map((s) => ({ label: s.label, unit: s.unit, values: this.columns.get(s.id)!.values })), this.now, chart.signals);
            } else if (chart.plot) {
                chart.plot.setData(this.dataOf(chart), chart.kind === "spectrum");
                chart.kind === "time" && chart.plot.setScale("x", { min: range[0], max: range[1] });
            }
            (chart.plot?.cursor.left ?? -1) < 0 && this.showValues(chart, this.now);
        }
    }

    // ---- out

    private csv(chart: Chart): void {
        const rows = this.times.map((time, i) => [time, ...chart.signals.map((s) => this.columns.get(s.id)!.values[i] ?? "")].join(","));
        download("plot.csv", [["time [s]", ...chart.signals.map((s) => `${s.label} [${s.unit || 1}]`)].join(","), ...rows].join("\n"));
    }

    private png(chart: Chart): void {
        const from = chart.canvas ?? chart.plot?.ctx.canvas;
        if (!from) {
            return;
        }
        const to = document.createElement("canvas");
        [to.width, to.height] = [from.width, from.height + 40];
        const pen = to.getContext("2d")!;
        pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--ground").trim().slice(0, 7);
        pen.fillRect(0, 0, to.width, to.height);
        pen.drawImage(from, 0, 40);
        pen.font = "20px system-ui";
        chart.signals.reduce((x, s, i) => {
            pen.fillStyle = CURVES[i % CURVES.length];
            pen.fillText(s.label, x, 27);
            return x + pen.measureText(s.label).width + 24;
        }, 16);
        to.toBlob((blob) => blob && download("plot.png", blob));
    }

    /** How many values of a signal there are, the newest, and the axis they are drawn on; for tests. */
    last(id: string): { count: number; value: number; axis: (number | null | undefined)[]; first: number } | undefined {
        const chart = this.charts.find((c) => c.signals.some((s) => s.id === id)), column = this.columns.get(id);
        const list = column?.values.filter((x): x is number => x !== null) ?? [];
        return chart && { count: list.length, value: list[list.length - 1], first: this.times[0], axis: [chart.plot?.scales.y.min, chart.plot?.scales.y.max] };
    }
}
