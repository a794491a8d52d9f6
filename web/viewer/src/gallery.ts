// Demonstrations with pictures, and the first word to somebody new.
import { DEMOS } from "./demos.js";
import { $, button, make } from "./dom.js";
import { isJapanese, t } from "./words.js";

const PICTURES = import.meta.glob("../pictures/*.jpg", { query: "?url", import: "default", eager: true }) as Record<string, string>;

export function openGallery(load: (id: string) => void): void {
    const dialog = $<HTMLDialogElement>("gallery"), language = isJapanese() ? 1 : 0;
    const cards = DEMOS.map((demo) => make("button", { type: "button", "data-demo": demo.id, click: () => { dialog.close(); load(demo.id); } },
        make("img", { src: PICTURES[`../pictures/${demo.id}.jpg`] ?? "data:,", alt: "", loading: "lazy", width: "320", height: "200" }),
        make("span", {}, demo.name[language], demo.about ? make("small", {}, demo.about[language]) : undefined)));
    dialog.replaceChildren(make("h2", {}, t("demos")), make("div", { class: "cards" }, ...cards), make("p", {}, t("drop")), make("div", { class: "row" }, button("close", () => dialog.close())));
    dialog.showModal();
}

const GESTURES = [["turnHint", "M22 6a16 16 0 1 1-15 11M7 8v9h9"], ["pullHint", "M6 34c6-10 10 6 16-4s10 2 16-10M32 12l7 8 M38 20l2-9"], ["dropHint", "M22 6v22M13 20l9 9 9-9M6 36h32"]] as const;

/** Three gestures, once. */
export function showHint(): void {
    const hint = $("hint");
    if (localStorage.getItem("hinted") || new URLSearchParams(location.search).has("plain")) {
        return;
    }
    const end = () => { hint.hidden = true; localStorage.setItem("hinted", "1"); };
    hint.replaceChildren(make("ol", {}, ...GESTURES.map(([word, path]) => {
        const item = make("li", {}, t(word));
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        svg.setAttribute("viewBox", "0 0 44 44");
        svg.innerHTML = `<path d="${path}"/>`;
        item.prepend(svg);
        return item;
    })), make("div", { class: "row" }, button("gotIt", end, { class: "strong" })));
    hint.hidden = false;
}
