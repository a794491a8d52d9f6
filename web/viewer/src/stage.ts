// The stage: bodies, light, camera, and everything drawn over them. A frame goes in, a picture comes out.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Frame } from "karakuri-dynamics";
import type { Picture } from "./source.js";
import { Crowd } from "./crowd.js";
import { drawing, mergedMaterial, mergedMesh, shapeMesh } from "./shapes.js";
import { Overlays } from "./overlays.js";

export class Stage {
    readonly renderer: THREE.WebGLRenderer;
    readonly scene = new THREE.Scene();
    readonly camera = new THREE.PerspectiveCamera(45, 1, 0.01, 200);
    readonly controls: OrbitControls;
    readonly overlays = new Overlays();
    readonly bodies: THREE.Group[] = [];
    private readonly collision: THREE.Mesh[] = [];
    private readonly seen: THREE.Mesh[] = [];
    /** bodies of simple shapes */
    private crowd: Crowd | undefined;
    private readonly sun = new THREE.DirectionalLight(0xffffff, 2.4);
    private readonly sky = new THREE.HemisphereLight(0xffffff, 0xb9b3a8, 1.5);
    private readonly target = new THREE.Vector3();
    private readonly highlight = new THREE.BoxHelper(new THREE.Object3D(), 0xf08c00);
    follow = -1;
    showsCollision = false;
    selected = -1;
    frame: Frame | undefined;
    /** where to stand and what to look at; none: at everything */
    view: [[number, number, number], [number, number, number]] | undefined;
    private isDark = false;
    private lastRender = 0;
    private slow = 0;
    /** 0 best … 3; ?plain in the address: 3 from the start */
    private quality = 0;

    constructor(readonly canvas: HTMLCanvasElement) {
        const settings = { antialias: true, alpha: false };
        const isPlain = new URLSearchParams(location.search).has("plain");
        // none where the processor would have to draw: then without smoothing, which costs it half of the time
        const quick = isPlain ? null : canvas.getContext("webgl2", { ...settings, failIfMajorPerformanceCaveat: true });
        drawing.isPlain = quick === null;
        const context = quick ?? canvas.getContext("webgl2", { ...settings, antialias: false });
        if (!context) {
            throw new Error("this browser has no WebGL 2");
        }
        this.renderer = new THREE.WebGLRenderer({ canvas, context, ...settings });
        this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.camera.up.set(0, 0, 1);
        this.camera.position.set(2.2, -2.6, 1.6);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.target.set(0, 0, 0.6);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.15;
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        this.sun.shadow.bias = -0.0004;
        this.highlight.visible = false;
        this.scene.add(this.sun, this.sun.target, this.sky, this.overlays.group, this.highlight);
        this.setDark(false);
        if (isPlain) {
            this.simplify(3);
        }
    }

    private simplify(quality: number): void {
        this.quality = quality;
        this.renderer.setPixelRatio(Math.min(quality >= 3 ? 0.5 : quality >= 2 ? 0.6 : 1, devicePixelRatio));
        if (quality >= 2) {
            this.renderer.shadowMap.enabled = this.sun.castShadow = false;
        }
    }

    setDark(dark: boolean): void {
        this.scene.background = new THREE.Color(dark ? 0x15181c : 0xdfe6ec);
        this.scene.fog = new THREE.Fog(this.scene.background as THREE.Color, 12, 45);
        this.isDark = dark;
        this.paintFloor();
        this.sky.intensity = dark ? 0.8 : 1.5;
        this.sun.intensity = dark ? 1.8 : 2.4;
    }

    private paintFloor(): void {
        this.seen.filter((m) => m.userData.isPlane).forEach((m) => (m.material as THREE.MeshLambertMaterial).color.setScalar(this.isDark ? 0.16 : 1));
    }

    /** Another model. */
    show(picture: Picture): void {
        const d = picture.description;
        const cache = new Map<string, THREE.BufferGeometry>();
        this.bodies.forEach((b) => this.scene.remove(b));
        this.bodies.length = this.collision.length = this.seen.length = 0;
        this.overlays.show(d);
        d.bodies.forEach((_, i) => {
            const group = new THREE.Group();
            group.userData.body = i;
            this.bodies.push(group);
            this.scene.add(group);
        });
        const hasVisible = new Set(d.shapes.filter((s) => s.visible).map((s) => s.body));
        const plain = new Map<number, THREE.Mesh[]>(); // by body: what can be drawn as one
        d.shapes.forEach((s) => {
            const mesh = shapeMesh(d, picture, s, cache);
            const isSeen = s.visible || !hasVisible.has(s.body);
            if (isSeen && s.mesh < 0 && s.height_field < 0 && s.type !== "plane" && !(mesh.material as THREE.Material).transparent) {
                plain.set(s.body, [...(plain.get(s.body) ?? []), mesh]);
                return;
            }
            mesh.userData.body = s.body;
            mesh.userData.isPlane = s.type === "plane";
            this.bodies[s.body].add(mesh);
            (isSeen ? this.seen : this.collision).push(mesh);
            if (!isSeen) {
                mesh.material = new THREE.MeshBasicMaterial({ color: 0xe8590c, wireframe: true, transparent: true, opacity: 0.35 });
                mesh.castShadow = mesh.receiveShadow = false;
            }
        });
        this.addPlain(plain);
        this.applyVisibility();
        this.paintFloor();
        this.frame = undefined;
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

    applyVisibility(): void { this.collision.forEach((m) => { m.visible = this.showsCollision; }); }

    /** Looks at everything that moves from a little above. */
    frameAll(): void {
        const box = new THREE.Box3();
        const part = new THREE.Box3();
        this.scene.updateMatrixWorld(true);
        this.seen.filter((m) => !m.userData.isPlane).forEach((m) => box.union(part.setFromObject(m)));
        if (box.isEmpty()) {
            box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
        }
        const center = box.getCenter(new THREE.Vector3());
        const size = box.getSize(new THREE.Vector3());
        const radius = Math.max(0.2, size.length() / 2);
        const away = new THREE.Vector3(0.62, -0.72, 0.32).normalize().multiplyScalar(Math.min(40, this.distanceFor(size)));
        this.controls.target.copy(center);
        this.camera.position.copy(center).add(away);
        this.camera.near = Math.max(0.005, radius / 200);
        this.camera.far = Math.max(100, radius * 40);
        this.camera.updateProjectionMatrix();
        this.setShadow(center, Math.min(20, radius * 1.5));
        if (this.view) { // made for a wide window; from farther away in a narrow one
            this.controls.target.set(...this.view[1]);
            this.setShadow(this.controls.target, 0.7 * this.controls.target.distanceTo(this.camera.position.set(...this.view[0])));
            this.camera.position.set(...this.view[0]).sub(this.controls.target).multiplyScalar(Math.max(1, 1.15 / this.camera.aspect)).add(this.controls.target);
        }
        this.controls.update();
    }

    /** From where a box fills the window, wide or narrow, seen from a little above. */
    private distanceFor(size: THREE.Vector3): number {
        const across = Math.max(0.1, Math.hypot(size.x, size.y) / 2), up = Math.max(0.1, size.z / 2);
        const slope = Math.tan((this.camera.fov * Math.PI) / 360);
        return 1.1 * Math.max((up + 0.35 * across) / slope, across / (slope * Math.min(1.2, this.camera.aspect))) + 0.6 * across;
    }

    private setShadow(center: THREE.Vector3, radius: number): void {
        const box = this.sun.shadow.camera;
        box.left = box.bottom = -radius;
        box.right = box.top = radius;
        box.near = 0.1;
        box.far = 8 * radius;
        box.updateProjectionMatrix();
        this.sun.shadow.normalBias = (3 * radius) / this.sun.shadow.mapSize.x; // a texel and a half
        this.sun.target.position.copy(center);
        this.sun.position.copy(center).add(new THREE.Vector3(0.5, -0.35, 1).multiplyScalar(3 * radius));
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
        this.sun.target.position.add(step);
        this.sun.position.add(step);
    }

    /** Where pictures take long (no graphics card, a phone), they are made simpler, step by step. */
    private adapt(): void {
        const now = performance.now();
        const took = now - this.lastRender;
        this.lastRender = now;
        if (took > 1000 || document.hidden) {
            return; // it slept
        }
        this.slow = took > 36 ? this.slow + 1 : Math.max(0, this.slow - 0.5);
        if (this.slow > 12 && this.quality < 3) {
            this.simplify(this.quality + 1);
            this.slow = 0;
        }
    }

    render(): void {
        this.adapt();
        const { clientWidth: w, clientHeight: h } = this.canvas;
        const size = this.renderer.getSize(new THREE.Vector2());
        if (w > 0 && h > 0 && (size.x !== w || size.y !== h)) {
            this.renderer.setSize(w, h, false);
            this.camera.aspect = w / h;
            this.camera.updateProjectionMatrix();
        }
        this.followBody();
        this.controls.update();
        this.highlight.visible = this.selected > 0 && this.selected < this.bodies.length;
        if (this.highlight.visible) {
            this.highlight.setFromObject(this.bodies[this.selected]);
        }
        this.renderer.render(this.scene, this.camera);
    }

    /** What lies under a point of the canvas: body, point in the world, and in the body. */
    pick(x: number, y: number): { body: number; world: THREE.Vector3; local: THREE.Vector3 } | undefined {
        const ray = this.ray(x, y);
        const hit = ray.intersectObjects(this.seen, false)[0];
        if (!hit) {
            return undefined;
        }
        const body = hit.object.userData.body as number;
        return { body, world: hit.point, local: this.bodies[body].worldToLocal(hit.point.clone()) };
    }

    ray(x: number, y: number): THREE.Raycaster {
        const ray = new THREE.Raycaster();
        const rect = this.canvas.getBoundingClientRect();
        ray.setFromCamera(new THREE.Vector2(((x - rect.left) / rect.width) * 2 - 1, 1 - ((y - rect.top) / rect.height) * 2), this.camera);
        return ray;
    }
}
