import { expect, test } from "bun:test";
import { join } from "node:path";

test("a user without USER in the environment is one of its own, by number", () => {
  const source = join(import.meta.dir, "local-user.ts");
  const { stdout } = Bun.spawnSync(
    [process.execPath, "-e", `console.log((await import("${source}")).localUser().user)`],
    { env: {} },
  );
  expect(stdout.toString().trim()).toBe(String(process.getuid!()));
});
