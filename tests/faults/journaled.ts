import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";

/** Opens a worker in this process that serves `base`, with a journal in `state`. */
export async function openJournaled(base: string, state: string) {
  const logged: string[] = [];
  const log = createLog({ level: "warn", form: "text", write: (line) => logged.push(line) });
  const keys = { base_path: base, fsync: false, journal: { dir: state, max_records: 100_000 } };
  const environment = process.env;
  const config = loadConfig({ config: { source: "test", keys }, basePath: undefined, environment });
  const runtime = await openCoder(config, { environment, log });
  const invoke = createInvoke(runtime, log);
  return {
    logged,
    runtime,
    /** Returns the answer, or throws the error string. */
    async call(id: string, payload: object): Promise<Readonly<Record<string, unknown>>> {
      const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
      if ("error" in outcome) throw new Error(outcome.error);
      return outcome.answer as Readonly<Record<string, unknown>>;
    },
  };
}
