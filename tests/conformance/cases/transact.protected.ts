import type { Changes } from "../../harness/tree.ts";
import { type Case, failure, Matcher } from "../case.ts";

const id = "coder::transact";
const config = { write_deny_globs: ["**/locked"] };
const tree = { "a/locked": "text", b: "" };

const refuses = (name: string, ...changes: readonly object[]): Case => ({
  name: `protected: ${name}`,
  config,
  tree,
  call: { function: id, payload: { changes } },
  expect: { error: failure("C222", "protects"), tree: {} },
});

const create = (path: string) => ({ op: "create", path, content: "", parents: true });

const anything = new Matcher("anything", () => true);

const makes = (name: string, changes: readonly object[], changed: Changes): Case => ({
  name: `protected: ${name}`,
  config,
  tree,
  call: { function: id, payload: { changes } },
  expect: {
    answer: { committed: true, transaction: anything, results: changes.map(() => anything) },
    tree: changed,
  },
});

export const cases: readonly Case[] = [
  refuses("nothing of it is done", create("x"), create("locked")),
  refuses("a folder is moved to where something in it is protected", create("c/d"), {
    op: "move",
    from: "c",
    to: "locked",
  }),
  refuses(
    "a folder that was moved before",
    { op: "copy", from: "b", to: "c/b" },
    { op: "move", from: "a", to: "d" },
  ),
  refuses("its mode", { op: "chmod", path: "a/locked", mode: "0600" }),
  refuses("a folder with it goes", { op: "delete", path: "a", recursive: true }),
  makes("beside it", [create("a/x")], { "a/x": "" }),
];
