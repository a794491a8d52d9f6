// The joint of what is selected, in the view: a ball at its anchor, an arrow along its axis, an arc between its limits, each to be dragged.
import * as THREE from "three";
import type { Description, Frame } from "karakuri-dynamics";
import { empty } from "./drawing.js";
import { matrixOf } from "./document.js";
import type { Stage } from "./stage.js";

interface Chosen { d: Description; f: Frame; body: number }
type Kind = "anchor" | "axis" | "lower" | "upper";
export interface JointChange { anchor?: number[]; axis?: number[]; range?: [number, number] }

const COLOR: Record<Kind, number> = { anchor: 0xf08c00, axis: 0x1971c2, lower: 0xe03131, upper: 0x2f9e44 };

export class JointHandles {
    private readonly group = new THREE.Group();
    private readonly arc = new THREE.Group();
    private readonly knobs: Record<Kind, THREE.Mesh>;
    private readonly line = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3(0, 0, 1)]), new THREE.LineBasicMaterial({ color: 0x1971c2, depthTest: false }));
    private chosen: Chosen | undefined;
    private dragged: Kind | undefined;
    private drawn = "";
    private last = 0;

    constructor(private readonly stage: Stage, private readonly change: (change: JointChange, joins: boolean) => void) {
        const knob = (kind: Kind) => {
            const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ color: COLOR[kind], depthTest: false, transparent: true, toneMapped: false }));
            mesh.userData.kind = kind;
            mesh.renderOrder = 4;
            return mesh;
        };
        this.knobs = { anchor: knob("anchor"), axis: knob("axis"), lower: knob("lower"), upper: knob("upper") };
        this.group.add(this.line, this.arc, ...Object.values(this.knobs));
        this.group.visible = false;
        stage.extra.add(this.group);
        const { canvas } = stage;
        canvas.addEventListener("pointerdown", (e) => this.press(e), { capture: true });
        canvas.addEventListener("pointermove", (e) => this.dragged && this.move(e, true));
        canvas.addEventListener("pointerup", (e) => {
            if (this.dragged) {
                this.move(e, false);
                this.dragged = undefined;
                stage.controls.enabled = true;
            }
        });
    }

    private get joint() { return this.chosen?.d.bodies[this.chosen.body].joint; }

    /** The joint's frame in the world: where it would be at zero, and where it is. */
    private places(): { zero: THREE.Matrix4; now: THREE.Matrix4 } | undefined {
        const c = this.chosen, j = this.joint;
        if (!c || !j) {
            return undefined;
        }
        return { zero: matrixOf(c.f.poses, 7 * c.d.bodies[c.body].parent).multiply(matrixOf(j.placement)), now: matrixOf(c.f.poses, 7 * c.body).multiply(matrixOf(j.offset).invert()) };
    }

    update(chosen: Chosen | undefined): void {
        this.chosen = chosen;
        const j = this.joint, places = this.places();
        this.group.visible = places !== undefined && (j?.type === "hinge" || j?.type === "slide");
        if (!this.group.visible || !places || !j || !chosen) {
            return;
        }
        const size = Math.max(0.05, this.stage.bounds(chosen.body).getSize(new THREE.Vector3()).length() * 0.6);
        const at = new THREE.Vector3().setFromMatrixPosition(places.now), axis = new THREE.Vector3(...j.axis).transformDirection(places.now);
        Object.values(this.knobs).forEach((k) => k.scale.setScalar(0.05 * size));
        this.knobs.anchor.position.copy(at);
        this.knobs.axis.position.copy(at).addScaledVector(axis, size);
        this.line.position.copy(at);
        this.line.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), axis);
        this.line.scale.setScalar(size);
        this.limits(j.type === "hinge", j.dofs[0].lower, j.dofs[0].upper, places.zero, new THREE.Vector3(...j.axis), 0.8 * size);
    }

    private around(axis: THREE.Vector3): THREE.Vector3 {
        const down = new THREE.Vector3(0, 0, -1).projectOnPlane(axis);
        return (down.length() > 0.1 ? down : new THREE.Vector3(1, 0, 0).projectOnPlane(axis)).normalize();
    }

    private limits(isHinge: boolean, lower: number | null, upper: number | null, zero: THREE.Matrix4, axis: THREE.Vector3, size: number): void {
        const [from, to] = [lower ?? (isHinge ? -Math.PI : -size), upper ?? (isHinge ? Math.PI : size)], start = this.around(axis);
        const point = (q: number) => (isHinge ? start.clone().applyAxisAngle(axis, q).multiplyScalar(size) : axis.clone().multiplyScalar(q).addScaledVector(start, 0.2 * size)).applyMatrix4(zero);
        this.knobs.lower.position.copy(point(from));
        this.knobs.upper.position.copy(point(to));
        const key = JSON.stringify([from, to, zero.elements.map((x) => x.toFixed(4)), size.toFixed(3)]);
        if (key !== this.drawn) {
            this.drawn = key;
            empty(this.arc);
            const points = Array.from({ length: 49 }, (_, i) => point(from + ((to - from) * i) / 48)), center = new THREE.Vector3().setFromMatrixPosition(zero);
            const fan = points.slice(1).flatMap((p, i) => [center, points[i], p]);
            this.arc.add(new THREE.Mesh(new THREE.BufferGeometry().setFromPoints(fan), new THREE.MeshBasicMaterial({ color: 0xf59f00, transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false, toneMapped: false })));
        }
    }

    private press(e: PointerEvent): void {
        if (!this.group.visible || e.button !== 0) {
            return;
        }
        const hit = this.stage.ray(e.clientX, e.clientY).intersectObjects(Object.values(this.knobs), false)[0];
        if (hit) {
            e.stopImmediatePropagation();
            this.dragged = hit.object.userData.kind as Kind;
            this.stage.controls.enabled = false;
            this.stage.canvas.setPointerCapture(e.pointerId);
            this.last = 0;
        }
    }

    private move(e: PointerEvent, isRough: boolean): void {
        if (isRough && performance.now() - this.last < 120) {
            return;
        }
        const isFirst = this.last === 0;
        this.last = performance.now();
        const change = this.changeAt(e);
        change && this.change(change, !isFirst);
    }

    private changeAt(e: PointerEvent): JointChange | undefined {
        const c = this.chosen, j = this.joint, places = this.places();
        if (!c || !j || !places) {
            return undefined;
        }
        const { ray } = this.stage.ray(e.clientX, e.clientY), body = matrixOf(c.f.poses, 7 * c.body), at = new THREE.Vector3().setFromMatrixPosition(places.now);
        const facing = new THREE.Plane().setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), at);
        if (this.dragged === "anchor") {
            const p = ray.intersectPlane(facing, new THREE.Vector3());
            return p ? { anchor: p.applyMatrix4(body.invert()).toArray().map((x) => Number(x.toFixed(3))) } : undefined;
        }
        if (this.dragged === "axis") {
            const p = ray.intersectPlane(facing, new THREE.Vector3()), way = p?.sub(at).normalize();
            const own = way?.transformDirection(body.invert()).toArray();
            const snapped = own?.map((x) => (Math.abs(x) > 0.985 ? Math.sign(x) : Math.abs(x) < 0.17 ? 0 : Number(x.toFixed(3))));
            return snapped ? { axis: snapped } : undefined;
        }
        const q = this.coordinateAt(ray, places.zero, new THREE.Vector3(...j.axis), j.type === "hinge");
        const [lower, upper] = [j.dofs[0].lower ?? (j.type === "hinge" ? -Math.PI : -1), j.dofs[0].upper ?? (j.type === "hinge" ? Math.PI : 1)];
        return q === undefined ? undefined : { range: this.dragged === "lower" ? [Math.min(q, upper - 0.01), upper] : [lower, Math.max(q, lower + 0.01)] };
    }

    private coordinateAt(ray: THREE.Ray, zero: THREE.Matrix4, axis: THREE.Vector3, isHinge: boolean): number | undefined {
        const inverse = zero.clone().invert(), own = ray.clone().applyMatrix4(inverse);
        if (!isHinge) {
            const along = new THREE.Vector3();
            own.distanceSqToSegment(axis.clone().multiplyScalar(-10), axis.clone().multiplyScalar(10), undefined, along);
            return Number(along.dot(axis).toFixed(3));
        }
        const p = own.intersectPlane(new THREE.Plane(axis.clone().normalize(), 0), new THREE.Vector3()), start = this.around(axis);
        return p ? Number(Math.atan2(start.clone().cross(p).dot(axis), start.dot(p)).toFixed(3)) : undefined;
    }
}
