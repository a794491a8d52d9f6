// Geometry of the model's shapes. z is the axis of all that have one.
import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import type { Description, Shape } from "karakuri-dynamics";

export interface Buffers { meshes: ArrayBuffer[]; heights: ArrayBuffer[] }

const PALETTE = [0x8fa3b8, 0xc9b18a, 0x9db59b, 0xb79aa9, 0x8fb3b5, 0xb3a6c9, 0xc4a48f];

/** Triangles of a mesh; faces of a part are a group with the part's color. */
function meshGeometry(d: Description, buffers: Buffers, index: number): THREE.BufferGeometry {
    const info = d.meshes[index];
    const bytes = buffers.meshes[index];
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute("position", new THREE.BufferAttribute(new Float32Array(bytes, 0, 3 * info.vertices), 3));
    indexed.setIndex(new THREE.BufferAttribute(new Uint32Array(bytes, 12 * info.vertices, 3 * info.faces), 1));
    // sharp edges stay sharp: a normal for each triangle
    const geometry = indexed.toNonIndexed();
    info.parts.forEach((part, i) => geometry.addGroup(3 * part.first, 3 * part.count, i));
    geometry.computeVertexNormals();
    return geometry;
}

function heightGeometry(d: Description, buffers: Buffers, index: number): THREE.BufferGeometry {
    const f = d.height_fields[index];
    const heights = new Float32Array(buffers.heights[index]);
    const geometry = new THREE.PlaneGeometry(2 * f.half_x, 2 * f.half_y, f.columns - 1, f.rows - 1);
    const position = geometry.attributes.position as THREE.BufferAttribute;
    for (let r = 0; r < f.rows; r++) {
        for (let c = 0; c < f.columns; c++) {
            position.setZ((f.rows - 1 - r) * f.columns + c, heights[r * f.columns + c]); // three's rows go down
        }
    }
    geometry.computeVertexNormals();
    return geometry;
}

export function shapeGeometry(d: Description, buffers: Buffers, s: Shape): THREE.BufferGeometry {
    const [a, b, c] = s.size;
    // corners of a circle: fewer where there are many, and as few as look round where the processor draws (0.75 µs a triangle)
    const isMany = d.shapes.length > 200;
    const round = isMany ? (drawing.isPlain ? 8 : 10) : drawing.isPlain ? 20 : 32;
    const around = isMany && drawing.isPlain ? 6 : round;
    switch (s.type) {
    case "plane": return new THREE.PlaneGeometry(60, 60);
    case "sphere": return new THREE.SphereGeometry(a, round, round / 2);
    case "capsule": return new THREE.CapsuleGeometry(a, b, round >> 2, around).rotateX(Math.PI / 2);
    case "cylinder": { // a thin rod has no ends to be seen and no sides to be counted
        const isThin = isMany && drawing.isPlain && a < 0.1 * b;
        return new THREE.CylinderGeometry(a, a, b, isThin ? 4 : around, 1, isThin).rotateX(Math.PI / 2);
    }
    case "cone": return new THREE.ConeGeometry(a, b, around).rotateX(Math.PI / 2);
    case "ellipsoid": return new THREE.SphereGeometry(1, round, round / 2).scale(a, b, c);
    case "box": return new THREE.BoxGeometry(a, b, c);
    case "hull":
    case "mesh": return meshGeometry(d, buffers, s.mesh);
    case "height_field": return heightGeometry(d, buffers, s.height_field);
    }
}

function material(color: readonly number[] | undefined, body: number): THREE.MeshStandardMaterial {
    const m = new THREE.MeshStandardMaterial({ roughness: 0.6, metalness: 0.05 });
    if (color) {
        m.color.setRGB(color[0], color[1], color[2], THREE.SRGBColorSpace);
        m.opacity = color[3];
        m.transparent = color[3] < 1;
    } else {
        m.color.setHex(body === 0 ? 0x9aa4ad : PALETTE[body % PALETTE.length]);
    }
    return m;
}

/** set where the processor draws: plainer surfaces */
export const drawing = { isPlain: false };

/** The floor: squares of one meter, so that motion is seen. */
function floorMaterial(): THREE.MeshLambertMaterial | THREE.MeshBasicMaterial {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 128;
    const pen = canvas.getContext("2d")!;
    pen.fillStyle = "#f4f4f2";
    pen.fillRect(0, 0, 128, 128);
    pen.fillStyle = "#e4e6e8";
    pen.fillRect(0, 0, 64, 64);
    pen.fillRect(64, 64, 64, 64);
    const texture = new THREE.CanvasTexture(canvas);
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.repeat.set(30, 30);
    texture.anisotropy = drawing.isPlain ? 1 : 8;
    texture.colorSpace = THREE.SRGBColorSpace;
    if (drawing.isPlain) { // a plane is lit evenly: no need to compute it
        texture.minFilter = THREE.LinearMipmapNearestFilter;
        return new THREE.MeshBasicMaterial({ map: texture });
    }
    return new THREE.MeshLambertMaterial({ map: texture });
}

export function shapeMesh(d: Description, buffers: Buffers, s: Shape, cache: Map<string, THREE.BufferGeometry>): THREE.Mesh {
    const key = s.mesh >= 0 ? `mesh ${s.mesh}` : `${s.type} ${s.size.join(" ")} ${s.height_field}`;
    let geometry = cache.get(key);
    if (!geometry) {
        cache.set(key, (geometry = shapeGeometry(d, buffers, s)));
        s.mesh < 0 && geometry.clearGroups();
    }
    const parts = s.mesh >= 0 ? d.meshes[s.mesh].parts : [];
    const own = s.type === "plane" ? floorMaterial() : material(s.color, s.body);
    const isPainted = parts.length > 0 && !s.color && parts.some((p) => p.color);
    if (!isPainted) {
        geometry.groups.length > 0 && (geometry = geometry.clone()).clearGroups();
    }
    const mesh = new THREE.Mesh(geometry, isPainted ? parts.map((p) => material(p.color, s.body)) : own);
    const [w, x, y, z, px, py, pz] = s.placement;
    mesh.quaternion.set(x, y, z, w);
    mesh.position.set(px, py, pz);
    mesh.castShadow = s.type !== "plane";
    mesh.receiveShadow = true;
    return mesh;
}

const MERGED = new THREE.MeshStandardMaterial({ roughness: 0.6, metalness: 0.05, vertexColors: true });
const MERGED_PLAIN = new THREE.MeshLambertMaterial({ vertexColors: true });

export const mergedMaterial = (): THREE.Material => (drawing.isPlain ? MERGED_PLAIN : MERGED);

/** The simple shapes of a body as one. */
export function mergedMesh(parts: THREE.Mesh[]): THREE.Mesh {
    const geometries = parts.map((part) => {
        part.updateMatrix();
        const g = part.geometry.clone().applyMatrix4(part.matrix);
        const { r, g: green, b } = (part.material as THREE.MeshStandardMaterial).color;
        const colors = new Float32Array(3 * g.attributes.position.count);
        for (let i = 0; i < colors.length; i += 3) {
            colors.set([r, green, b], i);
        }
        return g.deleteAttribute("uv").setAttribute("color", new THREE.BufferAttribute(colors, 3));
    });
    return new THREE.Mesh(mergeGeometries(geometries)!, mergedMaterial());
}
