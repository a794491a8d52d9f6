// A few words for making elements.
import { t, type Word } from "./words.js";

export const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

type Part = Node | string | undefined | false;

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string | boolean | ((event: Event) => void)> = {}, ...parts: Part[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(name, value);
        } else if (value === true) {
            element.setAttribute(name, "");
        } else if (value !== false) {
            element.setAttribute(name, value);
        }
    }
    element.append(...parts.filter((p): p is Node | string => Boolean(p)));
    return element;
}

export const button = (word: Word, click: () => void, attributes: Record<string, string> = {}) => make("button", { type: "button", ...attributes, click }, t(word));

/** A number with its name. Enter or leaving the field sets it. */
export function numberField(label: string, value: number, change: (value: number) => void, step = "any", unit = ""): HTMLElement {
    const input = make("input", { type: "number", step, value: String(Number(value.toPrecision(6))), "aria-label": `${label} ${unit}`.trim() });
    input.onchange = () => Number.isFinite(input.valueAsNumber) && change(input.valueAsNumber);
    return make("label", { class: "field" }, make("span", {}, label), input, unit ? make("em", {}, unit) : undefined);
}

export function choice<T extends string>(label: string, value: T, options: readonly (readonly [T, string])[], change: (value: T) => void): HTMLElement {
    const select = make("select", { "aria-label": label }, ...options.map(([id, text]) => new Option(text, id, false, id === value)));
    select.onchange = () => change(select.value as T);
    return make("label", { class: "field" }, make("span", {}, label), select);
}

export function tick(label: string, on: boolean, change: (on: boolean) => void): HTMLElement {
    const box = make("input", { type: "checkbox" });
    box.checked = on;
    box.onchange = () => change(box.checked);
    return make("label", { class: "tick" }, box, label);
}

export function section(title: string, ...parts: Part[]): HTMLElement { return make("section", { class: "group" }, make("h2", {}, title), ...parts); }

/** A number for people: SI prefixes, three digits; 1e-13 stays what it is. */
export function si(x: number, unit = ""): string {
    if (!Number.isFinite(x)) {
        return "–";
    }
    const size = Math.abs(x);
    if (x === 0) {
        return unit ? `0 ${unit}` : "0";
    }
    if (size < 1e-9 || size >= 1e12) {
        return `${x.toExponential(1)}${unit ? ` ${unit}` : ""}`;
    }
    if (unit === "kg") {
        return size < 0.1 ? si(1000 * x, "g") : `${Number(x.toPrecision(3))} kg`;
    }
    const at = Math.min(3, Math.max(-3, Math.floor(Math.log10(size * 1.0005) / 3)));
    const isPlain = unit === "" || unit === "rad" || unit === "1";
    const prefix = isPlain ? "" : ["n", "µ", "m", "", "k", "M", "G"][at + 3];
    const value = isPlain ? x : x / 1000 ** at;
    const text = isPlain && (size < 1e-3 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
    return unit ? `${text} ${prefix}${unit}` : text;
}
