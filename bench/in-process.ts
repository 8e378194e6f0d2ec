/** Ours within this process: the handlers, called through `createInvoke` like in the executable. */

import { createLog } from "../src/base/log/log.ts";
import { createInvoke, type Invoke } from "../src/calls/invoke.ts";
import { defaultConfig } from "../src/coder/config.ts";
import { functions } from "../src/coder/functions.ts";
import { openCoder } from "../src/coder/services.ts";

export interface InProcessCoder extends AsyncDisposable {
  /** Calls a function and returns its answer. Throws the error string. */
  call<Answer>(id: string, payload: unknown): Promise<Answer>;
  /** Resolves when the index, if any, has all files that searches have found. */
  indexed(): Promise<void>;
}

/**
 * Opens a runtime over `folder`, with `changes` to the default configuration. `observe` may wrap its calls.
 */
export async function openInProcess(
  folder: string,
  changes: Readonly<Record<string, unknown>> = {},
  observe: (invoke: Invoke) => Invoke = (invoke) => invoke,
): Promise<InProcessCoder> {
  const runtime = await openCoder({ ...defaultConfig(), base_path: folder, ...changes });
  const invoke = observe(
    createInvoke(runtime, createLog({ level: "error", form: "json", write: console.error })),
  );
  return {
    async call<Answer>(id: string, payload: unknown) {
      const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
      if ("error" in outcome) throw new Error(outcome.error);
      return outcome.answer as Answer;
    },
    indexed: async () => runtime.searcher.index?.filled(),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
