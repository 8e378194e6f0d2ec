import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { type Config, defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

export type FunctionCall = readonly [id: string, payload: object];

const log = createLog({ level: "error", form: "text", write: () => undefined });

/**
 * Makes calls to a worker, one after the other. The worker serves `base` in the folder `root` and keeps its
 * state beside it. Returns the outcomes.
 */
export async function callWith(
  root: string,
  config: Partial<Config>,
  ...calls: readonly FunctionCall[]
): Promise<unknown[]> {
  const journal = { dir: join(root, "state"), max_bytes: 64 * 1024 * 1024, max_records: 500 };
  const runtime = await openCoder(
    { ...defaultConfig(), base_path: join(root, "base"), fsync: false, journal, ...config },
    { environment: {} },
  );
  const invoke = createInvoke(runtime, log);
  const outcomes: unknown[] = [];
  for (const [id, payload] of calls)
    outcomes.push(await invoke(functions.find((one) => one.id === id)!, payload));
  await runtime.close();
  return outcomes;
}
