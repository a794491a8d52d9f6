// The stage: bodies, light, camera, and everything drawn over them. A frame goes in, a picture comes out.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Description, Frame } from "karakuri-dynamics";
import type { Picture } from "./source.js";
import { ContactShadow } from "./contact_shadow.js";
import { Crowd } from "./crowd.js";
import { Ghost } from "./ghost.js";
import { Overlays } from "./overlays.js";
import { drawing, inertiaBox, mergedMaterial, mergedMesh, shapeMesh, shapeOf } from "./shapes.js";
import { Sky } from "./sky.js";

/** How a body is drawn. */
export type Style = "solid" | "glass" | "wire" | "hidden";
/** What is drawn of all bodies. */
export type View = "visual" | "collision" | "inertia";

const GLASS = new THREE.MeshStandardMaterial({ color: 0x9db4c8, transparent: true, opacity: 0.28, roughness: 0.2, depthWrite: false });
const WIRE = new THREE.MeshBasicMaterial({ color: 0x4c6ef5, wireframe: true });
const COLLISION = new THREE.MeshStandardMaterial({ color: 0xe8590c, transparent: true, opacity: 0.5, roughness: 0.7 });

export const PRESETS = { front: [1, 0, 0.12], back: [-1, 0, 0.12], left: [0, 1, 0.12], right: [0, -1, 0.12], top: [0, -0.001, 1], corner: [0.62, -0.72, 0.32] } as const;
export type Preset = keyof typeof PRESETS;

/** Frees what a graphics card keeps for a thing. */
function dispose(root: THREE.Object3D): void {
    const shared: (THREE.Material | undefined)[] = [mergedMaterial(), GLASS, WIRE, COLLISION];
    root.traverse((o) => {
        const mesh = o as THREE.Mesh;
        mesh.geometry?.dispose();
        const own = (mesh.userData.own ?? mesh.material) as THREE.Material | THREE.Material[] | undefined;
        (Array.isArray(own) ? own : own ? [own] : []).filter((m) => !shared.includes(m)).forEach((m) => {
            (m as THREE.MeshStandardMaterial).map?.dispose();
            m.dispose();
        });
    });
}

export class Stage {
    readonly renderer: THREE.WebGLRenderer;
    readonly scene = new THREE.Scene();
    readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 200);
    readonly controls: OrbitControls;
    readonly overlays = new Overlays();
    readonly ghost = new Ghost();
    readonly bodies: THREE.Group[] = [];
    readonly sky: Sky;
    private readonly contact = new ContactShadow();
    private readonly contactMaterial = ContactShadow.material();
    private casters: [THREE.Mesh, THREE.Material][] = [];
    private readonly collision: THREE.Mesh[] = [];
    private readonly seen: THREE.Mesh[] = [];
    /** bodies of simple shapes */
    private crowd: Crowd | undefined;
    private readonly target = new THREE.Vector3();
    private readonly highlight = new THREE.BoxHelper(new THREE.Object3D(), 0x228be6);
    private readonly styles = new Map<number, Style>();
    private size = 1;
    private floor: number | undefined;
    follow = -1;
    selected = -1;
    viewOf: View = "visual";
    frame: Frame | undefined;
    /** pictures dropped beside the model */
    pictures = new Map<string, Uint8Array>();
    /** where to stand and what to look at; none: at everything */
    view: [[number, number, number], [number, number, number]] | undefined;
    /** a place of the model to look from, along its −z as a camera's */
    through: Description["frames"][number] | undefined;
    /** drawn with every picture: handles of the editor */
    readonly extra = new THREE.Group();
    private lastRender = 0;
    private slow = 0;
    private quick = 0;
    private patience = 90;
    /** 0 best … 3; ?plain in the address: 3 for good */
    quality = 0;
    private readonly isFixed: boolean;

    constructor(readonly canvas: HTMLCanvasElement) {
        const settings = { antialias: true, alpha: false };
        this.isFixed = new URLSearchParams(location.search).has("plain");
        // none where the processor would have to draw: then without smoothing, which costs it half of the time
        const quick = this.isFixed ? null : canvas.getContext("webgl2", { ...settings, failIfMajorPerformanceCaveat: true });
        drawing.isPlain = quick === null;
        const context = quick ?? canvas.getContext("webgl2", { ...settings, antialias: false });
        if (!context) {
            throw new Error("this browser has no WebGL 2");
        }
        this.renderer = new THREE.WebGLRenderer({ canvas, context, ...settings });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.sky = new Sky(this.renderer, this.scene);
        this.camera.up.set(0, 0, 1);
        this.camera.position.set(2.2, -2.6, 1.6);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.target.set(0, 0, 0.6);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.15;
        this.controls.zoomToCursor = true;
        this.controls.maxPolarAngle = Math.PI;
        this.highlight.visible = false;
        this.scene.add(this.sky.group, this.contact.plane, this.overlays.group, this.ghost.group, this.highlight, this.extra);
        this.contact.plane.visible = false;
        this.setQuality(this.isFixed ? 3 : drawing.isPlain ? 1 : 0);
    }

    setQuality(quality: number): void {
        this.quality = quality;
        this.renderer.setPixelRatio(Math.min([2, 1, 0.6, 0.5][quality], devicePixelRatio));
        const hasShadow = quality < 2;
        if (this.renderer.shadowMap.enabled !== hasShadow) {
            this.renderer.shadowMap.enabled = this.sky.sun.castShadow = hasShadow;
            this.scene.traverse((o) => [(o as THREE.Mesh).material ?? []].flat().forEach((m) => { m.needsUpdate = true; }));
        }
        this.sky.setMapped(!drawing.isPlain);
        this.contact.plane.visible = quality < 2 && this.floor !== undefined;
        this.size && this.setSize();
    }

    setDark(dark: boolean): void { this.sky.setDark(dark); }

    /** Another model. */
    show(picture: Picture, keepsView = false): void {
        const d = picture.description;
        const cache = new Map<string, THREE.BufferGeometry>();
        this.bodies.forEach((b) => { this.scene.remove(b); dispose(b); });
        this.bodies.length = this.collision.length = this.seen.length = 0;
        this.sky.forgetFloors();
        this.overlays.show(d);
        d.bodies.forEach((_, i) => {
            const group = new THREE.Group();
            group.userData.body = i;
            this.bodies.push(group);
            this.scene.add(group);
        });
        const hasVisible = new Set(d.shapes.filter((s) => s.visible).map((s) => s.body));
        const plain = new Map<number, THREE.Mesh[]>(); // by body: what can be drawn as one
        this.floor = undefined;
        d.shapes.forEach((s, shape) => {
            const mesh = shapeMesh(d, picture, s, cache, this.sky, this.pictures);
            const isSeen = s.visible || !hasVisible.has(s.body);
            const look = mesh.material as THREE.MeshStandardMaterial;
            mesh.userData.body = s.body;
            mesh.userData.shape = shape;
            mesh.userData.isPlane = s.type === "plane";
            if (s.type === "plane" && s.body === 0 && Math.abs(s.placement[0]) > 0.999) {
                this.floor = Math.max(this.floor ?? -Infinity, s.placement[6]);
            }
            if (isSeen && s.mesh < 0 && s.height_field < 0 && s.type !== "plane" && !look.transparent && !look.map) {
                plain.set(s.body, [...(plain.get(s.body) ?? []), mesh]);
                return;
            }
            this.bodies[s.body].add(mesh);
            (isSeen ? this.seen : this.collision).push(mesh);
            mesh.userData.own = mesh.material;
            if (!isSeen) {
                mesh.material = COLLISION;
                mesh.castShadow = false;
            }
        });
        d.bodies.forEach((b, i) => {
            if (i > 0 && b.mass > 0 && !d.shapes.some((s) => s.body === i)) {
                plain.set(i, [inertiaBox(d, i)]); // a body without shapes is seen by its inertia
            }
        });
        this.addPlain(plain);
        cache.forEach((g) => !this.uses(g) && g.dispose());
        keepsView || this.styles.clear();
        this.applyStyles();
        this.casters = [...(this.crowd ? [[this.crowd.mesh, this.crowd.contactMaterial] as [THREE.Mesh, THREE.Material]] : []),
            ...this.seen.filter((m) => !m.userData.isPlane && !m.userData.isMerged).map((m): [THREE.Mesh, THREE.Material] => [m, this.contactMaterial])];
        this.contact.plane.visible = this.quality < 2 && this.floor !== undefined;
        this.ghost.show(this.bodies);
        if (!keepsView) {
            this.frame = undefined;
        }
    }

    private uses(geometry: THREE.BufferGeometry): boolean {
        return [...this.seen, ...this.collision].some((m) => m.geometry === geometry);
    }

    /** Bodies of simple shapes are drawn in one go; a mesh of each stays to be picked and measured. */
    private addPlain(plain: Map<number, THREE.Mesh[]>): void {
        if (this.crowd) {
            this.scene.remove(this.crowd.mesh);
            this.crowd.dispose();
            this.crowd = undefined;
        }
        const looks = new Map<number, THREE.BufferGeometry>();
        plain.forEach((parts, body) => {
            const mesh = mergedMesh(parts);
            mesh.userData.body = body;
            mesh.userData.own = mesh.material;
            mesh.visible = false;
            this.bodies[body].add(mesh);
            this.seen.push(mesh);
            looks.set(body, mesh.geometry);
        });
        if (looks.size > 0) {
            this.crowd = new Crowd(looks, mergedMaterial());
            this.scene.add(this.crowd.mesh);
        }
    }

    // ---- what is seen of it

    styleOf(body: number): Style { return this.styles.get(body) ?? "solid"; }

    setStyle(bodies: number[], style: Style): void {
        bodies.forEach((b) => (style === "solid" ? this.styles.delete(b) : this.styles.set(b, style)));
        this.applyStyles();
    }

    /** Only these; the world stays. */
    isolate(bodies: number[]): void { this.setStyle(this.bodies.map((_, i) => i).filter((i) => i > 0 && !bodies.includes(i)), "hidden"); }

    applyStyles(): void {
        const all = this.viewOf === "visual" ? undefined : "glass";
        this.bodies.forEach((group, body) => {
            const style = this.styleOf(body) === "solid" && body > 0 ? all ?? "solid" : this.styleOf(body);
            group.children.forEach((child) => {
                const mesh = child as THREE.Mesh;
                if (mesh.userData.own === undefined || this.collision.includes(mesh)) {
                    return;
                }
                mesh.material = style === "glass" ? GLASS : style === "wire" ? WIRE : mesh.userData.own as THREE.Material;
                mesh.visible = style !== "hidden" && (!mesh.userData.isMerged || style !== "solid");
                mesh.castShadow = !mesh.userData.isPlane && style === "solid";
            });
            this.crowd?.hide(body, style !== "solid");
        });
        this.collision.forEach((m) => { m.visible = this.viewOf === "collision" && this.styleOf(m.userData.body as number) !== "hidden"; });
        this.crowd?.update(this.bodies);
        this.overlays.showsSolids = this.viewOf === "inertia";
    }

    /** The box around all that moves, or one body. */
    bounds(body = -1): THREE.Box3 {
        const box = new THREE.Box3();
        const part = new THREE.Box3();
        this.scene.updateMatrixWorld(true);
        this.seen.filter((m) => !m.userData.isPlane && (body < 0 || m.userData.body === body)).forEach((m) => box.union(part.setFromObject(m)));
        return box.isEmpty() ? box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1)) : box;
    }

    /** Looks at everything that moves, or at a body, from one of the sides. */
    frameAll(from: readonly [number, number, number] | readonly number[] = PRESETS.corner, body = -1): void {
        const box = this.bounds(body);
        const center = box.getCenter(new THREE.Vector3());
        const size = box.getSize(new THREE.Vector3());
        const radius = Math.max(0.05, size.length() / 2);
        const away = new THREE.Vector3(from[0], from[1], from[2]).normalize().multiplyScalar(Math.min(120, this.distanceFor(size)));
        this.controls.target.copy(center);
        this.camera.position.copy(center).add(away);
        this.camera.near = Math.max(0.002, radius / 200);
        this.camera.far = Math.max(450, radius * 40);
        this.camera.updateProjectionMatrix();
        this.size = Math.max(0.1, size.length());
        this.sky.surround(center, Math.min(20, radius * 1.5), this.size);
        if (this.view) { // made for a wide window; from farther away in a narrow one
            this.controls.target.set(...this.view[1]);
            this.camera.position.set(...this.view[0]);
            this.sky.surround(this.controls.target, 0.7 * this.controls.target.distanceTo(this.camera.position), this.size);
            this.camera.position.sub(this.controls.target).multiplyScalar(Math.max(1, 1.15 / this.camera.aspect)).add(this.controls.target);
        }
        this.controls.update();
    }

    /** From where a box fills the window, wide or narrow, seen from a little above. */
    private distanceFor(size: THREE.Vector3): number {
        const across = Math.max(0.05, Math.hypot(size.x, size.y) / 2), up = Math.max(0.05, size.z / 2);
        const slope = Math.tan((this.camera.fov * Math.PI) / 360);
        return 1.1 * Math.max((up + 0.35 * across) / slope, across / (slope * Math.min(1.2, this.camera.aspect))) + 0.6 * across;
    }

    update(frame: Frame): void {
        const p = frame.poses;
        this.bodies.forEach((body, i) => {
            const at = 7 * i;
            body.quaternion.set(p[at + 1], p[at + 2], p[at + 3], p[at]);
            body.position.set(p[at + 4], p[at + 5], p[at + 6]);
        });
        this.crowd?.update(this.bodies);
        const isFirst = this.frame === undefined;
        this.frame = frame;
        this.overlays.update(frame);
        if (isFirst) {
            this.frameAll();
        }
    }

    private followBody(): void {
        const f = this.frame;
        if (!f || this.follow < 0) {
            return;
        }
        const next = this.follow === 0 ? this.target.set(f.com[0], f.com[1], f.com[2]) : this.target.copy(this.bodies[this.follow].position);
        const step = next.clone().sub(this.controls.target).multiplyScalar(0.2);
        this.controls.target.add(step);
        this.camera.position.add(step);
        this.sky.move(this.controls.target);
    }

    /** Where pictures take long (no graphics card, a phone), they are made simpler, step by step; better again where there is time to spare. A step up that
     * was taken back is tried less and less often.
     * @param took  ms since the last picture */
    adapt(took: number): void {
        if (took > 5000 || this.isFixed) {
            return; // it slept
        }
        this.slow = took > 200 ? this.slow + 6 : took > 32 ? this.slow + 1 : Math.max(0, this.slow - 0.5);
        this.quick = took < 20 ? this.quick + 1 : 0;
        if (this.slow > 12 && this.quality < 3) {
            this.setQuality(this.quality + 1);
            this.slow = this.quick = 0;
            this.patience = Math.min(3600, 2 * this.patience);
        } else if (this.quick > 2 * this.patience && this.quality > (drawing.isPlain ? 1 : 0)) {
            this.setQuality(this.quality - 1);
            this.quick = 0;
        }
    }

    private setSize(): void {
        const { clientWidth: w, clientHeight: h } = this.canvas;
        if (w > 0 && h > 0) {
            this.renderer.setSize(w, h, false);
            this.camera.aspect = w / h;
            this.camera.updateProjectionMatrix();
        }
    }

    render(): void {
        const now = performance.now();
        document.hidden || this.adapt(now - this.lastRender);
        this.lastRender = now;
        const size = this.renderer.getSize(new THREE.Vector2());
        if (size.x !== this.canvas.clientWidth || size.y !== this.canvas.clientHeight) {
            this.setSize();
        }
        this.followBody();
        this.controls.update();
        this.highlight.visible = this.selected > 0 && this.selected < this.bodies.length;
        if (this.highlight.visible) {
            this.highlight.setFromObject(this.bodies[this.selected]);
        }
        this.sky.update(this.camera);
        if (this.contact.plane.visible && this.frame) {
            const center = this.sky.sun.target.position;
            this.contact.render(this.renderer, this.casters.filter(([m]) => m.visible && m.castShadow), center, this.floor!, Math.min(12, 0.75 * this.size));
        }
        this.through && this.lookThrough(this.through);
        this.renderer.render(this.scene, this.camera);
    }

    private lookThrough(place: Description["frames"][number]): void {
        const [w, x, y, z, px, py, pz] = place.placement, body = this.bodies[place.body];
        this.camera.position.set(px, py, pz).applyQuaternion(body.quaternion).add(body.position);
        this.camera.quaternion.copy(body.quaternion).multiply(new THREE.Quaternion(x, y, z, w));
    }

    /** What lies under a point of the canvas: body, shape, point in the world, and in the body. */
    pick(x: number, y: number): { body: number; shape: number; world: THREE.Vector3; local: THREE.Vector3 } | undefined {
        const ray = this.ray(x, y);
        const hit = ray.intersectObjects(this.seen, false).find((h) => this.styleOf(h.object.userData.body as number) !== "hidden");
        if (!hit) {
            return undefined;
        }
        const body = hit.object.userData.body as number;
        return { body, shape: shapeOf(hit), world: hit.point, local: this.bodies[body].worldToLocal(hit.point.clone()) };
    }

    ray(x: number, y: number): THREE.Raycaster {
        const ray = new THREE.Raycaster();
        const rect = this.canvas.getBoundingClientRect();
        ray.setFromCamera(new THREE.Vector2(((x - rect.left) / rect.width) * 2 - 1, 1 - ((y - rect.top) / rect.height) * 2), this.camera);
        return ray;
    }
}
