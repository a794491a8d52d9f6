// An address that shows the same scene elsewhere: #demo?t=1.2&camera=x,y,z,x,y,z&p=…, and the parameters that were changed. `embed` leaves the picture alone.
import type { Command } from "karakuri-dynamics";

type Six = [number, number, number, number, number, number];

export interface Address {
    demo: string;
    /** s; to go to when it has been simulated */
    time?: number;
    /** where to stand and what to look at */
    camera?: Six;
    commands: Command[];
    isEmbedded: boolean;
    isPaused: boolean;
}

export function readAddress(hash = location.hash): Address {
    const [name, query] = hash.replace(/^#/, "").split("?");
    const parts = name.split("&"), values = new URLSearchParams([query ?? "", ...parts.slice(1)].join("&"));
    const camera = values.get("camera")?.split(",").map(Number);
    const time = Number(values.get("t"));
    let commands: Command[] = [];
    try {
        commands = (JSON.parse(values.get("p") ?? "[]") as Command[]).filter((c) => c.do === "edit"); // numbers only: nothing that acts
    } catch { /* an address that was cut: the scene as it is */ }
    const isEmbedded = values.has("embed") || parts[0] === "embed" || new URLSearchParams(location.search).has("embed");
    return { demo: parts[0] === "embed" ? values.get("scene") ?? "" : parts[0], time: time > 0 ? time : undefined, camera: camera?.length === 6 && camera.every(Number.isFinite) ? camera as Six : undefined, commands, isEmbedded,
        isPaused: values.has("paused") };
}

export function addressOf(a: { demo: string; time: number; camera: Six; commands: Command[] }): string {
    const query = new URLSearchParams({ t: a.time.toFixed(3), camera: a.camera.map((x) => Number(x.toPrecision(4))).join(",") });
    a.commands.length && query.set("p", JSON.stringify(a.commands));
    return `${location.origin}${location.pathname}#${a.demo}?${query}`;
}
