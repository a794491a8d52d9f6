// All bodies of simple shapes in one call to the graphics card: every vertex names its body, whose place it looks up in a texture of three texels
// a body, the rows of [R p]. Instances of one mesh would do as well on a card; where the processor draws, each of them costs as much as a call.
import * as THREE from "three";
import { ContactShadow } from "./contact_shadow.js";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";

const ROW = 256; // bodies a row of the texture

const DECLARED = `
attribute float body;
uniform highp sampler2D places;
mat4 placeOf() {
    int i = int(body);
    ivec2 at = ivec2(3 * (i % ${ROW}), i / ${ROW});
    return transpose(mat4(texelFetch(places, at, 0), texelFetch(places, at + ivec2(1, 0), 0), texelFetch(places, at + ivec2(2, 0), 0), vec4(0, 0, 0, 1)));
}
void main() {
    mat4 place = placeOf();`;

/** A material whose vertices are placed by their body. */
function placed<M extends THREE.Material>(material: M, places: THREE.DataTexture): M {
    const before = material.onBeforeCompile.bind(material), key = material.customProgramCacheKey();
    material.customProgramCacheKey = () => `placed ${key}`;
    material.onBeforeCompile = (shader, renderer) => {
        before(shader, renderer);
        shader.uniforms.places = { value: places };
        shader.vertexShader = shader.vertexShader.replace("void main() {", DECLARED)
            .replace("#include <beginnormal_vertex>", "#include <beginnormal_vertex>\nobjectNormal = mat3(place) * objectNormal;")
            .replace("#include <begin_vertex>", "#include <begin_vertex>\ntransformed = (place * vec4(transformed, 1.0)).xyz;");
    };
    return material;
}

export class Crowd {
    readonly mesh: THREE.Mesh;
    /** as it is seen by the shadow below it */
    readonly contactMaterial: THREE.Material;
    private readonly places: THREE.DataTexture;
    private readonly hidden = new Set<number>();

    /** @param looks what every body looks like, in its own frame; with colors */
    constructor(looks: Map<number, THREE.BufferGeometry>, material: THREE.Material) {
        const bodies = [...looks.keys()];
        const geometry = mergeGeometries(bodies.map((body) => named(looks.get(body)!, body)))!;
        const rows = Math.ceil((Math.max(...bodies) + 1) / ROW);
        this.places = new THREE.DataTexture(new Float32Array(12 * ROW * rows), 3 * ROW, rows, THREE.RGBAFormat, THREE.FloatType);
        this.mesh = new THREE.Mesh(geometry, placed(material.clone(), this.places));
        this.mesh.customDepthMaterial = placed(new THREE.MeshDepthMaterial(), this.places);
        this.contactMaterial = placed(ContactShadow.material(), this.places);
        this.mesh.castShadow = this.mesh.receiveShadow = true;
        this.mesh.frustumCulled = false;
    }

    /** Bodies that are not drawn here. */
    hide(body: number, isHidden: boolean): void { isHidden ? this.hidden.add(body) : this.hidden.delete(body); }

    update(bodies: readonly THREE.Object3D[]): void {
        const to = this.places.image.data as Float32Array;
        bodies.forEach((body, i) => {
            body.updateMatrix();
            const e = body.matrix.elements;
            if (this.hidden.has(i)) {
                to.fill(0, 12 * i, 12 * i + 12);
                return;
            }
            for (let row = 0, at = 12 * i; row < 3 && at < to.length; row++, at += 4) {
                to[at] = e[row];
                to[at + 1] = e[row + 4];
                to[at + 2] = e[row + 8];
                to[at + 3] = e[row + 12];
            }
        });
        this.places.needsUpdate = true;
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        this.places.dispose();
        (this.mesh.material as THREE.Material).dispose();
        this.mesh.customDepthMaterial!.dispose();
        this.contactMaterial.dispose();
    }
}

/** The same attributes, and whose they are. */
function named(look: THREE.BufferGeometry, body: number): THREE.BufferGeometry {
    const geometry = new THREE.BufferGeometry().setIndex(look.index);
    Object.entries(look.attributes).forEach(([name, attribute]) => geometry.setAttribute(name, attribute));
    const count = look.attributes.position.count;
    return geometry.setAttribute("body", new THREE.BufferAttribute(new Float32Array(count).fill(body), 1));
}
