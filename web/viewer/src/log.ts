// The frames that were shown, so that any signal can be drawn from its beginning, whenever it is chosen, and another future can be compared with
// the one that was left. When they need too much memory every second one is given up, the oldest first.
import type { Frame } from "karakuri-dynamics";

const MOST_BYTES = 96e6;

export class FrameLog {
    private list: Frame[] = [];
    private bytes = 0;
    /** what was left at the last fork */
    ghost: Frame[] = [];
    /** grows whenever anything changed */
    version = 0;
    /** grows when more than the end changed */
    epoch = 0;

    get frames(): readonly Frame[] { return this.list; }

    clear(): void {
        this.list = [];
        this.ghost = [];
        this.bytes = 0;
        this.version++;
        this.epoch++;
    }

    /** Index of the first frame at or behind a step. */
    private place(step: number): number {
        let [low, high] = [0, this.list.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            this.list[middle].step < step ? (low = middle + 1) : (high = middle);
        }
        return low;
    }

    add(frame: Frame): void {
        const last = this.list[this.list.length - 1];
        if (last && frame.newest < last.step) { // another future: what lay behind is kept for comparison
            this.cut(frame.newest);
        }
        const at = this.place(frame.step);
        if (this.list[at]?.step === frame.step) {
            const isSame = this.list[at].hash === frame.hash && this.list[at].contactCount === frame.contactCount;
            this.bytes += frame.bytes.byteLength - this.list[at].bytes.byteLength;
            this.list[at] = frame;
            if (!isSame) {
                this.version++;
                this.epoch++;
            }
            return;
        }
        this.epoch += at < this.list.length ? 1 : 0;
        this.list.splice(at, 0, frame);
        this.bytes += frame.bytes.byteLength;
        this.version++;
        if (this.bytes > MOST_BYTES) {
            this.thin();
        }
    }

    private cut(step: number): void {
        const at = this.place(step + 1);
        this.ghost = this.list.slice(Math.max(0, at - 1));
        this.list.length = at;
        this.epoch++;
        this.bytes = this.list.reduce((sum, f) => sum + f.bytes.byteLength, 0);
    }

    private thin(): void {
        this.epoch++;
        const half = this.list.length >> 1;
        this.list = this.list.filter((_, i) => i > half || i % 2 === 0);
        this.bytes = this.list.reduce((sum, f) => sum + f.bytes.byteLength, 0);
    }

    /** The frame nearest to a time. */
    at(time: number, list: readonly Frame[] = this.list): Frame | undefined {
        let [low, high] = [0, list.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            list[middle].time < time ? (low = middle + 1) : (high = middle);
        }
        const [before, after] = [list[low - 1], list[low]];
        return before && (!after || time - before.time < after.time - time) ? before : after;
    }
}
