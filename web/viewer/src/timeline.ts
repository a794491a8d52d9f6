// Below: play, step, the line of time with what happened on it, the past and its other futures.
import type { Command, Frame } from "karakuri-dynamics";
import { $ } from "./dom.js";
import { setIcon } from "./icons.js";
import type { FrameLog } from "./log.js";
import type { Store } from "./store.js";
import { t } from "./words.js";

const COLOR = { contact: "#1c7ed6", limit: "#e8590c", failed: "#e03131" };

export class Timeline {
    private isScrubbing = false;
    private drawn = -1;
    private shown = "";

    constructor(private readonly store: Store, private readonly log: FrameLog, private readonly send: (command: Command | Command[]) => void, reset: () => void, private readonly isFilm: boolean) {
        setIcon("playButton", "play");
        setIcon("stepButton", "step");
        setIcon("resetButton", "reset");
        setIcon("shotButton", "shot");
        setIcon("filmButton", "film");
        $("playButton").onclick = () => this.togglePaused();
        $("stepButton").onclick = () => send({ do: "step", count: 1 });
        $("resetButton").onclick = reset;
        $("forkButton").onclick = () => send({ do: "fork" });
        const scrub = $<HTMLInputElement>("scrub");
        scrub.oninput = () => { this.isScrubbing = true; send({ do: "rewind", step: Number(scrub.value) }); };
        scrub.onchange = () => { this.isScrubbing = false; };
        $<HTMLSelectElement>("speed").onchange = (e) => send({ do: "speed", value: Number((e.target as HTMLSelectElement).value) });
        const status = $("status");
        status.onclick = () => {
            $("badges").hidden = !$("badges").hidden;
            status.setAttribute("aria-expanded", String(!$("badges").hidden));
        };
    }

    togglePaused(): void { this.send({ do: this.store.state.frame?.paused ?? true ? "play" : "pause" }); }

    nudge(seconds: number): void {
        const f = this.store.state.frame;
        f && this.send({ do: "rewind", step: Math.max(0, Math.round(f.step + seconds / f.timestep)) });
    }

    show(f: Frame): void {
        const { isAlive, realTime } = this.store.state;
        setIcon("playButton", f.paused ? "play" : "pause");
        const title = t(f.paused ? "play" : "pause");
        if ($("playButton").title !== title) {
            $("playButton").title = title;
            $("playButton").setAttribute("aria-label", title);
        }
        const scrub = $<HTMLInputElement>("scrub");
        scrub.min = String(f.oldest);
        scrub.max = String(f.newest);
        if (!this.isScrubbing) {
            scrub.value = String(f.step);
        }
        scrub.setAttribute("aria-valuetext", `${f.time.toFixed(2)} s`);
        $("mode").textContent = !isAlive ? t("ended") : f.replays ? `${t("replay")}${f.differs ? ` · ${t("differs")}` : ""}` : t("live");
        $("forkButton").hidden = !f.replays || this.isFilm;
        $("timeBadge").textContent = `${f.time.toFixed(3)} s`;
        this.status(f, isAlive, realTime);
        this.events(f);
    }

    /** Words first, numbers for who asks. */
    private status(f: Frame, isAlive: boolean, realTime: number): void {
        const isProved = f.residual <= 1e-9 && !f.failed;
        const speed = f.paused ? t("paused") : Math.abs(realTime - f.speed) < 0.08 ? t("inTime") : `${realTime.toFixed(2)} ×`;
        const text = !isAlive ? t("ended") : f.failed ? t("stepFailed") : `${isProved ? t("proved") : t("degraded")} · ${speed}`;
        const kind = !isAlive || f.failed ? "bad" : isProved ? "" : "warn";
        if (this.shown !== text + kind) {
            this.shown = text + kind;
            $("statusText").textContent = text;
            $("status").className = kind;
        }
        const residual = $("residualBadge");
        residual.textContent = `${f.residual > 0 ? f.residual.toExponential(1) : "0"} m/s`;
        residual.classList.toggle("good", isProved);
        residual.classList.toggle("bad", !isProved);
        $("hashBadge").textContent = f.hash.slice(0, 8);
        $("hashBadge").title = f.hash;
    }

    /** Contacts that began, joints at their limits, steps that were not proved: marks under the line. */
    private events(f: Frame): void {
        if (this.log.version === this.drawn) {
            return;
        }
        this.drawn = this.log.version;
        const canvas = $<HTMLCanvasElement>("events"), width = canvas.clientWidth, d = this.store.state.description;
        [canvas.width, canvas.height] = [width, 6];
        const pen = canvas.getContext("2d")!, span = Math.max(1, f.newest - f.oldest);
        const limits = (d?.bodies ?? []).flatMap((b) => (b.joint && b.joint.nv === 1 ? [{ q: b.joint.q, lower: b.joint.dofs[0].lower, upper: b.joint.dofs[0].upper }] : [])).filter((l) => l.lower !== null || l.upper !== null);
        let contacts = -1, wasLimit = false;
        for (const g of this.log.frames) {
            const isLimit = limits.some((l) => (l.lower !== null && g.q[l.q] < l.lower + 1e-4) || (l.upper !== null && g.q[l.q] > l.upper - 1e-4));
            const kind = g.failed || g.residual > 1e-9 ? "failed" : isLimit && !wasLimit ? "limit" : contacts >= 0 && g.contactCount > contacts ? "contact" : undefined;
            contacts = g.contactCount;
            wasLimit = isLimit;
            if (kind) {
                pen.fillStyle = COLOR[kind];
                pen.fillRect(((g.step - f.oldest) / span) * (width - 2), 0, 2, kind === "contact" ? 3 : 6);
            }
        }
    }
}

/** A film of what the canvas shows, as the browser makes it. */
export class Recorder {
    private recorder: MediaRecorder | undefined;
    constructor(private readonly canvas: HTMLCanvasElement, private readonly done: (blob: Blob, ending: string) => void) {}

    toggle(): void {
        if (this.recorder) {
            this.recorder.stop();
            return;
        }
        const parts: Blob[] = [];
        const type = ["video/mp4", "video/webm;codecs=vp9", "video/webm"].find((m) => MediaRecorder.isTypeSupported(m)) ?? "";
        this.recorder = new MediaRecorder(this.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 8e6 });
        this.recorder.ondataavailable = (e) => parts.push(e.data);
        this.recorder.onstop = () => {
            this.done(new Blob(parts, { type }), type.includes("mp4") ? "mp4" : "webm");
            this.recorder = undefined;
            setIcon("filmButton", "film");
        };
        this.recorder.start(500);
        setIcon("filmButton", "stop");
    }
}
