import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { functionReferences, published } from "../harness/golden.ts";
import { runCoder, subjects } from "../harness/subject.ts";
import { startWorker, temporaryFolder, type WorkerFixture } from "../harness/worker-fixture.ts";

describe.each(subjects)("%s", (subject) => {
  test("--print-schema --api is the published reference, whatever lies in the current folder", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "config.yaml"), "no_such_key: [");
    const { code, stdout, stderr } = await runCoder(subject, ["--print-schema", "--api", "0.2.0"], { cwd });
    rmSync(cwd, { recursive: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(published);
  });

  test("--print-schema has that and what was added since", async () => {
    const { stdout } = await runCoder(subject, ["--print-schema"]);
    const printed = (JSON.parse(stdout) as typeof published).functions;
    const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);
    expect(printed.toSorted(byName)).toEqual(functionReferences.toSorted(byName));
  });

  test("an --api that was never published is refused with those that were", async () => {
    const { code, stdout, stderr } = await runCoder(subject, ["--print-schema", "--api", "9.9.9"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe('coder: --api is "9.9.9"; the only published reference of coder is 0.2.0\n');
  });

  describe("on the bus", () => {
    let served: WorkerFixture;
    beforeAll(async () => {
      served = await startWorker(subject);
    });
    afterAll(() => served?.stop());

    test.each(functionReferences.map((entry) => [entry.name, entry] as const))(
      "%s is registered as the reference says",
      async (name, entry) => {
        const info = await served.client.trigger({
          function_id: "engine::functions::info",
          payload: { function_id: name },
        });
        expect(info).toMatchObject({
          description: entry.description,
          request_schema: entry.request_schema,
          response_schema: entry.response_schema,
        });
      },
    );

    test("what else is registered is ours", async () => {
      const listed = await served.client.trigger<object, { functions: { function_id: string }[] }>({
        function_id: "engine::functions::list",
        payload: { prefix: "coder::", include_internal: true },
      });
      expect(listed.functions.map((entry) => entry.function_id).sort()).toEqual(
        functionReferences.map((entry) => entry.name).sort(),
      );
    });
  });
});
