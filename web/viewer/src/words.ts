// English and Japanese.
const WORDS = {
    open: ["Open", "開く"], openFolder: ["Open folder", "フォルダを開く"], demos: ["Examples", "サンプル"], play: ["Play", "再生"], pause: ["Pause", "一時停止"], paused: ["paused", "停止中"],
    step: ["One step", "1ステップ"], reset: ["Start again", "最初から"], live: ["now", "現在"], replay: ["the past", "過去"], fork: ["Go on from here", "ここから分岐"], ended: ["the simulation has ended", "シミュレーションは終了しました"],
    speed: ["Speed", "速度"], time: ["Time", "時間"], residual: ["residual of the step", "ステップの残差"], contacts: ["contact forces", "接触力"], newtons: ["newtons at the contacts", "接触力の数値"],
    proved: ["Exact", "厳密"], degraded: ["Approximate", "近似"], stepFailed: ["a step failed", "ステップ失敗"], inTime: ["real time", "実時間"],
    scene: ["Scene", "シーン"], tuning: ["Tuning", "調整"], plots: ["Plots", "グラフ"], script: ["Behavior", "行動"], show: ["Show", "表示"], build: ["Build", "組み立て"],
    world: ["World", "環境"], gravity: ["gravity", "重力"], timestep: ["time step", "時間刻み"], targets: ["Targets", "目標値"], gains: ["Gains", "ゲイン"], all: ["all", "全部"],
    limits: ["Limits", "制限"], masses: ["Masses", "質量"], friction: ["Friction", "摩擦"], solver: ["Solver", "ソルバ"], budget: ["sweep budget (0: exact)", "反復上限 (0: 厳密)"],
    tolerance: ["tolerance", "許容残差"], explicitServos: ["explicit servos", "陽的サーボ"], integrator: ["integrator", "積分法"], default: ["default", "標準"], material: ["material", "材質"], actuator: ["actuator", "アクチュエータ"],
    cones: ["friction cones", "摩擦錐"], joints: ["joint axes", "関節軸"], frames: ["frames", "座標系"], com: ["center of mass", "重心"], zmp: ["ZMP and support", "ZMPと支持多角形"], tendons: ["tendons", "腱"],
    inertia: ["inertia ellipsoids", "慣性楕円体"], wrenches: ["joint forces", "関節力"], sensors: ["range sensors", "距離センサ"], signs: ["Signs", "記号"], bodies: ["Bodies", "剛体"], camera: ["Camera", "カメラ"],
    visualView: ["as they look", "外観"], collisionView: ["collision shapes", "衝突形状"], inertiaView: ["inertias", "慣性"], ghost: ["ghost of the other future", "分岐前の残像"], modelCamera: ["the model's camera", "モデルのカメラ"],
    front: ["Front", "前"], back: ["Back", "後"], left: ["Left", "左"], right: ["Right", "右"], top: ["Top", "上"], corner: ["Corner", "斜め"],
    solid: ["solid", "通常"], glass: ["transparent", "半透明"], wire: ["wireframe", "線画"], hidden: ["hidden", "非表示"], look: ["Look", "見た目"], drawnAs: ["drawn as", "描き方"], isolate: ["Only this", "これだけ表示"], hideAll: ["Hide", "隠す"],
    showAll: ["Show all", "すべて表示"], lookAt: ["Look at it", "注視"], followIt: ["Follow", "追従"], unselect: ["Deselect", "選択解除"], mass: ["mass", "質量"], place: ["place", "位置"], touches: ["touches", "接触:"],
    poseByHand: ["Joints by hand", "関節を手で動かす"], states: ["States", "状態"], keyframe: ["Keyframe", "キーフレーム"], keep: ["Keep this", "記憶"], backTo: ["Back to it", "記憶に戻る"], copyState: ["Copy state", "状態をコピー"], holdPose: ["Hold this pose", "この姿勢を保つ"],
    selectHint: ["Click a body to see its numbers.", "剛体をクリックすると数値が見えます。"], filter: ["Find a body", "剛体を探す"], wholeScene: ["whole scene", "全体"],
    follow: ["follow the robot", "ロボットを追従"], nothing: ["none", "なし"], selection: ["Selection", "選択"], shot: ["Screenshot", "スクリーンショット"], film: ["Record video", "動画を録画"],
    help: ["Keys", "キー操作"], dark: ["Dark", "暗色"], save: ["Save parameters", "パラメータ保存"], language: ["日本語", "English"], panels: ["Panels", "パネル"], loading: ["loading", "読み込み中"], view3d: ["3D view", "3次元表示"],
    tools: ["Mouse", "マウスの働き"], toolLook: ["Look: turn the view, click selects (1)", "見る: 視点を回し、クリックで選ぶ (1)"], toolHand: ["Hand: pull bodies (2)", "手: 剛体を引く (2)"], toolBuild: ["Build: add and move parts (3)", "組み立て: 部品を加え、動かす (3)"],
    drop: ["Drop a URDF, MJCF, zip, folder or recording here. Everything stays on this machine.", "URDF・MJCF・zip・フォルダ・記録をここにドロップ。データは外に出ません。"],
    turnHint: ["Drag to turn the view, wheel to zoom", "ドラッグで視点を回し、ホイールで拡大"], pullHint: ["Pull the robot: the hand above, or hold Alt", "上の「手」か Alt を押しながらロボットを引く"], dropHint: ["Drop your own robot anywhere", "自分のロボットをどこにでもドロップ"], gotIt: ["Got it", "わかりました"],
    noModel: ["No model or recording in", "モデルも記録もありません:"], noMesh: ["None of these files is a mesh.", "メッシュのファイルがありません。"],
    meshesMissing: ["% meshes are missing: drop the folder they are in, too.", "メッシュが % 個見つかりません。メッシュのあるフォルダもドロップしてください。"],
    noParameters: ["The .karakuri.json beside the model holds no saved parameters; it is left out.", ".karakuri.json に保存されたパラメータがないため無視しました。"],
    noTable: ["The .csv beside the model is no table of controls: its first column must be called time.", ".csv は制御表ではありません: 最初の列名は time です。"],
    scriptStuck: ["the script did not come to an end; it was stopped and the scene begins anew", "スクリプトが終わらないため停止し、シーンを最初から始めます"], scriptFile: ["Script", "スクリプト"], scriptAdd: ["Another script, to be imported", "取り込むスクリプトを追加"], mainScript: ["before every step", "毎ステップの前"],
    foreignScript: ["This file brings a script. Let it drive the robot?", "このファイルにはスクリプトが含まれています。実行しますか?"], allow: ["Run it", "実行する"], refuse: ["Leave it", "実行しない"],
    apply: ["Run", "実行"], stop: ["Stop", "停止"], line: ["line", "行"], saved: ["saved", "保存しました"],
    clear: ["Clear", "消去"], close: ["Close", "閉じる"], remove: ["remove", "削除"], differs: ["differs", "不一致"], mainFile: ["File", "ファイル"], wholeTime: ["All", "全期間"], followTime: ["Now", "現在"],
    overTime: ["over time", "時系列"], spectrum: ["spectrum", "スペクトル"], xy: ["x – y", "x – y"], logAxis: ["logarithmic axis", "対数軸"], chartKind: ["Kind of plot", "グラフの種類"],
    share: ["Share", "共有"], shareFile: ["The address holds no files: whoever opens it needs the model as well.", "アドレスにファイルは含まれません。相手にもモデルが必要です。"], link: ["Address", "アドレス"], embed: ["To put into a page", "ページへの埋め込み"], copy: ["Copy", "コピー"], standUp: ["Stand up again", "立ち直る"],
    parts: ["Parts", "部品"], box: ["Box", "箱"], sphere: ["Ball", "球"], capsule: ["Capsule", "カプセル"], cylinder: ["Cylinder", "円柱"], ellipsoid: ["Ellipsoid", "楕円体"], mesh: ["Mesh…", "メッシュ…"], obstacle: ["fixed: an obstacle", "固定: 障害物にする"],
    placeHint: ["Click where it shall stand.", "置く場所をクリックしてください。"], pickHint: ["Click the other body, or the ground.", "相手の剛体か地面をクリックしてください。"], buildHint: ["Choose a part, then click where it shall stand. Click a body to change it.", "部品を選び、置く場所をクリック。剛体をクリックすると編集できます。"],
    undo: ["Undo", "元に戻す"], redo: ["Redo", "やり直す"], duplicate: ["Duplicate", "複製"], delete: ["Delete", "削除"], translate: ["Move", "移動"], rotate: ["Turn", "回転"], scale: ["Size", "大きさ"], half: ["half", "半分の"], radius: ["radius", "半径"], halfLength: ["half length", "半分の長さ"],
    density: ["density", "密度"], color: ["color", "色"], joint: ["Joint", "関節"], hangsOn: ["hangs on", "親"], pickParent: ["Hang on…", "親を選ぶ…"], spring: ["Spring to…", "ばねをつなぐ…"], axis: ["axis", "軸"], anchor: ["anchor", "支点"], lower: ["lower limit", "下限"], upper: ["upper limit", "上限"], stiffness: ["spring", "ばね"], damping: ["damping", "減衰"],
    motor: ["motor", "モータ"], torqueMotor: ["torque", "トルク"], servo: ["servo", "サーボ"], speedMotor: ["speed", "速度"], file: ["File", "ファイル"], saveMjcf: ["Save as MJCF", "MJCFで保存"], saveUrdf: ["Save as URDF", "URDFで保存"],
    score: ["Score", "得点"], tries: ["tries left", "残り回数"], craneHelp: ["Arrows move, with shift: jerk · space lowers, grabs, lifts · again: lets go", "矢印: 移動 (Shift: 急に) · スペース: 降下・つかむ・上昇 · もう一度: 離す"], newGame: ["New game", "もう一度"],
    jerk: ["jerk", "急に動かす"], grab: ["Grab", "つかむ"], won: ["You got the", "獲得:"], lost: ["It slipped away!", "落ちました!"], gameOver: ["That was it!", "終了!"], sound: ["sound", "音"], keys: ["Keyboard and mouse", "キーボードとマウス"],
    keyPlay: ["play, pause", "再生・一時停止"], keyStep: ["one step", "1ステップ"], keyReset: ["start again", "最初から"], keyBack: ["back, forward in time", "巻き戻し・早送り"], keyTools: ["look, hand, build", "見る・手・組み立て"], keyEscape: ["deselect", "選択解除"],
    keyDrag: ["pull a body with a spring", "剛体をばねで引く"], keyTurn: ["turn, move, zoom the view", "視点の回転・移動・拡大"], keyAll: ["show everything", "全体表示"], keyFollow: ["follow the robot", "ロボットを追従"], keyHelp: ["this help", "このヘルプ"], keyPose: ["pose it while paused", "停止中に姿勢を変える"],
    mouseBody: ["hand, or Alt and mouse", "手、または Alt とマウス"], mouseView: ["mouse: left, right, wheel", "マウス: 左・右・ホイール"], mouseShift: ["Shift and mouse", "Shift とマウス"], keySpace: ["space", "スペース"],
} as const;

/** Words of signals and types of joints; what has none stays as it is. */
const TERMS: Record<string, string> = {
    "q": "角度", "velocity": "速度", "torque": "トルク", "power": "パワー", "joint force": "関節力", "joint moment": "関節モーメント", "kinetic energy": "運動エネルギー", "potential energy": "位置エネルギー", "energy": "エネルギー", "contacts": "接触点数",
    "residual": "残差", "power of actuators": "アクチュエータのパワー", "center of mass x": "重心 x", "center of mass y": "重心 y", "center of mass z": "重心 z", "ZMP x": "ZMP x", "ZMP y": "ZMP y",
    "hinge": "回転", "slide": "直動", "fixed": "固定", "free": "自由", "ball": "球", "universal": "自在", "planar": "平面", "screw": "ねじ", "cylindrical": "円筒",
    "box": "箱", "heart": "ハート", "drum": "太鼓", "gift": "贈り物",
};

/** Notices of the engine, by what stands in them. */
const NOTICES: [RegExp, string][] = [
    [/recording is of another model: it has other joints/, "記録は別のモデルのものです: 関節かアクチュエータの数が違います"], [/recording is of another model, or of this one before/, "記録は別のモデル、または変更前のモデルのものです"],
    [/the simulation has gone/, "シミュレーションとの接続が切れました"], [/the table of controls needs/, "制御表には time の列、アクチュエータ名の列、すべての行の数値が必要です"], [/holds more than 400 MB/, "書庫が 400 MB を超えています"],
    [/zip archive has no directory/, "zip が壊れています"], [/more than its directory says/, "書庫の中身が目録より大きいため中止しました"], [/engine's memory is full/, "エンジンのメモリが足りません"], [/out of memory/, "メモリが足りません"], [/no WebGL 2/, "このブラウザは WebGL 2 に対応していません"],
    [/no element/, "モデルの要素がありません"], [/certif|residual|could not be proved/i, "ステップの厳密性を証明できませんでした"], [/(no such file|there is no file|cannot be read|not found)/, "ファイルが見つかりません"], [/ignored/, "一部の要素は無視されました"],
];

export type Word = keyof typeof WORDS;
let index = (localStorage.getItem("language") ?? navigator.language).startsWith("ja") ? 1 : 0;
export const t = (id: Word): string => WORDS[id][index];
export const isJapanese = () => index === 1;
export const word = (term: string): string => (index ? TERMS[term] ?? term : term);

/** A notice in the language of the page, with its place in a file. */
export function say(text: string): string {
    if (!index || /[ぁ-んァ-ン一-龥]/.test(text)) {
        return text;
    }
    const place = /^([^\s:]+:\d+(:\d+)?): /.exec(text)?.[1];
    return `${place ? `${place}: ` : ""}${NOTICES.find(([pattern]) => pattern.test(text))?.[1] ?? `エンジンからの報告: ${text}`}`;
}

export function switchLanguage(): void {
    index = 1 - index;
    localStorage.setItem("language", index ? "ja" : "en");
    translate(document);
}
/** Fills every element that names a word. */
export function translate(root: ParentNode): void {
    root.querySelectorAll<HTMLElement>("[data-t]").forEach((e) => { e.textContent = t(e.dataset.t as Word); });
    root.querySelectorAll<HTMLElement>("[data-tt]").forEach((e) => { e.title = t(e.dataset.tt as Word); e.setAttribute("aria-label", e.title); });
    document.documentElement.lang = index ? "ja" : "en";
}
