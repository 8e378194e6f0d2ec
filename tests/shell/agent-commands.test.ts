/** Commands in the profile `agent`, where their answers differ from those of 0.3.5 (shell §15). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf, expectPlain } from "./case.ts";
import { jailed } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const agent = { ...jailed(), profile: "agent", os_sandbox: "off" };

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject, agent);
  });
  afterAll(() => served.stop());

  const call = (id: string, payload: unknown) => served.call(`shell::${id}`, payload);

  test("a command with a snapshot that cannot be held does not run", async () => {
    const command = { command: "sh", args: ["-c", "echo x > made"], snapshot: ["made"] };
    for (const id of ["exec", "exec_bg"])
      expectPlain(await call(id, command), "`snapshot`", "no", "Nothing was run", "`journal`");
    expect(existsSync(join(served.folder, "made"))).toBe(false);
  });
});

test("a configured snapshot without a journal says only that nothing was held", async () => {
  const served = await startShell("executable", { ...agent, snapshot: ["src/", "made"] });
  writeFileSync(join(served.folder, "made"), "x");
  const command = { command: "sh", args: ["-c", "echo y > made"] };
  const { changed, not_held } = answerOf(await served.call("shell::exec", command));
  await served.stop();
  expect(changed).toBe("1 file (made)");
  expect(not_held).toEqual(["the journal is off, so nothing was held"]);
});
