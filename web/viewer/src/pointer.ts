// The mouse on the stage. With the eye it turns the view and picks; with the hand, or while alt is held, it pulls bodies by a spring; while paused and with
// shift it poses the robot by inverse kinematics.
import * as THREE from "three";
import type { Command } from "karakuri-dynamics";
import { isGround } from "./overlays.js";
import type { Stage } from "./stage.js";
import type { Store } from "./store.js";
import { Posing } from "./posing.js";

interface Drag { body: number; local: THREE.Vector3; plane: THREE.Plane; id: number; moved: boolean; posing?: Posing }

export class Pointer {
    private drag: Drag | undefined;
    private down: { x: number; y: number; id: number } | undefined;
    /** takes a click for itself, as the editor does for placing things */
    catch: ((event: PointerEvent) => boolean) | undefined;

    constructor(private readonly stage: Stage, private readonly store: Store, private readonly send: (command: Command | Command[]) => void, private readonly isFilm: boolean) {
        const { canvas } = stage;
        canvas.addEventListener("pointerdown", (e) => this.press(e), { capture: true });
        canvas.addEventListener("pointermove", (e) => this.move(e));
        canvas.addEventListener("pointerup", (e) => this.release(e));
        canvas.addEventListener("pointercancel", (e) => this.release(e));
        addEventListener("keydown", (e) => e.key === "Alt" && (canvas.style.cursor = "grab"));
        addEventListener("keyup", (e) => e.key === "Alt" && (canvas.style.cursor = ""));
    }

    private press(e: PointerEvent): void {
        this.stage.canvas.focus({ preventScroll: true });
        if (e.button !== 0) {
            return;
        }
        this.down = { x: e.clientX, y: e.clientY, id: e.pointerId };
        const { tool, frame, description: d } = this.store.state;
        const wants = tool === "hand" || e.altKey || (e.shiftKey && frame?.paused);
        const hit = wants ? this.stage.pick(e.clientX, e.clientY) : undefined;
        if (!hit || !d || isGround(d, hit.body) || this.isFilm || (tool === "build" && !e.altKey)) {
            return;
        }
        const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), hit.world);
        const posing = frame?.paused && frame ? new Posing(d, frame, hit.body, hit.local) : undefined;
        this.drag = { body: hit.body, local: hit.local, plane, id: e.pointerId, moved: false, posing };
        this.stage.controls.enabled = false;
        this.stage.canvas.setPointerCapture(e.pointerId);
        this.store.set({ selected: hit.body });
    }

    private move(e: PointerEvent): void {
        const { drag } = this;
        if (!drag || e.pointerId !== drag.id) {
            return;
        }
        drag.moved = true;
        const at = this.stage.ray(e.clientX, e.clientY).ray.intersectPlane(drag.plane, new THREE.Vector3());
        if (!at) {
            return;
        }
        if (drag.posing) {
            this.send({ do: "pose", q: drag.posing.toward(at) });
            return;
        }
        this.stage.overlays.drag = { body: drag.body, local: drag.local, target: at };
        this.send({ do: "drag", body: drag.body, point: drag.local.toArray(), target: at.toArray() });
    }

    private release(e: PointerEvent): void {
        const isClick = this.down?.id === e.pointerId && Math.hypot(e.clientX - this.down.x, e.clientY - this.down.y) < 5;
        this.down = undefined;
        if (this.drag && e.pointerId === this.drag.id) {
            this.drag.moved && !this.drag.posing && this.send({ do: "release" });
            this.drag = undefined;
            this.stage.overlays.drag = undefined;
            this.stage.controls.enabled = true;
        }
        if (isClick && e.type === "pointerup" && e.button === 0 && !this.catch?.(e)) {
            this.select(e);
        }
    }

    /** A click on a body selects it, one beside it selects nothing. */
    private select(e: PointerEvent): void {
        const hit = this.stage.pick(e.clientX, e.clientY), d = this.store.state.description;
        const isBody = hit && d && hit.body > 0;
        this.store.set({ selected: isBody ? hit.body : -1, shape: isBody ? hit.shape : -1 });
    }
}
