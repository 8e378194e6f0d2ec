/** Unknown fields in calls on the bus, depending on the key `unknown_fields`. */
import { expect, test } from "bun:test";
import { parseWireError } from "../harness/errors.ts";
import { withWorker } from "../harness/with-worker.ts";

test.each([{ unknown_fields: "refuse" }, { profile: "agent" }])(
  "with %j it is refused, and the field of the engine is not",
  async (config) => {
    await withWorker(
      "source",
      async ({ build, call, snapshot }) => {
        build({ a: "a\n" });
        const before = snapshot();
        expect((await call("coder::read-file", { path: "a" })).error).toBeUndefined();
        const { error } = await call("coder::delete-file", { paths: ["a"], dri_run: true });
        const { code, message, reason } = parseWireError(error!);
        expect({ code, reason }).toEqual({ code: "C210", reason: "unknown_field" });
        expect(message).toContain("Did you mean `dry_run`?");
        expect(snapshot()).toEqual(before);
      },
      { config },
    );
  },
);

test("by default it is dropped", async () => {
  await withWorker("source", async ({ build, call }) => {
    build({ a: "a\n" });
    expect((await call("coder::delete-file", { paths: ["a"], dri_run: true })).answer).toEqual({
      results: [{ path: "a", removed: true, success: true }],
    });
  });
});
