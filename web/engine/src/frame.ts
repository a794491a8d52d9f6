// A frame (kk_view_frame) as typed arrays over its bytes; nothing is copied.

const MAGIC = 0x31464b4b;
const HEADER = 160;
export const CONTACT_NUMBERS = 16;

export class Frame {
    readonly time: number;
    readonly step: number;
    readonly generation: number;
    readonly notice: number;
    readonly paused: boolean;
    readonly failed: boolean;
    readonly replays: boolean;
    readonly differs: boolean;
    /** steps that can be gone back to */
    readonly oldest: number;
    readonly newest: number;
    /** of the state, 16 hexadecimal digits */
    readonly hash: string;
    readonly residual: number;
    readonly penetration: number;
    readonly kinetic: number;
    readonly potential: number;
    readonly sweeps: number;
    readonly newton: number;
    readonly com: Float32Array;
    /** NaN: none */
    readonly zmp: Float32Array;
    readonly timestep: number;
    readonly speed: number;
    readonly contactCount: number;
    /** seven a body: w, x, y, z, px, py, pz */
    readonly poses: Float32Array;
    /** sixteen a contact: position, normal, force, gap, friction, two bodies, two shapes, sliding speed */
    readonly contacts: Float32Array;
    readonly q: Float32Array;
    readonly v: Float32Array;
    readonly torque: Float32Array;
    readonly control: Float32Array;
    readonly sensorData: Float32Array;
    /** six a body: moment, force of its joint, in the body's frame */
    readonly wrenches: Float32Array;

    constructor(readonly bytes: ArrayBuffer) {
        const view = new DataView(bytes);
        if (bytes.byteLength < HEADER || view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== bytes.byteLength) {
            throw new Error("these bytes are not a frame");
        }
        const u = (at: number) => view.getUint32(at, true);
        const f = (at: number) => view.getFloat32(at, true);
        this.time = view.getFloat64(8, true);
        this.step = view.getFloat64(16, true);
        this.generation = u(24);
        this.notice = u(28);
        const flags = u(32);
        this.paused = (flags & 1) !== 0;
        this.failed = (flags & 2) !== 0;
        this.replays = (flags & 4) !== 0;
        this.differs = (flags & 8) !== 0;
        const [nbody, ncontact, nq, nv, nactuator, nsensordata] = [36, 40, 44, 48, 52, 56].map(u);
        this.oldest = view.getFloat64(64, true);
        this.newest = view.getFloat64(72, true);
        this.hash = view.getBigUint64(80, true).toString(16).padStart(16, "0");
        [this.residual, this.penetration, this.kinetic, this.potential] = [88, 92, 96, 100].map(f);
        this.sweeps = u(104);
        this.newton = u(108);
        this.com = new Float32Array(bytes, 120, 3);
        this.zmp = new Float32Array(bytes, 132, 3);
        this.timestep = f(144);
        this.speed = f(148);
        this.contactCount = ncontact;
        let at = HEADER;
        const take = (count: number) => {
            const array = new Float32Array(bytes, at, count);
            at += 4 * count;
            return array;
        };
        this.poses = take(7 * nbody);
        this.contacts = take(CONTACT_NUMBERS * ncontact);
        this.q = take(nq);
        this.v = take(nv);
        this.torque = take(nv);
        this.control = take(nactuator);
        this.sensorData = take(nsensordata);
        this.wrenches = take(6 * nbody);
    }
}
