// Normals that are smooth where a surface bends by less than 40° and sharp elsewhere, by the mean of the faces around a corner (tools/cli/render/form.c).
import * as THREE from "three";

const BEND = Math.cos((40 * Math.PI) / 180);

/** Number of the place of each vertex: those at the same place, to 1e-6 of the size, have the same. */
function places(vertices: Float32Array): Int32Array {
    const count = vertices.length / 3;
    let reach = 0;
    for (let i = 0; i < vertices.length; i++) {
        reach = Math.max(reach, Math.abs(vertices[i]));
    }
    const scale = 1e6 / (reach || 1);
    let room = 4;
    while (room < 2 * count) {
        room *= 2;
    }
    const table = new Int32Array(room).fill(-1), own = new Int32Array(count);
    const key = (i: number, k: number) => Math.round(vertices[3 * i + k] * scale);
    for (let i = 0; i < count; i++) {
        const [x, y, z] = [key(i, 0), key(i, 1), key(i, 2)];
        let at = (Math.imul(x, 73856093) ^ Math.imul(y, 19349663) ^ Math.imul(z, 83492791)) & (room - 1);
        while (table[at] >= 0 && (key(table[at], 0) !== x || key(table[at], 1) !== y || key(table[at], 2) !== z)) {
            at = (at + 1) & (room - 1);
        }
        table[at] = table[at] < 0 ? i : table[at];
        own[i] = table[at];
    }
    return own;
}

/** @param geometry  triangles without an index */
export function setCreasedNormals(geometry: THREE.BufferGeometry): void {
    const p = geometry.attributes.position.array as Float32Array, corners = p.length / 3, faces = corners / 3;
    const area = new Float32Array(3 * faces), unit = new Float32Array(3 * faces);
    for (let f = 0; f < faces; f++) {
        const at = 9 * f;
        const [ux, uy, uz] = [p[at + 3] - p[at], p[at + 4] - p[at + 1], p[at + 5] - p[at + 2]], [vx, vy, vz] = [p[at + 6] - p[at], p[at + 7] - p[at + 1], p[at + 8] - p[at + 2]];
        const n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], length = Math.hypot(n[0], n[1], n[2]) || 1;
        for (let k = 0; k < 3; k++) {
            area[3 * f + k] = n[k];
            unit[3 * f + k] = n[k] / length;
        }
    }
    const place = places(p), first = new Int32Array(corners).fill(-1), next = new Int32Array(corners);
    for (let i = 0; i < corners; i++) {
        next[i] = first[place[i]];
        first[place[i]] = i;
    }
    const normal = new Float32Array(3 * corners);
    for (let i = 0; i < corners; i++) {
        const own = 3 * Math.floor(i / 3);
        let [x, y, z] = [0, 0, 0];
        for (let at = first[place[i]]; at >= 0; at = next[at]) {
            const f = 3 * Math.floor(at / 3);
            if (unit[f] * unit[own] + unit[f + 1] * unit[own + 1] + unit[f + 2] * unit[own + 2] > BEND || f === own) {
                x += area[f];
                y += area[f + 1];
                z += area[f + 2];
            }
        }
        const length = Math.hypot(x, y, z) || 1;
        normal.set([x / length, y / length, z / length], 3 * i);
    }
    geometry.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
}
