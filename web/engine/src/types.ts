// What a description (kk_view_describe) holds; docs/guide/view-protocol.md.

/** w, x, y, z, px, py, pz */
export type Pose = [number, number, number, number, number, number, number];
export type Vec3 = [number, number, number];

export type JointType =
    | "fixed" | "hinge" | "slide" | "screw" | "cylindrical" | "universal" | "planar" | "ball" | "free";
export type ShapeType =
    | "plane" | "sphere" | "capsule" | "cylinder" | "cone" | "ellipsoid" | "box" | "hull" | "mesh" | "height_field";

export interface Dof {
    index: number;
    /** null: none */
    lower: number | null;
    upper: number | null;
    stiffness: number;
    rest: number;
    damping: number;
    friction: number;
    armature: number;
    velocity_limit: number | null;
    effort_limit: number | null;
}

export interface Joint {
    name: string;
    type: JointType;
    /** first coordinate, and how many */
    q: number;
    nq: number;
    /** first degree of freedom, and how many */
    v: number;
    nv: number;
    placement: Pose;
    offset: Pose;
    axis: Vec3;
    axis2: Vec3;
    dofs: Dof[];
}

export interface Body {
    name: string;
    parent: number;
    mass: number;
    com: Vec3;
    /** xx, yy, zz, xy, xz, yz about the center of mass */
    moment: [number, number, number, number, number, number];
    /** absent for the world */
    joint?: Joint;
}

export interface Shape {
    name: string | null;
    body: number;
    type: ShapeType;
    placement: Pose;
    size: Vec3;
    mesh: number;
    height_field: number;
    collides: boolean;
    visible: boolean;
    material: number;
    margin: number;
    color?: [number, number, number, number];
    texture?: { file?: string; pattern?: "flat" | "gradient" | "checker"; colors?: number[]; repeat?: [number, number]; by_size?: boolean };
}

export interface MeshPart {
    name: string | null;
    color?: [number, number, number, number];
    first: number;
    count: number;
}

export interface Mesh {
    name: string;
    vertices: number;
    faces: number;
    parts: MeshPart[];
}

export interface HeightField {
    name: string;
    rows: number;
    columns: number;
    half_x: number;
    half_y: number;
    base: number;
}

export interface Material {
    name: string | null;
    friction: number;
    static_friction: number;
    restitution: number;
    stiffness: number | null;
    [field: string]: unknown;
}

export interface Actuator {
    name: string | null;
    type: "force" | "position" | "velocity" | "damper" | "general";
    target: string | null;
    gear: number;
    gain: number;
    bias: Vec3;
    control_lower: number | null;
    control_upper: number | null;
    force_lower: number | null;
    force_upper: number | null;
    /** body whose joint it moves, and its degree of freedom; -1: none */
    joint: number;
    v: number;
}

export interface Sensor {
    name: string | null;
    type: string;
    target: string | null;
    /** what it sits on */
    id: number;
    on_body: boolean;
    /** first reading, and how many */
    first: number;
    count: number;
    cutoff: number;
    field: number;
    rays: number;
}

export interface Description {
    karakuri: 1;
    name: string;
    hash: string;
    mass: number;
    nq: number;
    nv: number;
    options: { gravity: Vec3; timestep: number; integrator: "midpoint" | "rk4" };
    step: { solver: "exact" | "openhrp" | "springhead" | "kuroda"; tolerance: number; effort: "tolerance" | "newton" | "sweeps"; iterations: number; detection: "continuous" | "discrete" | "overlap"; explicit_servos: boolean };
    bodies: Body[];
    frames: { name: string; body: number; placement: Pose }[];
    shapes: Shape[];
    meshes: Mesh[];
    height_fields: HeightField[];
    materials: Material[];
    actuators: Actuator[];
    sensors: Sensor[];
    loops: { name: string | null; type: string; link1: number; link2: number; placement1: Pose; placement2: Pose }[];
    tendons: { name: string; type: string; items?: { name: string | null; wrap: string | null }[] }[];
    keyframes: { name: string | null; time: number }[];
    /** kept with the scene; the one without a name runs before every step */
    scripts: { name: string | null; text: string }[];
    parameters: { name: string; value: number; lower: number; upper: number }[];
}

export type EditItem = "body" | "dof" | "actuator" | "material" | "tendon" | "loop" | "option" | "step";

export type Command =
    | { do: "control"; actuator: number; value: number }
    | { do: "controls"; values: number[] }
    | { do: "edit"; item: EditItem; id?: number | [number, number]; field: string; value: number | number[] | boolean | string }
    | { do: "drag"; body: number; point: Vec3; target: Vec3; stiffness?: number; damping?: number }
    | { do: "release" }
    | { do: "push"; body: number; force?: Vec3; moment?: Vec3; steps?: number }
    | { do: "pause" } | { do: "play" } | { do: "fork" }
    | { do: "speed"; value: number }
    | { do: "step"; count?: number }
    | { do: "reset"; keyframe?: number }
    | { do: "pose"; q: number[]; v?: number[]; time?: number }
    | { do: "rewind"; step: number }
    | { do: "save"; slot: number } | { do: "restore"; slot: number };

/** A finding of the loader. */
export interface Message {
    severity: "note" | "warning" | "error";
    file: string;
    line: number;
    text: string;
    remedy: string;
}
