// The crane game: a crab on three rails, two claws, prizes. The box is held by friction, the heart by its hollow; a jerk drops them.
import type { Command, Description, Frame } from "karakuri-dynamics";
import { make } from "./dom.js";
import type { Mark } from "./drawing.js";
import { t, word } from "./words.js";

type Phase = "free" | "down" | "close" | "up" | "carry" | "open";

const OPEN = -0.55;
const CLOSED = 0.35;
const TOP = 0.05;
const SPEED = 0.35;
/** With shift the carriage jerks forth and back, m/s and m/s²: across the claws, where friction alone holds the box and its hollow the heart. (Along the claws
 * nothing but their force holds either.) */
const JERK = 1.2, JERK_ACCELERATION = 12;
const TRIES = 5;
/** where prizes are let go into, m */
const CHUTE = { x: -0.48, y: -0.32, radius: 0.1 };
const TABLE = 0.004;
/** what a prize is worth */
const PRIZES: Record<string, number> = { box: 100, heart: 300, ball: 200, drum: 150, gift: 100 };
/** over this height a prize counts as lifted; in this corner it counts as won */
const LIFTED = 0.12;

export class Crane {
    private readonly target = { x: 0, y: 0, z: TOP, claw: OPEN };
    private readonly held = new Set<string>();
    /** pressed since the last frame, and perhaps let go again */
    private readonly tapped = new Set<string>();
    private readonly index: Record<string, number> = {};
    private phase: Phase = "free";
    private since = 0;
    private clock = -1;
    private z = 0;
    private frame: Frame | undefined;
    private hadLifted = "";
    private fast = false;
    /** for how long a key has been held */
    private going = 0;
    /** the button that does what shift does, for hands without a keyboard */
    private isJerky = false;
    /** m/s of the carriage's target while it jerks */
    private rush = 0;
    private best = "";
    private sound: AudioContext | undefined;
    private ended = false;
    readonly won = new Set<string>();
    score = 0;
    tries = TRIES;
    private readonly abort = new AbortController();

    constructor(private readonly root: HTMLElement, private readonly description: Description, private readonly send: (command: Command | Command[]) => void,
        private readonly notice: (text: string) => void, private readonly again: () => void, private readonly draw: (marks: Mark[]) => void) {
        description.actuators.forEach((a, i) => { this.index[a.name ?? ""] = i; });
        this.build();
        const signal = this.abort.signal;
        addEventListener("keydown", (e) => this.key(e, true), { signal });
        addEventListener("keyup", (e) => this.key(e, false), { signal });
        addEventListener("blur", () => this.held.clear(), { signal });
    }

    destroy(): void {
        this.abort.abort();
        this.draw([]);
        void this.sound?.close();
        this.root.replaceChildren();
        this.root.hidden = true;
        document.body.classList.remove("game");
    }

    private build(): void {
        this.root.hidden = false;
        document.body.classList.add("game");
        this.root.innerHTML = `<div class="score"></div><div class="hint"></div><div class="pad">
            <button data-key="ArrowLeft" aria-label="←">←</button><button data-key="ArrowUp" aria-label="↑">↑</button><button data-key=" " class="grab">${t("grab")}</button><button data-key="ArrowDown" aria-label="↓">↓</button><button data-key="ArrowRight" aria-label="→">→</button>
            <button class="fast" title="${t("jerk")}" aria-label="${t("jerk")}" aria-pressed="false">⚡</button></div>`;
        this.root.querySelector(".hint")!.textContent = t("craneHelp");
        this.root.querySelector(".score")!.setAttribute("role", "status");
        const fast = this.root.querySelector<HTMLButtonElement>(".fast")!;
        fast.onclick = () => fast.classList.toggle("on", (this.isJerky = !this.isJerky));
        this.root.querySelectorAll<HTMLButtonElement>("[data-key]").forEach((button) => {
            const key = button.dataset.key!;
            button.onpointerdown = (e) => {
                button.setPointerCapture(e.pointerId);
                this.press(key);
            };
            button.onpointerup = button.onpointercancel = () => this.held.delete(key);
        });
        this.showScore();
    }

    private key(event: KeyboardEvent, down: boolean): void {
        if (!/^(Arrow(Left|Right|Up|Down)| )$/.test(event.key) || event.target instanceof HTMLTextAreaElement) {
            return;
        }
        event.preventDefault();
        this.fast = event.shiftKey;
        if (down && !event.repeat) {
            this.press(event.key);
        } else if (!down) {
            this.held.delete(event.key);
        }
    }

    private press(key: string): void {
        if (key === " ") {
            if (this.phase === "free" && this.tries > 0) {
                this.tries--;
                this.best = "";
                this.showScore();
                this.beep(330, 0.12);
                this.go("down");
            } else if (this.phase === "carry") {
                this.go("open");
            }
        } else {
            this.held.add(key);
            this.tapped.add(key);
        }
    }

    private go(phase: Phase): void {
        this.phase = phase;
        this.since = 0;
    }

    private showScore(): void { this.root.querySelector(".score")!.textContent = `${t("score")} ${this.score} · ${t("tries")} ${this.tries}`; }

    /** A tone; browsers allow it after the first key. */
    private beep(hertz: number, seconds: number): void {
        try {
            const audio = (this.sound ??= new AudioContext()), tone = audio.createOscillator(), loud = audio.createGain();
            tone.type = "triangle";
            tone.frequency.value = hertz;
            loud.gain.setValueAtTime(0.08, audio.currentTime);
            loud.gain.exponentialRampToValueAtTime(1e-4, audio.currentTime + seconds);
            tone.connect(loud).connect(audio.destination);
            tone.start();
            tone.stop(audio.currentTime + seconds);
        } catch { /* a machine without sound */ }
    }

    private placeOf(name: string): [number, number, number] | undefined {
        const i = this.description.bodies.findIndex((b) => b.name === name), p = this.frame?.poses;
        return p && i >= 0 ? [p[7 * i + 4], p[7 * i + 5], p[7 * i + 6]] : undefined;
    }

    /** Prizes that lie in the chute, let go. */
    private collect(): void {
        for (const name of Object.keys(PRIZES)) {
            const p = this.placeOf(name);
            if (p && !this.won.has(name) && p[2] < LIFTED && Math.hypot(p[0] - CHUTE.x, p[1] - CHUTE.y) < CHUTE.radius + 0.03) {
                this.won.add(name);
                this.score += PRIZES[name];
                this.showScore();
                this.notice(`${t("won")} ${word(name)}!`);
                [523, 659, 784].forEach((hertz, i) => setTimeout(() => this.beep(hertz, 0.25), 110 * i));
            }
        }
        const isOver = this.tries === 0 || this.won.size === Object.keys(PRIZES).length;
        if (isOver && this.phase === "free" && !this.ended) {
            this.ended = true;
            this.root.append(make("div", { class: "end", role: "dialog", "aria-label": t("gameOver") }, make("h2", {}, t("gameOver")), make("b", {}, String(this.score)),
                make("p", {}, [...this.won].map(word).join(" · ")), make("button", { type: "button", class: "strong", click: this.again }, t("newGame"))));
        }
    }

    /** A ring below the claws, the chute, and where the claws are. */
    private signs(): void {
        const crab = this.placeOf("crab") ?? [this.target.x, this.target.y, 0], ring = (x: number, y: number, r: number): [number, number, number][] =>
            Array.from({ length: 33 }, (_, i) => [x + r * Math.cos((i * Math.PI) / 16), y + r * Math.sin((i * Math.PI) / 16), TABLE]);
        this.draw([{ kind: "line", points: ring(crab[0], crab[1], 0.05), color: "#f08c00" }, { kind: "line", points: ring(crab[0], crab[1], 0.012), color: "#f08c00" },
            { kind: "polygon", points: ring(CHUTE.x, CHUTE.y, CHUTE.radius), color: "#f5c518" }, { kind: "line", points: ring(CHUTE.x, CHUTE.y, CHUTE.radius), color: "#f5c518" }]);
    }

    private bodyHeight(name: string): number {
        const i = this.description.bodies.findIndex((b) => b.name === name);
        return this.frame && i >= 0 ? this.frame.poses[7 * i + 6] : 0;
    }

    /** Height of the highest prize that is off the table. */
    lifted(): string { return Object.keys(PRIZES).find((p) => this.bodyHeight(p) > LIFTED) ?? ""; }

    update(frame: Frame): void {
        this.frame = frame;
        const i = this.description.bodies.findIndex((b) => b.joint?.name === "rail_z");
        this.z = i >= 0 ? frame.q[this.description.bodies[i].joint!.q] : 0;
        const now = this.lifted();
        if (this.phase === "carry" && this.hadLifted && !now) {
            this.notice(t("lost"));
            this.beep(165, 0.4);
            this.hadLifted = "";
        }
        if (this.phase === "carry" && now && !this.hadLifted) {
            this.hadLifted = this.best = now;
            this.beep(523, 0.2);
        }
        this.collect();
        this.signs();
        this.tick(frame);
    }

    private move(seconds: number): void {
        // a tap is a small step, also where few pictures a second are drawn: the carriage takes its time to get going
        this.going = this.held.size + this.tapped.size > 0 ? this.going + seconds : 0;
        const step = SPEED * Math.min(1, 0.1 + this.going / 0.6) * seconds;
        const goes = (key: string) => (this.held.has(key) || this.tapped.has(key) ? step : 0);
        const along = (plus: string, minus: string) => goes(plus) - goes(minus);
        this.target.x = Math.max(-0.55, Math.min(0.55, this.target.x + along("ArrowRight", "ArrowLeft")));
        this.target.y = Math.max(-0.4, Math.min(0.4, this.target.y + (this.fast || this.isJerky ? this.jerked(seconds, along("ArrowUp", "ArrowDown")) : along("ArrowUp", "ArrowDown"))));
        this.tapped.clear();
    }

    private jerked(seconds: number, way: number): number {
        const wanted = JERK * Math.sign(way), change = JERK_ACCELERATION * seconds;
        this.rush += Math.max(-change, Math.min(change, wanted - this.rush));
        return this.rush * seconds;
    }

    /** By the simulation's clock, so that a slow machine plays the same game more slowly. */
    private tick(frame: Frame): void {
        const seconds = Math.min(0.1, frame.time - this.clock);
        this.clock = frame.time;
        if (frame.paused || frame.replays || !(seconds > 0)) {
            return;
        }
        this.since += seconds;
        this.act(seconds);
        const { x, y, z, claw } = this.target;
        const values = [...frame.control];
        values[this.index.rail_x] = x;
        values[this.index.rail_y] = y;
        values[this.index.rail_z] = z;
        values[this.index.left_claw] = values[this.index.right_claw] = claw;
        this.send({ do: "controls", values });
    }

    private act(seconds: number): void {
        const lowest = -0.315;
        switch (this.phase) {
        case "free": this.move(seconds); this.target.claw = OPEN; break;
        case "down":
            this.target.z = Math.max(lowest, this.target.z - 0.25 * seconds);
            if (this.target.z <= lowest && this.since > 0.3 && Math.abs(this.z - this.target.z) < 0.02) {
                this.go("close");
            }
            break;
        case "close":
            this.target.claw = Math.min(CLOSED, this.target.claw + 2 * seconds);
            if (this.since > 0.9) {
                this.go("up");
            }
            break;
        case "up":
            this.target.z = Math.min(TOP, this.target.z + 0.18 * seconds);
            if (this.target.z >= TOP && this.since > 0.5) {
                this.hadLifted = "";
                this.go("carry");
            }
            break;
        case "carry": this.move(seconds); break;
        case "open":
            this.target.claw = Math.max(OPEN, this.target.claw - 2 * seconds);
            if (this.since > 0.8) {
                this.go("free");
            }
            break;
        }
    }

    /** the prize that was lifted in this try */
    get lift(): string { return this.best; }
    get state(): string { return this.phase; }
}
