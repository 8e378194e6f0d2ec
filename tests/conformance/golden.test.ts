import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reference } from "../harness/golden.ts";
import { type Served, serve, temporaryFolder } from "../harness/served.ts";
import { runCoder, subjects } from "../harness/subject.ts";

describe.each(subjects)("%s", (subject) => {
  test("--print-schema is the published reference, whatever lies in the current folder", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "config.yaml"), "no_such_key: [");
    const { code, stdout, stderr } = await runCoder(subject, ["--print-schema"], { cwd });
    rmSync(cwd, { recursive: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(reference);
  });

  describe("on the bus", () => {
    let served: Served;
    beforeAll(async () => {
      served = await serve(subject);
    });
    afterAll(() => served?.stop());

    test.each(reference.functions.map((entry) => entry.name))(
      "%s is registered as published",
      async (name) => {
        const published = reference.functions.find((entry) => entry.name === name);
        const info = await served.client.trigger({
          function_id: "engine::functions::info",
          payload: { function_id: name },
        });
        expect(info).toMatchObject({
          description: published?.description,
          request_schema: published?.request_schema,
          response_schema: published?.response_schema,
        });
      },
    );

    test("nothing else is registered", async () => {
      const listed = await served.client.trigger<object, { functions: { function_id: string }[] }>({
        function_id: "engine::functions::list",
        payload: { prefix: "coder::", include_internal: true },
      });
      expect(listed.functions.map((entry) => entry.function_id).sort()).toEqual(
        reference.functions.map((entry) => entry.name).sort(),
      );
    });
  });
});
