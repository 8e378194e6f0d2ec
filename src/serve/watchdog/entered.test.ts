import { expect, test } from "bun:test";
import { renderEntered } from "./entered.ts";
import { Shared } from "./shared.ts";

test.each([
  [{ path: "a/b.txt", content: "words" }, "a/b.txt"],
  [{ paths: ["a", "b"], recursive: true }, "a"],
  [{ files: [{ path: "a", ops: [] }] }, "a"],
  [{ src: "/srv/a", dst: "/srv/b" }, "/srv/a"],
  [{ command: "ls" }, null],
  [{ files: [] }, null],
  [undefined, null],
])("of %j its path is told, and nothing else", (request, path) => {
  expect(JSON.parse(renderEntered("test::f", request))).toEqual(["test::f", ...(path ? [path] : [null])]);
});

test("a path of any length and kind fits into the shared memory", () => {
  const shared = new Shared();
  const id = "shell::fs::a-function-of-a-long-name";
  for (const unit of ["a", "\u0001", "\ud800", "漢", "😀"]) {
    shared.text = renderEntered(id, { path: unit.repeat(5000) });
    expect(JSON.parse(new Shared(shared.memory).text)).toEqual([id, expect.stringContaining(unit.at(0)!)]);
  }
});
