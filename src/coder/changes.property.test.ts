import { expect, test } from "bun:test";
import { mixChanges } from "./feed-mixture.test-kit.ts";

test("a reader gets each change by calls and by another program once, with who made it", async () => {
  expect(await mixChanges(400)).toMatchObject({ operations: 400, faults: [] });
});

test("and so where they change two roots", async () => {
  expect(await mixChanges(300, { tree: "roots" })).toMatchObject({ operations: 300, faults: [] });
});
