// Geometry of the model's shapes. z is the axis of all that have one.
import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import type { Description, Shape } from "karakuri-dynamics";
import { setCreasedNormals } from "./creases.js";
import { principal } from "./overlays.js";
import { colorOfBody } from "./palette.js";
import type { Sky } from "./sky.js";

export interface Buffers { meshes: ArrayBuffer[]; heights: ArrayBuffer[] }

/** set where the processor draws: plainer surfaces */
export const drawing = { isPlain: false };

/** Triangles of a mesh; faces of a part are a group with the part's color. */
function meshGeometry(d: Description, buffers: Buffers, index: number): THREE.BufferGeometry {
    const info = d.meshes[index];
    const bytes = buffers.meshes[index];
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute("position", new THREE.BufferAttribute(new Float32Array(bytes, 0, 3 * info.vertices), 3));
    indexed.setIndex(new THREE.BufferAttribute(new Uint32Array(bytes, 12 * info.vertices, 3 * info.faces), 1));
    const geometry = indexed.toNonIndexed();
    info.parts.forEach((part, i) => geometry.addGroup(3 * part.first, 3 * part.count, i));
    setCreasedNormals(geometry);
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
    const round = isMany ? (drawing.isPlain ? 8 : 10) : drawing.isPlain ? 20 : 40;
    const around = isMany && drawing.isPlain ? 6 : round;
    switch (s.type) {
    case "plane": return new THREE.PlaneGeometry(400, 400);
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

/** A pattern that a file describes, as a picture of its own. */
function patternTexture(texture: NonNullable<Shape["texture"]>): THREE.Texture | undefined {
    if (texture.pattern !== "checker" && texture.pattern !== "gradient" || !texture.colors) {
        return undefined;
    }
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 128;
    const pen = canvas.getContext("2d")!;
    const [first, second] = [0, 3].map((at) => `rgb(${texture.colors!.slice(at, at + 3).map((c) => Math.round(255 * c)).join(" ")})`);
    pen.fillStyle = first;
    pen.fillRect(0, 0, 128, 128);
    if (texture.pattern === "checker") {
        pen.fillStyle = second;
        pen.fillRect(0, 0, 64, 64);
        pen.fillRect(64, 64, 64, 64);
    } else {
        const ramp = pen.createLinearGradient(0, 0, 0, 128);
        ramp.addColorStop(0, first);
        ramp.addColorStop(1, second);
        pen.fillStyle = ramp;
        pen.fillRect(0, 0, 128, 128);
    }
    return tiled(new THREE.CanvasTexture(canvas), texture);
}

function tiled(map: THREE.Texture, texture: NonNullable<Shape["texture"]>): THREE.Texture {
    map.wrapS = map.wrapT = THREE.RepeatWrapping;
    map.repeat.set(texture.repeat?.[0] || 1, texture.repeat?.[1] || 1);
    map.anisotropy = 8;
    map.colorSpace = THREE.SRGBColorSpace;
    return map;
}

/** A picture that was dropped with the model, found by the end of its path. */
function fileTexture(texture: NonNullable<Shape["texture"]>, pictures: Map<string, Uint8Array>): THREE.Texture | undefined {
    const name = (texture.file ?? "").replaceAll("\\", "/").split("/").pop();
    const found = name ? [...pictures].find(([path]) => path === name || path.endsWith(`/${name}`)) : undefined;
    if (!found || !/\.(png|jpe?g|webp)$/i.test(found[0])) {
        return undefined;
    }
    const map = new THREE.Texture();
    const url = URL.createObjectURL(new Blob([found[1] as BlobPart]));
    const image = new Image();
    image.onload = () => { map.image = image; map.needsUpdate = true; URL.revokeObjectURL(url); };
    image.src = url;
    return tiled(map, texture);
}

/** Where a mesh has no coordinates for a picture: the two axes along which it is longest. */
function addCoordinates(geometry: THREE.BufferGeometry, s: Shape): void {
    const position = geometry.attributes.position;
    if (geometry.attributes.uv && !s.texture?.by_size && s.mesh < 0) {
        return;
    }
    geometry.computeBoundingBox();
    const size = geometry.boundingBox!.getSize(new THREE.Vector3()), low = geometry.boundingBox!.min;
    const [u, v] = (["x", "y", "z"] as const).slice().sort((a, b) => size[b] - size[a]);
    const scale = (axis: "x" | "y" | "z") => (s.texture?.by_size ? 1 : 1 / (size[axis] || 1));
    const get = { x: (i: number) => position.getX(i), y: (i: number) => position.getY(i), z: (i: number) => position.getZ(i) };
    const uv = new Float32Array(2 * position.count);
    for (let i = 0; i < position.count; i++) {
        uv.set([(get[u](i) - low[u]) * scale(u), (get[v](i) - low[v]) * scale(v)], 2 * i);
    }
    geometry.setAttribute("uv", new THREE.BufferAttribute(uv, 2));
}

function material(rgba: readonly number[]): THREE.MeshStandardMaterial {
    const m = new THREE.MeshStandardMaterial({ roughness: 0.48, metalness: 0.02 });
    m.color.setRGB(rgba[0], rgba[1], rgba[2], THREE.SRGBColorSpace);
    m.opacity = rgba[3] ?? 1;
    m.transparent = m.opacity < 1;
    return m;
}

export function shapeMesh(d: Description, buffers: Buffers, s: Shape, cache: Map<string, THREE.BufferGeometry>, sky: Sky, pictures: Map<string, Uint8Array>): THREE.Mesh {
    const key = s.mesh >= 0 ? `mesh ${s.mesh}` : `${s.type} ${s.size.join(" ")} ${s.height_field}`;
    let geometry = cache.get(key);
    if (!geometry) {
        cache.set(key, (geometry = shapeGeometry(d, buffers, s)));
        s.mesh < 0 && geometry.clearGroups();
    }
    const otherwise = colorOfBody(d, s.body);
    const parts = s.mesh >= 0 ? d.meshes[s.mesh].parts : [];
    const isPainted = parts.length > 0 && !s.color && parts.some((p) => p.color);
    if (!isPainted && geometry.groups.length > 0) {
        (geometry = geometry.clone()).clearGroups();
    }
    const map = s.texture && s.type !== "plane" ? patternTexture(s.texture) ?? fileTexture(s.texture, pictures) : undefined;
    let look: THREE.Material | THREE.Material[] = s.type === "plane" ? sky.floorMaterial(drawing.isPlain) : material(s.color ?? otherwise);
    if (map) {
        geometry = geometry.clone();
        addCoordinates(geometry, s);
        (look as THREE.MeshStandardMaterial).map = map;
    }
    if (isPainted) {
        look = parts.map((p) => material(p.color ?? otherwise));
    }
    const mesh = new THREE.Mesh(geometry, look);
    const [w, x, y, z, px, py, pz] = s.placement;
    mesh.quaternion.set(x, y, z, w);
    mesh.position.set(px, py, pz);
    mesh.castShadow = s.type !== "plane";
    mesh.receiveShadow = true;
    return mesh;
}

/** The box of even density with a body's mass and moments. */
export function inertiaBox(d: Description, body: number): THREE.Mesh {
    const b = d.bodies[body], { axes, values: [x, y, z] } = principal(b.moment);
    const edge = (sum: number) => Math.max(0.01, Math.sqrt(Math.max(0, (6 / b.mass) * sum)));
    const mesh = new THREE.Mesh(new THREE.BoxGeometry(edge(y + z - x), edge(z + x - y), edge(x + y - z)), material(colorOfBody(d, body)));
    mesh.applyMatrix4(axes.clone().setPosition(b.com[0], b.com[1], b.com[2]));
    mesh.userData.shape = -1;
    return mesh;
}

const MERGED = new THREE.MeshStandardMaterial({ roughness: 0.48, metalness: 0.02, vertexColors: true });
const MERGED_PLAIN = new THREE.MeshLambertMaterial({ vertexColors: true });

export const mergedMaterial = (): THREE.Material => (drawing.isPlain ? MERGED_PLAIN : MERGED);

/** The simple shapes of a body as one; which triangle is of which shape stands in its userData. */
export function mergedMesh(parts: THREE.Mesh[]): THREE.Mesh {
    let triangles = 0;
    const ends: [number, number][] = [];
    const geometries = parts.map((part) => {
        part.updateMatrix();
        const g = part.geometry.clone().applyMatrix4(part.matrix);
        const { r, g: green, b } = (part.material as THREE.MeshStandardMaterial).color;
        const colors = new Float32Array(3 * g.attributes.position.count);
        for (let i = 0; i < colors.length; i += 3) {
            colors.set([r, green, b], i);
        }
        triangles += (g.index?.count ?? g.attributes.position.count) / 3;
        ends.push([triangles, part.userData.shape as number]);
        return g.deleteAttribute("uv").setAttribute("color", new THREE.BufferAttribute(colors, 3));
    });
    const mesh = new THREE.Mesh(mergeGeometries(geometries)!, mergedMaterial());
    geometries.forEach((g) => g.dispose());
    parts.forEach((part) => (part.material as THREE.Material).dispose());
    mesh.userData.ends = ends;
    mesh.userData.isMerged = true;
    return mesh;
}

/** The shape that a hit triangle belongs to. */
export function shapeOf(hit: THREE.Intersection): number {
    const { ends, shape } = hit.object.userData as { ends?: [number, number][]; shape?: number };
    return ends ? ends.find(([end]) => (hit.faceIndex ?? 0) < end)?.[1] ?? -1 : shape ?? -1;
}
