// Words that come and go.
import { $, make } from "./dom.js";
import { say } from "./words.js";

export type Severity = "note" | "warning" | "error";
export const errors: string[] = [];

export function toast(text: string, severity: Severity = "note"): void {
    if (!text) {
        return;
    }
    if (severity === "error") {
        errors.push(text);
    }
    const own = say(text), last = $("toasts").lastElementChild;
    if (last?.textContent === own) {
        return; // said already
    }
    const box = make("div", { class: `toast ${severity}` }, own);
    $("toasts").append(box);
    while ($("toasts").children.length > 4) {
        $("toasts").firstChild!.remove();
    }
    setTimeout(() => box.remove(), severity === "note" ? 3500 : 9000);
}
