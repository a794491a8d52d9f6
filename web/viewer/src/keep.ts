// The files that were opened last, kept by the browser on this machine, so that reloading the page brings the robot back.
import type { Dropped } from "./files.js";

const NAME = "karakuri", STORE = "files", MOST = 200e6;

function database(): Promise<IDBDatabase> {
    return new Promise((good, bad) => {
        const request = indexedDB.open(NAME, 1);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        request.onsuccess = () => good(request.result);
        request.onerror = () => bad(request.error);
    });
}

async function ask<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
    try {
        const own = await database();
        return await new Promise((good, bad) => {
            const request = act(own.transaction(STORE, mode).objectStore(STORE));
            request.onsuccess = () => { good(request.result); own.close(); };
            request.onerror = () => { bad(request.error); own.close(); };
        });
    } catch {
        return undefined; // a private window, or a page from a file
    }
}

export async function keepFiles(files: Dropped, main: string): Promise<void> {
    const size = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
    await ask<unknown>("readwrite", (store) => {
        const request: IDBRequest = size < MOST ? store.put({ files, main }, "last") : store.delete("last");
        return request as IDBRequest<unknown>;
    });
}
export const keptFiles = () => ask<{ files: Dropped; main: string } | undefined>("readonly", (store) => store.get("last"));
