import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/coder/services.ts";
import { readNamed } from "../../src/config/source.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

/** Returns the defaults with `keys` over them, read as the worker reads its configuration. */
export async function configOf(
  keys: Readonly<Record<string, unknown>>,
): Promise<ReturnType<typeof loadConfig>> {
  const folder = temporaryFolder();
  const configFile = join(folder, "config.yaml");
  try {
    writeFileSync(configFile, JSON.stringify(keys));
    return loadConfig({ config: await readNamed(configFile), basePath: undefined, environment: {} });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
