// The field for behavior scripts, their sliders, and the question before those of somebody else's file run.
import type { Description } from "karakuri-dynamics";
import { $, button, make } from "./dom.js";
import type { Parameter, ScriptFile } from "./script.js";
import type { WorkerSource } from "./source.js";
import { isJapanese, t } from "./words.js";

function example(d: Description): string {
    const a = d.actuators.find((x) => x.type === "position") ?? d.actuators[0], name = a?.name || a?.target;
    const head = isJapanese() ? "// 毎ステップの前に実行されます。\n// robot.time, q, v, control, sensor,\n// robot.pose(剛体), robot.push(剛体, 力),\n// robot.param(名前, 値, 下限, 上限),\n// robot.draw.line/cone/text/polygon\n// memory は次のステップまで残ります。\n"
        : "// Runs before every step. There are\n// robot.time, q, v, control, sensor,\n// robot.pose(body), robot.push(body, force),\n// robot.param(name, value, lower, upper),\n// robot.draw.line/cone/text/polygon;\n// memory stays from step to step.\n";
    return `${head}const gain = robot.param("gain", 0.3, 0, 1);\n${a ? `robot.control["${name}"] =\n  gain * Math.sin(2 * robot.time);` : `robot.push("${d.bodies[1]?.name ?? ""}", [0, 0, gain]);`}\n`;
}

export class ScriptPane {
    /** the scripts of the scene; the one without a name runs */
    private files: ScriptFile[] = [{ name: "", text: "" }];
    private at = 0;
    private parameters: Parameter[] = [];
    isRunning = false;
    /** saved with the scene */
    changed: () => void = () => undefined;

    constructor(private readonly local: WorkerSource | undefined) {
        $("scriptRun").onclick = () => this.run();
        $("scriptStop").onclick = () => this.stop();
        $<HTMLTextAreaElement>("scriptText").oninput = () => { this.files[this.at].text = this.text; };
        $<HTMLSelectElement>("scriptFile").onchange = (e) => this.open(Number((e.target as HTMLSelectElement).value));
        $("scriptAdd").onclick = () => {
            this.files.push({ name: `module${this.files.length}.js`, text: "export const k = 1;\n" });
            this.open(this.files.length - 1);
        };
    }

    get text(): string { return $<HTMLTextAreaElement>("scriptText").value; }
    get main(): string { return this.files[0].text; }

    private open(at: number): void {
        this.at = at;
        $("scriptFile").replaceChildren(...this.files.map((f, i) => new Option(f.name || t("mainScript"), String(i), false, i === at)));
        $<HTMLTextAreaElement>("scriptText").value = this.files[at].text;
    }

    /** Another model. What its file brought runs at once where the page made it, else when it is allowed. */
    show(d: Description, text: string, isOwn: boolean, stuck: string): void {
        const own = d.scripts.filter((s) => s.text.trim()).map((s) => ({ name: s.name ?? "", text: s.text }));
        const main = own.find((s) => s.name === "");
        this.files = [{ name: "", text: text || main?.text || example(d) }, ...own.filter((s) => s.name !== "")];
        this.isRunning = false;
        this.open(0);
        $("scriptError").textContent = stuck;
        const consent = $("scriptConsent");
        consent.hidden = true;
        if (!stuck && (main || text) && this.local) {
            if (isOwn) {
                this.run();
            } else {
                consent.hidden = false;
                consent.replaceChildren(t("foreignScript"), make("div", { class: "row" }, button("allow", () => { consent.hidden = true; this.run(); }, { class: "strong" }), button("refuse", () => { consent.hidden = true; })));
                document.querySelector<HTMLElement>("[data-tab=script]")!.click();
            }
        }
        this.showParameters();
    }

    run(): void {
        $("scriptError").textContent = "";
        this.isRunning = true;
        this.local?.script(this.main, this.files.slice(1));
        this.changed();
    }
    stop(): void {
        $("scriptError").textContent = "";
        this.isRunning = false;
        this.local?.script("");
    }

    /** Of the scene, for its file: only those that somebody wrote. */
    saved(): { scripts: ScriptFile[]; parameters: Parameter[] } {
        return { scripts: this.isRunning ? this.files : this.files.slice(1), parameters: this.parameters };
    }

    setParameters(list: Parameter[]): void {
        this.parameters = list;
        this.showParameters();
    }

    private showParameters(): void {
        $("parameters").replaceChildren(...this.parameters.map((p) => {
            const text = make("em", {}, String(p.value)), input = make("input", { type: "range", min: String(p.lower), max: String(p.upper), step: "any", "aria-label": p.name });
            input.value = String(p.value);
            input.oninput = () => {
                p.value = input.valueAsNumber;
                text.textContent = String(Number(p.value.toPrecision(3)));
                this.local?.parameter(p.name, p.value);
            };
            return make("label", { class: "field" }, make("span", {}, p.name), input, text);
        }));
    }
}
