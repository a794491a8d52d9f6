// Light, air and ground, by the same numbers as `karakuri render` (tools/cli/render/light.c, draw.c), so that a picture by the page and one by the tool
// look alike: a warm sun, a sky that gets bluer upwards, light that comes back from the ground, white that rolls off without burning out.
import * as THREE from "three";

/** The tool's curve: linear up to the knee, then a roll-off; linear values, the curve of sRGB comes behind it. */
THREE.ShaderChunk.tonemapping_pars_fragment = THREE.ShaderChunk.tonemapping_pars_fragment.replace("vec3 CustomToneMapping( vec3 color ) { return color; }",
    `vec3 CustomToneMapping( vec3 color ) {
        color = min(color * toneMappingExposure, vec3(1.6));
        return mix(color, 0.75 + 0.25 * (1.0 - exp(-(color - 0.75) / 0.25)), step(0.75, color));
    }`);

export const SUN = new THREE.Vector3(Math.cos((-62 - 55) * Math.PI / 180), Math.sin((-62 - 55) * Math.PI / 180), 1.05).normalize();
const LIGHT = { horizon: [0.86, 0.90, 0.94], zenith: [0.42, 0.60, 0.84] }, DARK = { horizon: [0.035, 0.04, 0.05], zenith: [0.012, 0.014, 0.02] };
const FLOOR = [0.53, 0.555, 0.59], DARK_FLOOR = [0.075, 0.08, 0.09];
const color = (rgb: number[]) => new THREE.Color().setRGB(rgb[0], rgb[1], rgb[2], THREE.LinearSRGBColorSpace);

const DOME = `varying vec3 way; void main() { way = position; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); gl_Position.z = gl_Position.w; }`;
const AIR = `
vec3 airOf(float up) { return mix(horizon, zenith, smoothstep(-0.05, 0.8, up)); }`;

/** Radiance that lights things: sky above, the ground's answer below. */
function lamps(): THREE.Scene {
    const scene = new THREE.Scene();
    const material = new THREE.ShaderMaterial({ side: THREE.BackSide, depthWrite: false, toneMapped: false, vertexShader: DOME,
        fragmentShader: `varying vec3 way; void main() {
            float up = normalize(way).z;
            vec3 sky = 0.72 * mix(vec3(0.86, 0.91, 1.0), vec3(0.70, 0.82, 1.0), clamp(up, 0.0, 1.0));
            gl_FragColor = vec4(mix(0.25 * vec3(1.0, 0.97, 0.92), sky, smoothstep(-0.12, 0.12, up)), 1.0);
        }` });
    scene.add(new THREE.Mesh(new THREE.SphereGeometry(10, 32, 16), material));
    return scene;
}

export class Sky {
    readonly group = new THREE.Group();
    readonly sun = new THREE.DirectionalLight(0xffffff, Math.PI);
    private readonly bounce = new THREE.HemisphereLight(0xffffff, 0xffffff, Math.PI);
    private readonly air = { horizon: { value: color(LIGHT.horizon) }, zenith: { value: color(LIGHT.zenith) } };
    private readonly floor = { squareSide: { value: 0.5 }, middle: { value: new THREE.Vector3() }, reach: { value: 2 } };
    private readonly dome: THREE.Mesh;
    private environment: THREE.WebGLRenderTarget | undefined;
    private isDark = false;

    constructor(private readonly renderer: THREE.WebGLRenderer, private readonly scene: THREE.Scene) {
        renderer.toneMapping = THREE.CustomToneMapping;
        this.sun.color = color([1.28, 1.20, 1.08]);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        this.sun.shadow.bias = -0.0004;
        this.sun.shadow.radius = 3.5;
        const material = new THREE.ShaderMaterial({ side: THREE.BackSide, depthWrite: false, uniforms: this.air, vertexShader: DOME,
            fragmentShader: `uniform vec3 horizon, zenith; varying vec3 way; ${AIR}
                void main() { gl_FragColor = vec4(airOf(normalize(way).z), 1.0);
                #include <tonemapping_fragment>
                #include <colorspace_fragment>
            }` });
        this.dome = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 12), material);
        this.dome.frustumCulled = false;
        this.dome.renderOrder = -1;
        this.group.add(this.sun, this.sun.target, this.bounce, this.dome);
    }

    /** Lit by the map where surfaces shine, by two colors where the processor draws. */
    setMapped(isMapped: boolean): void {
        if (isMapped && !this.environment) {
            const maker = new THREE.PMREMGenerator(this.renderer);
            this.environment = maker.fromScene(lamps(), 0.02);
            maker.dispose();
        }
        this.scene.environment = isMapped ? this.environment!.texture : null;
        this.bounce.visible = !isMapped;
        this.setDark(this.isDark);
    }

    setDark(dark: boolean): void {
        this.isDark = dark;
        const air = dark ? DARK : LIGHT, dim = dark ? 0.55 : 1;
        this.air.horizon.value.copy(color(air.horizon));
        this.air.zenith.value.copy(color(air.zenith));
        this.sun.intensity = Math.PI * (dark ? 0.75 : 1);
        this.scene.environmentIntensity = dim;
        this.bounce.color = color([0.6 * dim, 0.66 * dim, 0.75 * dim]);
        this.bounce.groundColor = color([0.25 * dim, 0.24 * dim, 0.23 * dim]);
        this.paint?.(dark);
    }

    /** What else changes with day and night. */
    private paint: ((dark: boolean) => void) | undefined;

    /** Around a place, as wide as what is shown; squares are a fifth of it, a round number. */
    surround(center: THREE.Vector3, radius: number, size: number): void {
        let side = 1e-4;
        for (let i = 0; side * [2, 2.5, 2][i % 3] < size / 5 && i < 40; i++) {
            side *= [2, 2.5, 2][i % 3];
        }
        this.floor.squareSide.value = side;
        this.floor.middle.value.copy(center);
        this.floor.reach.value = size;
        const box = this.sun.shadow.camera;
        box.left = box.bottom = -radius;
        box.right = box.top = radius;
        box.near = 0.1;
        box.far = 8 * radius;
        box.updateProjectionMatrix();
        this.sun.shadow.normalBias = (3 * radius) / this.sun.shadow.mapSize.x; // a texel and a half
        this.move(center);
    }

    /** Sun and haze follow what is looked at. */
    move(center: THREE.Vector3): void {
        const far = this.sun.shadow.camera.far / 2.6;
        this.sun.target.position.copy(center);
        this.sun.position.copy(center).addScaledVector(SUN, far);
        this.floor.middle.value.copy(center);
    }

    update(camera: THREE.PerspectiveCamera): void {
        this.dome.position.copy(camera.position);
        this.dome.scale.setScalar(camera.near * 20);
    }

    /** A level plane: squares that stay clean far away, in the haze of the horizon at last. */
    floorMaterial(isPlain: boolean): THREE.Material {
        const material = isPlain ? new THREE.MeshBasicMaterial() : new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0 });
        const lit = isPlain ? 1.42 : 1;
        const paint = (dark: boolean) => material.color.copy(color(dark ? DARK_FLOOR : FLOOR)).multiplyScalar(lit);
        paint(this.isDark);
        const before = this.paint;
        this.paint = (dark) => { before?.(dark); paint(dark); };
        material.onBeforeCompile = (shader) => {
            Object.assign(shader.uniforms, this.air, this.floor);
            shader.vertexShader = `varying vec3 onFloor;\n${shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\nonFloor = (modelMatrix * vec4(position, 1.0)).xyz;")}`;
            shader.fragmentShader = `uniform vec3 horizon, zenith, middle; uniform float squareSide, reach; varying vec3 onFloor;
                // the mean over a pixel of a wave that is 1 on even squares and -1 on odd ones
                float wave(float x, float w) { float a = mod(x - 0.5 * w, 2.0), b = mod(x + 0.5 * w, 2.0);
                    float ta = a < 1.0 ? a : 2.0 - a, tb = b < 1.0 ? b : 2.0 - b; return clamp((tb - ta) / w, -1.0, 1.0); }
                ${shader.fragmentShader
                    .replace("#include <color_fragment>", `#include <color_fragment>
                        vec2 square = onFloor.xy / squareSide, span = max(fwidth(square), 1e-4);
                        diffuseColor.rgb *= 1.0 + 0.11 * wave(square.x, span.x) * wave(square.y, span.y);`)
                    .replace("#include <opaque_fragment>", `#include <opaque_fragment>
                        gl_FragColor.rgb = mix(gl_FragColor.rgb, mix(horizon, zenith, smoothstep(-0.05, 0.8, 0.0)), smoothstep(1.5, 14.0, distance(onFloor, middle) / reach));`)}`;
        };
        return material;
    }

    /** Before another model: its floors are gone. */
    forgetFloors(): void { this.paint = undefined; }
}
