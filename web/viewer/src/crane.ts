// The crane game: a crab on three rails, two claws, prizes. The box is held by friction, the heart by its hollow; a jerk drops them.
import type { Command, Description, Frame } from "karakuri-dynamics";
import { t } from "./words.js";

type Phase = "free" | "down" | "close" | "up" | "carry" | "open";

const OPEN = -0.55;
const CLOSED = 0.35;
const TOP = 0.05;
const SPEED = 0.35;
/** with shift: too fast for what is only held by friction */
const JERK = 2.4;
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
    readonly won = new Set<string>();
    score = 0;
    private readonly abort = new AbortController();

    constructor(private readonly root: HTMLElement, private readonly description: Description, private readonly send: (command: Command | Command[]) => void,
        private readonly notice: (text: string) => void, private readonly again: () => void = () => undefined) {
        void this.again;
        description.actuators.forEach((a, i) => { this.index[a.name ?? ""] = i; });
        this.build();
        const signal = this.abort.signal;
        addEventListener("keydown", (e) => this.key(e, true), { signal });
        addEventListener("keyup", (e) => this.key(e, false), { signal });
        addEventListener("blur", () => this.held.clear(), { signal });
    }

    destroy(): void {
        this.abort.abort();
        this.root.replaceChildren();
        this.root.hidden = true;
        document.body.classList.remove("game");
    }

    private build(): void {
        this.root.hidden = false;
        document.body.classList.add("game");
        this.root.innerHTML = `<div class="score"></div><div class="hint"></div><div class="pad">
            <button data-key="ArrowLeft">←</button><button data-key="ArrowUp">↑</button><button data-key=" " class="grab">${t("grab")}</button><button data-key="ArrowDown">↓</button><button data-key="ArrowRight">→</button>
            <button class="fast" title="${t("jerk")}" aria-label="${t("jerk")}">⚡</button></div>`;
        this.root.querySelector(".hint")!.textContent = t("craneHelp");
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
            if (this.phase === "free") {
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

    private showScore(): void { this.root.querySelector(".score")!.textContent = `${t("score")} ${this.score}`; }

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
            this.hadLifted = "";
        }
        if (this.phase === "carry" && now && !this.hadLifted) {
            this.hadLifted = now;
            if (!this.won.has(now)) {
                this.won.add(now);
                this.score += PRIZES[now];
                this.showScore();
                this.notice(`${t("won")} ${now}!`);
            }
        }
        this.tick(frame);
    }

    private move(seconds: number): void {
        // a tap is a small step, also where few pictures a second are drawn: the carriage takes its time to get going
        this.going = this.held.size + this.tapped.size > 0 ? this.going + seconds : 0;
        const step = (this.fast || this.isJerky ? JERK : SPEED * Math.min(1, 0.1 + this.going / 0.6)) * seconds;
        const goes = (key: string) => (this.held.has(key) || this.tapped.has(key) ? step : 0);
        const along = (plus: string, minus: string) => goes(plus) - goes(minus);
        this.target.x = Math.max(-0.55, Math.min(0.55, this.target.x + along("ArrowRight", "ArrowLeft")));
        this.target.y = Math.max(-0.4, Math.min(0.4, this.target.y + along("ArrowUp", "ArrowDown")));
        this.tapped.clear();
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

    get state(): string { return this.phase; }
}
