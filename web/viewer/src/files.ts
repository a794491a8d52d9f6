// Files that are dropped or chosen: single ones, folders, zip archives. Nothing leaves the machine.

export type Dropped = Map<string, Uint8Array>;

const MOST_BYTES = 400e6;

/** Unpacks as many bytes as the directory promised: a bomb promises few and gives many. */
async function inflate(bytes: Uint8Array, size: number): Promise<Uint8Array> {
    const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const out = new Uint8Array(size);
    let at = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        if (at + part.value.length > size) {
            await reader.cancel();
            throw new Error("the archive holds more than its directory says");
        }
        out.set(part.value, at);
        at += part.value.length;
    }
    return out.subarray(0, at);
}

/** A path below the place where things were dropped, whatever an archive calls it. */
const inside = (path: string) => path.replaceAll("\\", "/").split("/").filter((part) => part && part !== "." && part !== "..").join("/");

/** Stored and deflated members of a zip archive, by its central directory (APPNOTE 4.3.12). */
export async function unzip(bytes: Uint8Array): Promise<Dropped> {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let end = bytes.length - 22;
    while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) {
        end--;
    }
    if (end < 0) {
        throw new Error("this zip archive has no directory: it was cut or is none");
    }
    const files: Dropped = new Map();
    let at = view.getUint32(end + 16, true);
    let total = 0;
    for (let i = view.getUint16(end + 10, true); i > 0 && view.getUint32(at, true) === 0x02014b50; i--) {
        const method = view.getUint16(at + 10, true);
        const size = view.getUint32(at + 20, true);
        const unpacked = view.getUint32(at + 24, true);
        total += unpacked;
        if (total > MOST_BYTES) {
            throw new Error("the archive holds more than 400 MB");
        }
        const nameLength = view.getUint16(at + 28, true);
        const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
        const local = view.getUint32(at + 42, true);
        const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
        const raw = bytes.subarray(start, start + size);
        if (!name.endsWith("/") && (method === 0 || method === 8)) {
            files.set(inside(name), method === 8 ? await inflate(raw, unpacked) : raw.slice());
        }
        at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    }
    return files;
}

async function add(files: Dropped, path: string, file: File): Promise<void> {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (/\.zip$/i.test(path)) {
        (await unzip(bytes)).forEach((content, name) => files.set(name, content));
    } else {
        files.set(path, bytes);
    }
}

async function walk(entry: FileSystemEntry, files: Dropped): Promise<void> {
    const path = entry.fullPath.replace(/^\//, "");
    if (entry.isFile) {
        await add(files, path, await new Promise<File>((good, bad) => (entry as FileSystemFileEntry).file(good, bad)));
        return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
        const some = await new Promise<FileSystemEntry[]>((good, bad) => reader.readEntries(good, bad));
        if (some.length === 0) {
            break;
        }
        for (const child of some) {
            await walk(child, files);
        }
    }
}

export async function filesOfDrop(transfer: DataTransfer): Promise<Dropped> {
    const files: Dropped = new Map();
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
    const plain = [...transfer.files];
    if (entries.some((e) => e)) {
        for (const entry of entries) {
            entry && await walk(entry, files);
        }
    } else {
        for (const file of plain) {
            await add(files, file.name, file);
        }
    }
    return files;
}

export async function filesOfInput(list: FileList): Promise<Dropped> {
    const files: Dropped = new Map();
    for (const file of list) {
        await add(files, file.webkitRelativePath || file.name, file);
    }
    return files;
}

const head = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 20000));

/** Model files, the likeliest first; recordings; parameters saved before. */
export function sortOut(files: Dropped): { models: string[]; recording?: Uint8Array; parameters?: string; motion?: string } {
    const weight = (path: string) => (/\.urdf$/i.test(path) ? 0 : /scene[^/]*\.xml$/i.test(path) ? 1 : /\.xacro$/i.test(path) ? 3 : 2) + 0.001 * path.split("/").length + 1e-5 * path.length;
    const likely = [...files.keys()].filter((path) => /\.(urdf|xml|mjcf|xacro)$/i.test(path)).sort((a, b) => weight(a) - weight(b));
    const marked = likely.filter((path) => /<(robot|mujoco)\b/.test(head(files.get(path)!)));
    const models = marked.length > 0 ? marked : likely; // the engine says what is wrong with them
    const recording = [...files].find(([path]) => /\.kkr$/i.test(path))?.[1];
    const text = [...files].find(([path]) => /\.karakuri\.json$/i.test(path))?.[1];
    const table = [...files].find(([path, bytes]) => /\.csv$/i.test(path) && /^time\b/m.test(head(bytes)))?.[1];
    const decode = (bytes: Uint8Array | undefined) => (bytes ? new TextDecoder().decode(bytes) : undefined);
    return { models, recording, parameters: decode(text), motion: decode(table) };
}

export function download(name: string, content: Blob | string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content]) : content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
