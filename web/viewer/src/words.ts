// English and Japanese.
const WORDS = {
    open: ["Open", "開く"], openFolder: ["Open folder", "フォルダを開く"], demos: ["Demos", "デモ"], play: ["Play", "再生"], pause: ["Pause", "一時停止"],
    step: ["One step", "1ステップ"], reset: ["Reset", "リセット"], live: ["live", "実行中"], replay: ["replay", "リプレイ"], fork: ["Fork here", "ここから分岐"],
    speed: ["Speed", "速度"], time: ["time", "時間"], residual: ["residual", "残差"], realTime: ["real time", "実時間比"], contacts: ["contacts", "接触点"],
    scene: ["Scene", "シーン"], tuning: ["Tuning", "調整"], plots: ["Plots", "グラフ"], script: ["Behavior", "行動"], show: ["Show", "表示"],
    world: ["World", "環境"], gravity: ["gravity", "重力"], timestep: ["time step", "時間刻み"], targets: ["Targets", "目標値"], gains: ["Gains", "ゲイン"],
    limits: ["Limits", "制限"], masses: ["Masses", "質量"], friction: ["Friction", "摩擦"], solver: ["Solver", "ソルバ"], budget: ["sweep budget (0: exact)", "反復上限 (0: 厳密)"],
    tolerance: ["tolerance", "許容残差"], explicitServos: ["explicit servos", "陽的サーボ"], integrator: ["integrator", "積分法"],
    cones: ["friction cones", "摩擦錐"], joints: ["joint axes", "関節軸"], frames: ["frames", "座標系"], com: ["center of mass", "重心"], zmp: ["ZMP and support", "ZMPと支持多角形"],
    inertia: ["inertia ellipsoids", "慣性楕円体"], wrenches: ["joint forces", "関節力"], sensors: ["range sensors", "距離センサ"], collision: ["collision shapes", "衝突形状"],
    follow: ["follow", "追従"], nothing: ["nothing", "なし"], selection: ["selection", "選択"], shot: ["Screenshot", "スクリーンショット"], film: ["Record video", "動画を録画"],
    stopFilm: ["Stop video", "録画停止"], help: ["Keys", "キー操作"], dark: ["Dark", "暗色"], save: ["Save parameters", "パラメータ保存"], language: ["日本語", "English"],
    drop: ["Drop a URDF, MJCF, zip, folder or recording here. Everything stays on this machine.", "URDF・MJCF・zip・フォルダ・記録をここにドロップ。データは外に出ません。"],
    noModel: ["No model or recording in", "モデルも記録もありません:"],
    noParameters: ["The .karakuri.json beside the model holds no saved parameters; it is left out.", ".karakuri.json に保存されたパラメータがないため無視しました。"],
    noTable: ["The .csv beside the model is no table of controls: its first column must be called time.", ".csv は制御表ではありません: 最初の列名は time です。"],
    scriptStuck: ["the script did not come to an end; it was stopped and the scene begins anew", "スクリプトが終わらないため停止し、シーンを最初から始めます"],
    apply: ["Run", "実行"], stop: ["Stop", "停止"], line: ["line", "行"], saved: ["saved", "保存しました"], loaded: ["loaded", "読み込みました"], pickSignal: ["Click a signal to plot it", "信号をクリックしてグラフに表示"],
    clear: ["Clear", "消去"], same: ["same bits", "ビット一致"], differs: ["differs", "不一致"], mainFile: ["File", "ファイル"], standing: ["add floor and servos", "床とサーボを追加"],
    score: ["Score", "得点"], craneHelp: ["Arrows move, with shift: jerk · space lowers, grabs, lifts · again: lets go", "矢印: 移動 (Shift: 急に) · スペース: 降下・つかむ・上昇 · もう一度: 離す"], newGame: ["New game", "もう一度"],
    jerk: ["jerk", "急に動かす"], grab: ["Grab", "つかむ"], won: ["You got the", "獲得:"], lost: ["It slipped away!", "落ちました!"], keys: ["Keyboard", "キーボード"],
    keyPlay: ["play, pause", "再生・一時停止"], keyStep: ["one step", "1ステップ"], keyReset: ["reset", "リセット"], keyBack: ["back, forward in time", "巻き戻し・早送り"],
    keyDrag: ["drag a body with a spring", "物体をばねで引く"], keyTurn: ["turn, move, zoom the view", "視点の回転・移動・拡大"], keyAll: ["show everything", "全体表示"], keyFollow: ["follow the robot", "ロボットを追従"], keyHelp: ["this help", "このヘルプ"],
    mouseBody: ["mouse on a body", "物体上でマウス"], mouseView: ["mouse: left, right, wheel", "マウス: 左・右・ホイール"], keySpace: ["space", "スペース"],
} as const;

export type Word = keyof typeof WORDS;
let index = (localStorage.getItem("language") ?? navigator.language).startsWith("ja") ? 1 : 0;
export const t = (word: Word): string => WORDS[word][index];
export const isJapanese = () => index === 1;
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
