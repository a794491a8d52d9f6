// How a scene gets into the page: a demonstration by its name, files that are dropped or chosen, those of last time, a shared address.
import type { Command, Description, LoadOptions } from "karakuri-dynamics";
import { readAddress } from "./address.js";
import { DEMOS } from "./demos.js";
import { $ } from "./dom.js";
import { filesOfDrop, filesOfInput, sortOut, type Dropped } from "./files.js";
import { keepFiles, keptFiles } from "./keep.js";
import type { LoadRequest, WorkerSource } from "./source.js";
import type { Store } from "./store.js";
import { toast } from "./toasts.js";
import { t } from "./words.js";

const STANDING: LoadOptions = { floor: true, actuators: true, clean: true, place: true, repair: true };

/** What a file of parameters holds; anything else is told and left out. */
function readParameters(text: string | undefined): { commands?: Command[]; script?: string } {
    if (!text) {
        return {};
    }
    try {
        const saved = JSON.parse(text) as { commands: Command[]; script?: string };
        if (Array.isArray(saved.commands)) {
            return { commands: saved.commands, script: typeof saved.script === "string" ? saved.script : undefined };
        }
    } catch { /* the same word as for other things */ }
    toast(t("noParameters"), "warning");
    return {};
}

export interface Loaded {
    /** to stand in the script's field; what came with a stranger's file waits for consent */
    script: string;
    isOwn: boolean;
    follow: boolean;
}

export class Loading {
    /** files beside the model that is shown, and which of them it is */
    files: Dropped = new Map();
    main = "";
    next: Loaded = { script: "", isOwn: true, follow: false };
    began = 0;
    private last: LoadRequest | undefined;

    constructor(private readonly store: Store, private readonly local: WorkerSource | undefined) {
        if (local) {
            this.setUp();
        }
    }

    load(request: Omit<LoadRequest, "options"> & { options?: LoadOptions }): void {
        this.began = performance.now();
        this.last = { ...request, options: { history: 96e6, ...request.options } };
        this.main = request.main;
        this.store.set({ isLoading: true });
        this.local?.load(this.last);
    }

    /** A robot that lost its meshes has nothing to stand on and would fall for ever: it is held, and drawn by its inertias. */
    standsOnNothing(d: Description): boolean {
        const isBare = !d.shapes.some((s) => s.type !== "plane") && d.bodies.some((b) => b.joint?.type === "free");
        if (!isBare || this.last?.options.base === "fixed" || !this.last || d.bodies.length < 2) {
            return false;
        }
        this.load({ ...this.last, options: { ...this.last.options, base: "fixed" } });
        return true;
    }

    get options(): LoadOptions { return this.last?.options ?? {}; }
    get isLocal(): boolean { return this.local !== undefined; }

    async demo(id: string, commands: Command[] = []): Promise<void> {
        const demo = DEMOS.find((d) => d.id === id) ?? DEMOS[0];
        this.store.set({ demo: demo.id, isLoading: true });
        history.replaceState(null, "", `#${demo.id}`);
        $("models").hidden = true;
        try {
            const { files, main, options, commands: own, script, motion, follow } = await demo.load();
            this.next = { script: script ?? "", isOwn: true, follow: follow ?? false };
            this.files = files;
            this.load({ files, main, options, commands: [...(own ?? []), ...commands], motion, lockstep: demo.id === "crane" });
        } catch (error) {
            this.store.set({ isLoading: false });
            toast(String(error), "error");
        }
    }

    private openModel(main: string, recording?: Uint8Array, parameters?: string, motion?: string): void {
        this.store.set({ demo: "" });
        history.replaceState(null, "", "#file");
        void keepFiles(this.files, main);
        const { commands, script } = readParameters(parameters);
        this.next = { script: script ?? "", isOwn: false, follow: false };
        const isUrdf = /\.(urdf|xacro)$/i.test(main);
        this.load({ files: this.files, main, options: recording ? {} : isUrdf ? STANDING : { repair: true }, recording, commands, motion });
    }

    open(files: Dropped): void {
        const { models, recording, parameters, motion } = sortOut(files);
        if (models.length === 0 && this.files.size > 0) {
            const meshes = [...files.keys()].some((path) => /\.(stl|obj|dae|glb|gltf|ply|msh|png|jpe?g)$/i.test(path));
            if (recording || parameters || motion || (meshes && this.store.state.demo === "")) { // to the model that is there
                this.files = new Map([...this.files, ...files]);
                this.openModel(sortOut(this.files).models[0] ?? this.main, recording, parameters, motion);
                return;
            }
        }
        if (models.length === 0) {
            const names = [...files.keys()].map((path) => path.split("/").pop()).slice(0, 3).join(", ");
            toast(`${names ? `${t("noModel")} ${names}. ` : ""}${t("drop")}`, "warning");
            return;
        }
        if (!motion && [...files.keys()].some((path) => /\.csv$/i.test(path))) {
            toast(t("noTable"), "warning");
        }
        this.files = files;
        this.list(models, models[0]);
        this.openModel(models[0], recording, parameters, motion);
    }

    private list(models: string[], main: string): void {
        const list = $<HTMLSelectElement>("models");
        list.replaceChildren(...models.map((path) => new Option(path.split("/").pop(), path)));
        list.value = main;
        list.hidden = models.length < 2;
        list.onchange = () => this.openModel(list.value);
    }

    /** What the address names: a demonstration, the files of last time, or a scene that was shared. */
    async fromAddress(): Promise<void> {
        const { demo, commands } = readAddress();
        const kept = demo === "file" ? await keptFiles() : undefined;
        if (kept) {
            this.files = kept.files;
            this.list(sortOut(kept.files).models, kept.main);
            this.openModel(kept.main);
        } else {
            await this.demo(demo || "stand", commands);
        }
    }

    private setUp(): void {
        const [file, folder] = [$<HTMLInputElement>("fileInput"), $<HTMLInputElement>("folderInput")];
        $("open").onclick = () => file.click();
        $("openFolder").onclick = () => folder.click();
        for (const input of [file, folder]) {
            input.onchange = async () => {
                if (input.files) {
                    const files = await filesOfInput(input.files);
                    input.value = "";
                    this.open(files);
                }
            };
        }
        const isFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") ?? false;
        addEventListener("dragover", (e) => { isFiles(e) && (e.preventDefault(), $("dropHint").hidden = false); });
        addEventListener("dragleave", (e) => { $("dropHint").hidden ||= e.relatedTarget === null; });
        addEventListener("drop", async (e) => {
            $("dropHint").hidden = true;
            if (!isFiles(e)) {
                return;
            }
            e.preventDefault();
            this.store.set({ isLoading: true });
            try {
                e.dataTransfer && this.open(await filesOfDrop(e.dataTransfer));
            } catch (error) {
                this.store.set({ isLoading: false });
                toast(String(error), "error");
            }
        });
        addEventListener("hashchange", () => { readAddress().demo !== this.store.state.demo && void this.fromAddress(); });
    }
}
