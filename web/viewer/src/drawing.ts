// What scripts draw: lines, cones, texts and polygons, given anew with every picture.
import * as THREE from "three";

export type Mark =
    | { kind: "line"; points: number[][]; color: string }
    | { kind: "cone"; at: number[]; along: number[]; angle: number; color: string }
    | { kind: "text"; at: number[]; text: string; color: string }
    | { kind: "polygon"; points: number[][]; color: string };

const vector = (p: number[]) => new THREE.Vector3(p[0], p[1], p[2]);
const glass = (color: string) => new THREE.MeshBasicMaterial({ color: new THREE.Color(color), transparent: true, opacity: 0.35, side: THREE.DoubleSide, depthWrite: false, toneMapped: false });

function textSprite(text: string, color: string): THREE.Sprite {
    const canvas = document.createElement("canvas");
    const pen = canvas.getContext("2d")!, font = "500 44px system-ui, sans-serif";
    pen.font = font;
    canvas.width = Math.max(8, Math.ceil(pen.measureText(text).width) + 16);
    canvas.height = 60;
    pen.font = font;
    pen.lineWidth = 7;
    pen.lineJoin = "round";
    pen.strokeStyle = "#ffffffd0";
    pen.strokeText(text, 8, 45);
    pen.fillStyle = color;
    pen.fillText(text, 8, 45);
    const map = new THREE.CanvasTexture(canvas);
    map.colorSpace = THREE.SRGBColorSpace;
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, sizeAttenuation: false, toneMapped: false }));
    sprite.scale.set((0.034 * canvas.width) / canvas.height, 0.034, 1);
    sprite.renderOrder = 3;
    return sprite;
}

function make(mark: Mark): THREE.Object3D {
    switch (mark.kind) {
    case "line": return new THREE.Line(new THREE.BufferGeometry().setFromPoints(mark.points.map(vector)), new THREE.LineBasicMaterial({ color: new THREE.Color(mark.color), toneMapped: false }));
    case "polygon": {
        const p = mark.points.map(vector), faces = p.slice(2).flatMap((_, i) => [p[0], p[i + 1], p[i + 2]]);
        return new THREE.Mesh(new THREE.BufferGeometry().setFromPoints(faces), glass(mark.color));
    }
    case "cone": {
        const along = vector(mark.along), length = along.length() || 1e-3;
        const mesh = new THREE.Mesh(new THREE.ConeGeometry(length * Math.tan(mark.angle), length, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, length / 2), glass(mark.color));
        mesh.position.copy(vector(mark.at));
        mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.divideScalar(length));
        return mesh;
    }
    case "text": {
        const sprite = textSprite(mark.text, mark.color);
        sprite.position.copy(vector(mark.at));
        return sprite;
    }
    }
}

/** Takes things out of a group, and off the graphics card. */
export function empty(group: THREE.Group): void {
    group.children.slice().forEach((child) => {
        group.remove(child);
        const { geometry, material } = child as THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>;
        child instanceof THREE.Sprite || geometry?.dispose();
        material?.map?.dispose();
        material?.dispose();
    });
}

export class Drawing {
    readonly group = new THREE.Group();
    private last = "";

    show(marks: Mark[]): void {
        const text = JSON.stringify(marks);
        if (text !== this.last) {
            this.last = text;
            empty(this.group);
            marks.slice(0, 500).forEach((mark) => this.group.add(make(mark)));
        }
    }
}
