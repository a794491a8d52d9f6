// Small pictures on buttons.
import { $ } from "./dom.js";

const ICONS = {
    play: "M4 2l10 6-10 6z", pause: "M3 2h4v12H3zM9 2h4v12H9z", step: "M2 2l8 6-8 6zM11 2h3v12h-3z", reset: "M8 3V0L3 4l5 4V5a4 4 0 1 1-4 4H2a6 6 0 1 0 6-6z",
    shot: "M5 3l1-2h4l1 2h4v11H1V3zm3 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z", film: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z", stop: "M3 3h10v10H3z",
    look: "M8 3C4.500 3 1.700 5.200.500 8c1.200 2.800 4 5 7.500 5s6.300-2.200 7.500-5C14.300 5.200 11.500 3 8 3zm0 8.200a3.200 3.200 0 1 1 0-6.400 3.200 3.200 0 0 1 0 6.400zm0-1.700a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3z",
    hand: "M6.500 1a1 1 0 0 1 1 1v5h.500V1.500a1 1 0 0 1 2 0V7h.500V2.500a1 1 0 0 1 2 0V9h.500V5a1 1 0 0 1 2 0v5.500c0 3-2 5-5 5-2.300 0-3.600-1-4.800-3L2.600 8.300c-.600-1 .700-2 1.500-1.200L5.500 8.600V2a1 1 0 0 1 1-1z",
    build: "M8 .500l6.500 3.500v8L8 15.500 1.500 12V4zm0 1.800L4.200 4.400 8 6.500l3.800-2.100zM3 5.700v5.400l4.300 2.300V8zm10 0L8.700 8v5.400L13 11.100z",
    share: "M12 1a2.500 2.500 0 1 1-1.900 4.100L6 7.300a2.500 2.500 0 0 1 0 1.400l4.100 2.200A2.500 2.500 0 1 1 9.500 12L5.400 9.900a2.500 2.500 0 1 1 0-3.800L9.500 4A2.500 2.500 0 0 1 12 1z",
};
export type Icon = keyof typeof ICONS;

export function setIcon(element: HTMLElement | string, icon: Icon): void {
    const button = typeof element === "string" ? $(element) : element;
    if (button.dataset.icon !== icon) {
        button.dataset.icon = icon;
        button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[icon]}"/></svg>`;
    }
}
