import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import type { CoderRuntime } from "../coder/services.ts";
import { parseArguments } from "../config/arguments/arguments.ts";
import { openWorker } from "./workers.ts";

test("several folders of the command line are served as roots with their names", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const [one, two] = [join(base, "one"), join(base, "two")];
  for (const folder of [one, two]) mkdirSync(folder);
  const command = parseArguments(["mcp", one, two], { XDG_STATE_HOME: join(base, "state") });
  if (command.name !== "mcp") throw new Error(command.name);
  const log = createLog({ level: "error", form: "text", write: () => {} });
  const runtime = (await openWorker(command, log)) as CoderRuntime;
  try {
    expect(runtime.jail.roots.map(({ name, hostPath }) => [name, hostPath])).toEqual([
      ["one", one],
      ["two", two],
    ]);
  } finally {
    await runtime.close();
    rmSync(base, { recursive: true });
  }
});
