// A paused robot posed by its hand or foot: cyclic coordinate descent (Wang and Chen 1991) along the chain from what is pulled to the world; a free base
// goes along where the chain has no joint at all.
import * as THREE from "three";
import type { Description, Frame } from "karakuri-dynamics";

const SWEEPS = 12;

interface Link { q: number; type: string; lower: number; upper: number; anchor: THREE.Vector3; axis: THREE.Vector3; body: number }

export class Posing {
    private readonly q: number[];
    private readonly links: Link[] = [];
    private point: THREE.Vector3;
    private readonly base: { q: number } | undefined;

    constructor(d: Description, f: Frame, body: number, local: THREE.Vector3) {
        this.q = [...f.q];
        const poseOf = (i: number) => {
            const p = f.poses.subarray(7 * i, 7 * i + 7);
            return new THREE.Matrix4().compose(new THREE.Vector3(p[4], p[5], p[6]), new THREE.Quaternion(p[1], p[2], p[3], p[0]), new THREE.Vector3(1, 1, 1));
        };
        this.point = local.clone().applyMatrix4(poseOf(body));
        for (let i = body; i > 0; i = d.bodies[i].parent) {
            const j = d.bodies[i].joint;
            if (j && (j.type === "hinge" || j.type === "slide")) {
                const o = j.offset, inverse = new THREE.Matrix4().compose(new THREE.Vector3(o[4], o[5], o[6]), new THREE.Quaternion(o[1], o[2], o[3], o[0]), new THREE.Vector3(1, 1, 1)).invert();
                const frame = poseOf(i).multiply(inverse), reach = j.type === "hinge" ? Infinity : 10;
                this.links.push({ q: j.q, type: j.type, lower: j.dofs[0].lower ?? -reach, upper: j.dofs[0].upper ?? reach, body: i,
                    anchor: new THREE.Vector3().setFromMatrixPosition(frame), axis: new THREE.Vector3(...j.axis).transformDirection(frame) });
            } else if (j?.type === "free") {
                this.base = { q: j.q };
            }
        }
    }

    /** Coordinates with which the point is as near to a place as the joints allow. */
    toward(target: THREE.Vector3): number[] {
        if (this.links.length === 0 && this.base) {
            const step = target.clone().sub(this.point);
            [step.x, step.y, step.z].forEach((x, k) => { this.q[this.base!.q + 4 + k] += x; });
            this.point.copy(target);
            return this.q;
        }
        for (let sweep = 0; sweep < SWEEPS && this.point.distanceTo(target) > 1e-5; sweep++) {
            this.links.forEach((link, k) => this.turn(link, k, target));
        }
        return this.q;
    }

    private turn(link: Link, index: number, target: THREE.Vector3): void {
        const { axis, anchor } = link;
        const flat = (p: THREE.Vector3) => p.clone().sub(anchor).projectOnPlane(axis);
        const [a, b] = [flat(this.point), flat(target)];
        const wanted = link.type === "slide" ? target.clone().sub(this.point).dot(axis) : Math.atan2(a.clone().cross(b).dot(axis), a.dot(b));
        const next = Math.min(link.upper, Math.max(link.lower, this.q[link.q] + 0.6 * wanted)), step = next - this.q[link.q];
        if (!(Math.abs(step) > 1e-9)) {
            return;
        }
        this.q[link.q] = next;
        const shift = (p: THREE.Vector3) => (link.type === "slide" ? p.addScaledVector(axis, step) : p.sub(anchor).applyAxisAngle(axis, step).add(anchor));
        shift(this.point);
        this.links.slice(0, index).forEach((other) => { // what hangs on this joint goes along
            shift(other.anchor);
            link.type === "hinge" && other.axis.applyAxisAngle(axis, step);
        });
    }
}
