// What is drawn over the bodies: contact forces with their friction cones, joint axes, frames, center of mass, ZMP and support polygon,
// inertia ellipsoids, joint forces and moments, fields of view of range sensors, the spring that drags.
import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { Drawing, type Mark } from "./drawing.js";
import { CONTACT_NUMBERS, type Description, type Frame } from "karakuri-dynamics";

export const LAYERS = ["contacts", "cones", "newtons", "joints", "frames", "com", "zmp", "inertia", "wrenches", "sensors", "tendons"] as const;
export type Layer = (typeof LAYERS)[number];

const MOST = 400;
const Z = new THREE.Vector3(0, 0, 1);

/** An arrow of length 1 along z. */
function arrowGeometry(): THREE.BufferGeometry {
    const shaft = new THREE.CylinderGeometry(0.02, 0.02, 0.75, 5, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.375);
    const head = new THREE.ConeGeometry(0.06, 0.25, 7).rotateX(Math.PI / 2).translate(0, 0, 0.875);
    return mergeGeometries([shaft, head])!;
}

/** Signs are seen through bodies, as in pictures by `karakuri render`. */
function instances(geometry: THREE.BufferGeometry, color: number, opacity = 1): THREE.InstancedMesh {
    const material = new THREE.MeshBasicMaterial({ color: color, transparent: true, opacity, depthWrite: false, depthTest: opacity < 1, side: THREE.DoubleSide, toneMapped: false });
    const mesh = new THREE.InstancedMesh(geometry, material, MOST);
    mesh.count = 0;
    mesh.frustumCulled = false;
    mesh.renderOrder = opacity < 1 ? 1 : 2;
    return mesh;
}

/** Whether a body hangs on the world without a joint that moves. */
export function isGround(d: Description, body: number): boolean {
    for (let i = body; i > 0; i = d.bodies[i].parent) {
        if ((d.bodies[i].joint?.nv ?? 0) > 0) {
            return false;
        }
    }
    return true;
}

/** 1 where the force of a contact acts on its second body, −1 on its first: always on what moves, on the second where both do. */
export const sideOf = (d: Description, f: Frame, contact: number): number => (isGround(d, f.contacts[CONTACT_NUMBERS * contact + 12]) ? -1 : 1);

/** Smallest polygon around points in the plane (Andrew's monotone chain). */
export function convexHull(points: [number, number][]): [number, number][] {
    const p = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const half = (list: [number, number][]) => {
        const out: [number, number][] = [];
        for (const c of list) {
            while (out.length >= 2) {
                const [a, b] = [out[out.length - 2], out[out.length - 1]];
                if ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0) {
                    break;
                }
                out.pop();
            }
            out.push(c);
        }
        out.pop();
        return out;
    };
    return p.length < 3 ? p : [...half(p), ...half(p.reverse())];
}

/** Principal axes of a symmetric matrix by Jacobi's rotations: columns and values. */
export function principal(m: readonly number[]): { axes: THREE.Matrix4; values: [number, number, number] } {
    const [xx, yy, zz, xy, xz, yz] = m;
    const a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (let sweep = 0; sweep < 12; sweep++) {
        for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
            if (Math.abs(a[i][j]) < 1e-18) {
                continue;
            }
            const angle = 0.5 * Math.atan2(2 * a[i][j], a[j][j] - a[i][i]);
            const [c, s] = [Math.cos(angle), Math.sin(angle)];
            for (let k = 0; k < 3; k++) {
                [a[k][i], a[k][j]] = [c * a[k][i] - s * a[k][j], s * a[k][i] + c * a[k][j]];
            }
            for (let k = 0; k < 3; k++) {
                [a[i][k], a[j][k]] = [c * a[i][k] - s * a[j][k], s * a[i][k] + c * a[j][k]];
                [v[k][i], v[k][j]] = [c * v[k][i] - s * v[k][j], s * v[k][i] + c * v[k][j]];
            }
        }
    }
    const axes = new THREE.Matrix4().set(v[0][0], v[0][1], v[0][2], 0, v[1][0], v[1][1], v[1][2], 0, v[2][0], v[2][1], v[2][2], 0, 0, 0, 0, 1);
    return { axes, values: [a[0][0], a[1][1], a[2][2]] };
}

export class Overlays {
    readonly group = new THREE.Group();
    readonly on: Record<Layer, boolean> = {
        contacts: true, cones: false, joints: false, frames: false, com: false, zmp: false, inertia: false, wrenches: false, sensors: true, newtons: false, tendons: true,
    };
    /** m a newton; from the model's weight */
    private scale = 0.001;
    private description: Description | undefined;
    private readonly arrows = instances(arrowGeometry(), 0xe03131);
    private readonly cones = instances(new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5), 0xf59f00, 0.18);
    private readonly joints = instances(arrowGeometry(), 0x1971c2);
    private readonly forces = instances(arrowGeometry(), 0x9c36b5);
    private readonly moments = instances(arrowGeometry(), 0x2f9e44);
    private readonly ellipsoids = instances(new THREE.SphereGeometry(1, 24, 16), 0x845ef7, 0.3);
    private readonly views = instances(new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5), 0x15aabf, 0.2);
    private readonly com = new THREE.Mesh(new THREE.SphereGeometry(0.02, 20, 12), new THREE.MeshBasicMaterial({ color: 0xf08c00, depthTest: false }));
    private readonly zmp = new THREE.Mesh(new THREE.CircleGeometry(0.018, 24), new THREE.MeshBasicMaterial({ color: 0xd6336c, depthTest: false }));
    private readonly polygon = new THREE.LineLoop(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xd6336c }));
    private readonly axes: THREE.LineSegments;
    private readonly spring = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
        new THREE.LineBasicMaterial({ color: 0xf08c00, depthTest: false }));
    /** about how large the model is, m: arrows are in proportion */
    size = 1;
    /** boxes of each body's inertia instead of its shapes */
    showsSolids = false;
    /** what a script draws */
    readonly drawn = new Drawing();
    private readonly labels = new Drawing();
    private labelled = 0;
    drag: { body: number; local: THREE.Vector3; target: THREE.Vector3 } | undefined;
    private readonly tendons = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xc2255c, depthTest: false }));
    private ellipsoid: { body: number; matrix: THREE.Matrix4 }[] = [];

    constructor() {
        this.axes = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true }));
        this.com.renderOrder = this.zmp.renderOrder = this.spring.renderOrder = 2;
        [this.axes, this.polygon, this.spring, this.tendons].forEach((o) => { o.frustumCulled = false; });
        this.group.add(this.arrows, this.cones, this.joints, this.forces, this.moments, this.ellipsoids, this.views, this.com, this.zmp,
            this.polygon, this.axes, this.spring, this.tendons, this.drawn.group, this.labels.group);
    }

    show(d: Description): void {
        this.description = d;
        this.scale = (0.7 * this.size) / Math.max(1e-3, 9.81 * d.mass);
        this.ellipsoid = d.bodies.flatMap((b, body) => {
            if (b.mass <= 0) {
                return [];
            }
            // the solid ellipsoid of uniform density with the same inertia
            const { axes, values: [x, y, z] } = principal(b.moment);
            const radius = (value: number) => Math.max(1e-3, Math.sqrt(Math.max(0, (2.5 / b.mass) * value)));
            const matrix = axes.clone().setPosition(b.com[0], b.com[1], b.com[2])
                .scale(new THREE.Vector3(radius(y + z - x), radius(z + x - y), radius(x + y - z)));
            return [{ body, matrix }];
        }).slice(0, MOST);
    }

    private place(mesh: THREE.InstancedMesh, from: THREE.Vector3, along: THREE.Vector3, width: number): void {
        const length = along.length();
        if (mesh.count >= MOST || !(length > 1e-5)) {
            return;
        }
        const turn = new THREE.Quaternion().setFromUnitVectors(Z, along.clone().divideScalar(length));
        mesh.setMatrixAt(mesh.count++, new THREE.Matrix4().compose(from, turn, new THREE.Vector3(width, width, length)));
    }

    /** Short arrows are thin ones: the head keeps its shape. */
    private placeArrow(mesh: THREE.InstancedMesh, from: THREE.Vector3, along: THREE.Vector3, width: number): void {
        this.place(mesh, from, along, Math.min(width, 1.7 * along.length()));
    }

    private matrixOf(f: Frame, body: number): THREE.Matrix4 {
        const p = f.poses.subarray(7 * body, 7 * body + 7);
        return new THREE.Matrix4().compose(new THREE.Vector3(p[4], p[5], p[6]), new THREE.Quaternion(p[1], p[2], p[3], p[0]), new THREE.Vector3(1, 1, 1));
    }

    update(f: Frame): void {
        const d = this.description;
        if (!d || f.poses.length !== 7 * d.bodies.length) {
            return;
        }
        const all = [this.arrows, this.cones, this.joints, this.forces, this.moments, this.ellipsoids, this.views];
        all.forEach((m) => { m.count = 0; });
        this.contacts(f, d);
        this.axesOf(f, d);
        this.wrenches(f, d);
        this.sensors(f, d);
        this.tendonLines(f, d);
        if (this.on.inertia || this.showsSolids) {
            this.ellipsoid.forEach(({ body, matrix }) => this.ellipsoids.setMatrixAt(this.ellipsoids.count++, this.matrixOf(f, body).multiply(matrix)));
        }
        all.forEach((m) => { m.instanceMatrix.needsUpdate = true; });
        this.com.visible = this.on.com;
        this.com.position.fromArray(f.com);
        this.zmpAndSupport(f);
        this.showDrag(f);
    }

    /** Straight at first, then ever slower, so that an impact does not leave the picture. */
    private lengthOf(newtons: number): number {
        const longest = 0.9 * this.size;
        return longest * (1 - Math.exp(-(newtons * this.scale) / longest));
    }

    private contacts(f: Frame, d: Description): void {
        const c = f.contacts;
        const labels: Mark[] = [];
        for (let i = 0; i < f.contactCount; i++) {
            const at = CONTACT_NUMBERS * i;
            const position = new THREE.Vector3(c[at], c[at + 1], c[at + 2]);
            const side = sideOf(d, f, i);
            const newtons = new THREE.Vector3(c[at + 6], c[at + 7], c[at + 8]).multiplyScalar(side);
            const force = newtons.clone().setLength(this.lengthOf(newtons.length()));
            if (this.on.contacts) {
                this.placeArrow(this.arrows, position, force, Math.min(1, 0.25 + force.length()) * 0.5);
            }
            if (this.on.newtons && newtons.length() > 0.02 * 9.81 * d.mass) {
                labels.push({ kind: "text", at: position.clone().add(force).toArray(), text: `${Number(newtons.length().toPrecision(3))} N`, color: "#c92a2a" });
            }
            const length = force.length();
            if (this.on.cones && length > 1e-4) {
                const normal = new THREE.Vector3(c[at + 3], c[at + 4], c[at + 5]).multiplyScalar(side * length);
                this.place(this.cones, position, normal, length * c[at + 10]);
            }
        }
        const now = performance.now();
        if (f.paused || now - this.labelled > 150) {
            this.labelled = now;
            this.labels.show(labels.slice(0, 24));
        }
    }

    private axesOf(f: Frame, d: Description): void {
        const points: number[] = [];
        const colors: number[] = [];
        const add = (m: THREE.Matrix4, size: number) => {
            const e = m.elements;
            for (let k = 0; k < 3; k++) {
                points.push(e[12], e[13], e[14], e[12] + size * e[4 * k], e[13] + size * e[4 * k + 1], e[14] + size * e[4 * k + 2]);
                const rgb = [0.2, 0.2, 0.2];
                rgb[k] = 0.9;
                colors.push(...rgb, ...rgb);
            }
        };
        const size = Math.min(0.12, 0.03 * Math.cbrt(d.mass + 1));
        const poseMatrix = (p: readonly number[]) => new THREE.Matrix4().compose(new THREE.Vector3(p[4], p[5], p[6]), new THREE.Quaternion(p[1], p[2], p[3], p[0]), new THREE.Vector3(1, 1, 1));
        if (this.on.frames) {
            d.bodies.forEach((_, i) => add(this.matrixOf(f, i), size));
            d.frames.forEach((frame) => add(this.matrixOf(f, frame.body).multiply(poseMatrix(frame.placement)), size));
        }
        if (this.on.joints) {
            d.bodies.forEach((b, i) => {
                if (b.joint && ["hinge", "slide", "screw", "cylindrical", "universal", "planar"].includes(b.joint.type)) {
                    const X = this.matrixOf(f, i).multiply(poseMatrix(b.joint.offset).invert());
                    const axis = new THREE.Vector3(...b.joint.axis).normalize().transformDirection(X).multiplyScalar(2.2 * size);
                    this.placeArrow(this.joints, new THREE.Vector3().setFromMatrixPosition(X), axis, 0.25);
                }
            });
        }
        this.axes.visible = points.length > 0;
        this.axes.geometry.dispose();
        this.axes.geometry = new THREE.BufferGeometry();
        this.axes.geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
        this.axes.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
    }

    /** Ways of tendons from place to place; where they go round a shape, past its frame. */
    private tendonLines(f: Frame, d: Description): void {
        const points: number[] = [];
        const place = (name: string): THREE.Vector3 | undefined => {
            const frame = d.frames.find((x) => x.name === name);
            return frame && new THREE.Vector3(...frame.placement.slice(4) as [number, number, number]).applyMatrix4(this.matrixOf(f, frame.body));
        };
        this.on.tendons && d.tendons.forEach((tendon) => {
            const way = (tendon.items ?? []).map((item) => (item.name ? place(item.name) : undefined));
            way.forEach((to, i) => {
                const from = way[i - 1];
                from && to && points.push(...from.toArray(), ...to.toArray());
            });
        });
        this.tendons.visible = points.length > 0;
        this.tendons.geometry.dispose();
        this.tendons.geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    }

    private wrenches(f: Frame, d: Description): void {
        if (!this.on.wrenches) {
            return;
        }
        d.bodies.forEach((b, i) => {
            if (!b.joint || b.joint.type === "free") {
                return;
            }
            const X = this.matrixOf(f, i);
            const w = f.wrenches.subarray(6 * i, 6 * i + 6);
            const vector = (k: number, scale: number) => new THREE.Vector3(w[k], w[k + 1], w[k + 2]).applyQuaternion(new THREE.Quaternion().setFromRotationMatrix(X)).multiplyScalar(scale);
            const at = new THREE.Vector3().setFromMatrixPosition(X);
            this.placeArrow(this.forces, at, vector(3, this.scale), 0.3);
            this.placeArrow(this.moments, at, vector(0, 4 * this.scale), 0.3);
        });
    }

    private sensors(f: Frame, d: Description): void {
        if (!this.on.sensors) {
            return;
        }
        d.sensors.filter((s) => s.type === "range").forEach((s) => {
            const frame = s.on_body ? undefined : d.frames[s.id];
            const X = this.matrixOf(f, frame ? frame.body : s.id);
            if (frame) {
                const p = frame.placement;
                X.multiply(new THREE.Matrix4().compose(new THREE.Vector3(p[4], p[5], p[6]), new THREE.Quaternion(p[1], p[2], p[3], p[0]), new THREE.Vector3(1, 1, 1)));
            }
            const reading = f.sensorData[s.first];
            const reach = reading > 0 ? reading : s.cutoff || 1;
            const along = new THREE.Vector3(0, 0, reach).transformDirection(X).multiplyScalar(reach);
            this.place(this.views, new THREE.Vector3().setFromMatrixPosition(X), along, Math.max(0.01, reach * Math.tan(s.field)));
        });
    }

    private zmpAndSupport(f: Frame): void {
        const has = this.on.zmp && Number.isFinite(f.zmp[0]);
        this.zmp.visible = this.polygon.visible = has;
        if (!has) {
            return;
        }
        const z = f.zmp[2] + 0.002;
        this.zmp.position.set(f.zmp[0], f.zmp[1], z);
        const points: [number, number][] = [];
        for (let i = 0; i < f.contactCount; i++) {
            const at = CONTACT_NUMBERS * i;
            if (f.contacts[at + 11] === 0 || f.contacts[at + 12] === 0) {
                points.push([f.contacts[at], f.contacts[at + 1]]);
            }
        }
        this.polygon.geometry.dispose();
        this.polygon.geometry = new THREE.BufferGeometry().setFromPoints(convexHull(points).map(([x, y]) => new THREE.Vector3(x, y, z)));
    }

    private showDrag(f: Frame): void {
        this.spring.visible = this.drag !== undefined;
        if (this.drag) {
            const from = this.drag.local.clone().applyMatrix4(this.matrixOf(f, this.drag.body));
            this.spring.geometry.setFromPoints([from, this.drag.target]);
        }
    }
}
