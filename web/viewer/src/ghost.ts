// A second picture of the robot, as of glass: at the moment the mouse is on in a plot, or in the future that was left at a fork.
import * as THREE from "three";
import type { Frame } from "karakuri-dynamics";

const MATERIAL = new THREE.MeshStandardMaterial({ color: 0x4dabf7, transparent: true, opacity: 0.3, roughness: 0.3, depthWrite: false });

export class Ghost {
    readonly group = new THREE.Group();
    private bodies: readonly THREE.Group[] = [];
    private copies: THREE.Group[] = [];

    /** Another model; its meshes are shared. */
    show(bodies: readonly THREE.Group[]): void {
        this.bodies = bodies;
        this.copies = [];
        this.group.clear();
        this.group.visible = false;
    }

    private make(): void {
        this.copies = this.bodies.map((body, i) => {
            const copy = new THREE.Group();
            if (i > 0) {
                body.children.filter((c) => c.userData.own).forEach((c) => {
                    const mesh = new THREE.Mesh((c as THREE.Mesh).geometry, MATERIAL);
                    mesh.position.copy(c.position);
                    mesh.quaternion.copy(c.quaternion);
                    copy.add(mesh);
                });
            }
            this.group.add(copy);
            return copy;
        });
    }

    /** @param frame  none: no ghost */
    update(frame: Frame | undefined): void {
        this.group.visible = frame !== undefined && frame.poses.length === 7 * this.bodies.length;
        if (!frame || !this.group.visible) {
            return;
        }
        this.copies.length || this.make();
        const p = frame.poses;
        this.copies.forEach((copy, i) => {
            copy.quaternion.set(p[7 * i + 1], p[7 * i + 2], p[7 * i + 3], p[7 * i]);
            copy.position.set(p[7 * i + 4], p[7 * i + 5], p[7 * i + 6]);
        });
    }
}
