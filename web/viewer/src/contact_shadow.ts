// The darkness right under what stands or hovers over a level floor: the scene as seen from below, darker the nearer it is, blurred. A sun's shadow alone
// leaves things floating.
import * as THREE from "three";

const SIDE = 256;
const BLUR = `varying vec2 at; void main() { at = uv; gl_Position = vec4(position.xy, 0.0, 1.0); }`;

export class ContactShadow {
    readonly plane: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;
    private readonly camera = new THREE.OrthographicCamera(-1, 1, 1, -1, 0, 1);
    private readonly targets = [0, 1].map(() => new THREE.WebGLRenderTarget(SIDE, SIDE));
    private readonly quad = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), new THREE.ShaderMaterial({ depthTest: false, depthWrite: false,
        uniforms: { from: { value: null }, step: { value: new THREE.Vector2() } }, vertexShader: BLUR,
        fragmentShader: `uniform sampler2D from; uniform vec2 step; varying vec2 at; void main() {
            vec4 sum = vec4(0.0); for (int i = -6; i <= 6; i++) { float k = exp(-float(i * i) / 14.0); sum += k * texture2D(from, at + float(i) * step); }
            gl_FragColor = sum / 6.62; }` }));
    private readonly scene = new THREE.Scene();

    constructor() {
        this.plane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.MeshBasicMaterial({ map: this.targets[0].texture, transparent: true, depthWrite: false, toneMapped: false,
            side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1, color: 0x000000 }));
        this.plane.renderOrder = 0.5;
        this.scene.add(this.quad);
    }

    /** Depth from below as alpha; for meshes as they are. */
    static material(): THREE.MeshDepthMaterial {
        const material = new THREE.MeshDepthMaterial({ side: THREE.DoubleSide });
        material.customProgramCacheKey = () => "contact shadow";
        material.onBeforeCompile = (shader) => {
            shader.fragmentShader = shader.fragmentShader.replace(/gl_FragColor = vec4\( vec3\( 1\.0 - fragCoordZ \), opacity \);/,
                "float near = 1.0 - fragCoordZ; gl_FragColor = vec4(0.0, 0.0, 0.0, near * near);");
        };
        return material;
    }

    /** @param casters  with what to draw each */
    render(renderer: THREE.WebGLRenderer, casters: [THREE.Mesh, THREE.Material][], center: THREE.Vector3, height: number, radius: number): void {
        const { camera } = this;
        camera.left = camera.bottom = -radius;
        camera.right = camera.top = radius;
        camera.far = 0.35 * radius;
        camera.updateProjectionMatrix();
        camera.up.set(0, 1, 0);
        camera.position.set(center.x, center.y, height);
        camera.lookAt(center.x, center.y, height + 1);
        this.plane.position.set(center.x, center.y, height + 0.0006 * radius);
        this.plane.scale.set(-2 * radius, 2 * radius, 1);
        const own = casters.map(([mesh]) => mesh.material), parents = casters.map(([mesh]) => mesh.parent), kept = renderer.getClearColor(new THREE.Color()), alpha = renderer.getClearAlpha();
        const auto = renderer.shadowMap.autoUpdate;
        renderer.shadowMap.autoUpdate = false;
        renderer.setClearColor(0x000000, 0);
        renderer.setRenderTarget(this.targets[0]);
        renderer.clear();
        const scene = new THREE.Scene();
        scene.matrixWorldAutoUpdate = false;
        casters.forEach(([mesh, material]) => { mesh.material = material; scene.children.push(mesh); });
        renderer.render(scene, camera);
        casters.forEach(([mesh], i) => { mesh.material = own[i]; mesh.parent = parents[i]; });
        this.blur(renderer, 0, 1, 1 / SIDE, 0);
        this.blur(renderer, 1, 0, 0, 1 / SIDE);
        renderer.setRenderTarget(null);
        renderer.setClearColor(kept, alpha);
        renderer.shadowMap.autoUpdate = auto;
    }

    private blur(renderer: THREE.WebGLRenderer, from: number, to: number, x: number, y: number): void {
        this.quad.material.uniforms.from.value = this.targets[from].texture;
        this.quad.material.uniforms.step.value.set(x, y);
        renderer.setRenderTarget(this.targets[to]);
        renderer.clear();
        renderer.render(this.scene, this.camera);
    }
}
