// A table of controls, played by the simulation's clock: the same CSV file as `karakuri run --control`. A column time, and one for each
// actuator, named by it or by its joint; straight lines between the rows, the last one for ever.
import type { Description, Session } from "karakuri-dynamics";

export class Motion {
    private readonly rows: number[][];
    /** columns of the table and the actuators they drive */
    private readonly columns: [number, number][] = [];
    private at = 0;

    constructor(text: string, description: Description) {
        const lines = text.split(/\r?\n/).filter((line) => line.trim() && !line.startsWith("#"));
        const names = (lines[0] ?? "").split(",").map((name) => name.trim().replace(/ *\[.*\]$/, "").replace(/\.(q|control)$/, ""));
        this.rows = lines.slice(1).map((line) => line.split(",").map(Number));
        description.actuators.forEach((a, i) => {
            const column = names.findIndex((name) => name && (name === a.name || name === a.target));
            if (column > 0) {
                this.columns.push([column, i]);
            }
        });
        if (names[0] !== "time" || this.columns.length === 0 || this.rows.some((row) => row.length < names.length || row.some(Number.isNaN))) {
            throw new Error("the table of controls needs a column time, one named like an actuator, and numbers in all rows");
        }
    }

    /** Sets the controls of the step that begins now. */
    act(session: Session): void {
        const { rows } = this, { time, control } = session;
        if (time < rows[this.at][0]) {
            this.at = 0;
        }
        while (this.at + 1 < rows.length && rows[this.at + 1][0] <= time) {
            this.at++;
        }
        const from = rows[this.at], to = rows[Math.min(this.at + 1, rows.length - 1)];
        const share = to[0] > from[0] ? Math.max(0, (time - from[0]) / (to[0] - from[0])) : 0;
        for (const [column, actuator] of this.columns) {
            control[actuator] = from[column] + share * (to[column] - from[column]);
        }
    }
}
