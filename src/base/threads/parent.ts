import { createRequire } from "node:module";
import { webWorkerScope } from "../bun.ts";

/** The thread that started this one (`spawnThread`). */
export interface Parent {
  postMessage(message: unknown): void;
  /** Calls `listener` with each message, and keeps this thread alive. */
  onMessage(listener: (message: object) => void): void;
}

/** Returns the thread that started this one; `undefined` in the main thread. */
export function openParent(): Parent | undefined {
  const scope = webWorkerScope();
  if (scope !== undefined)
    return {
      postMessage: (message) => scope.postMessage(message),
      onMessage(listener) {
        scope.addEventListener("message", (event) => listener((event as MessageEvent).data));
      },
    };
  const { parentPort } = createRequire(import.meta.url)(
    "node:worker_threads",
  ) as typeof import("node:worker_threads");
  if (parentPort === null) return undefined;
  return {
    postMessage: (message) => parentPort.postMessage(message),
    onMessage: (listener) => void parentPort.on("message", listener),
  };
}
