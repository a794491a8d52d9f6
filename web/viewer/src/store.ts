// What the page knows, in one place. Parts of the page change it by set() and hear of changes by on(); none of them knows another.
import type { Description, Frame } from "karakuri-dynamics";
import type { Picture } from "./source.js";

export type Tool = "look" | "hand" | "build";

export interface State {
    /** the model with its meshes, and its description, which changes with every edit */
    picture: Picture | undefined;
    description: Description | undefined;
    frame: Frame | undefined;
    realTime: number;
    /** body; −1: none */
    selected: number;
    /** one shape of it that is edited; −1: none */
    shape: number;
    tool: Tool;
    isDark: boolean;
    /** the demonstration that is shown, "" for files of the user */
    demo: string;
    isLoading: boolean;
    /** a server or worker answers */
    isAlive: boolean;
}

type Listener = (state: Readonly<State>) => void;

export class Store {
    readonly state: State = {
        picture: undefined, description: undefined, frame: undefined, realTime: 0, selected: -1, shape: -1, tool: "look", isDark: false, demo: "", isLoading: false, isAlive: true,
    };
    private readonly listeners = new Map<keyof State, Set<Listener>>();

    set(change: Partial<State>): void {
        const changed = (Object.keys(change) as (keyof State)[]).filter((key) => this.state[key] !== change[key]);
        Object.assign(this.state, change);
        new Set(changed.flatMap((key) => [...(this.listeners.get(key) ?? [])])).forEach((tell) => tell(this.state));
    }

    /** Calls after a change of any of these members. */
    on(keys: (keyof State)[], tell: Listener): void {
        keys.forEach((key) => this.listeners.set(key, (this.listeners.get(key) ?? new Set()).add(tell)));
    }
}
