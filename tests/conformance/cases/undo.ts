import { type Case, failure, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::undo";

const tree = { "a.txt": "a\n" };
const config = { journal: {} };

const refuses = (name: string, payload: unknown, ...says: string[]): Case => ({
  name,
  tree,
  config,
  call: { function: id, payload },
  expect: { error: failure("C210", ...says) },
});

export const cases: readonly Case[] = [
  refuses("nothing was changed", {}, "no checkpoint", "coder::checkpoints"),
  refuses("nothing was changed, and none of it would be undone", { dry_run: true }, "no checkpoint"),
  refuses("nothing was changed, with force", { force: true }, "no checkpoint"),
  refuses("nothing was changed at a path", { paths: ["a.txt"] }, "no checkpoint"),
  refuses("a checkpoint that there is not", { seq: 41 }, "no checkpoint 41"),
  refuses("a transaction that there is not", { transaction: "0123456789abcdef" }, "0123456789abcdef"),
  refuses("several of what chooses checkpoints", { seq: 1, steps: 1 }, "steps, seq and transaction"),
  refuses("a transaction and a checkpoint", { seq: 1, transaction: "x" }, "steps, seq and transaction"),
  {
    name: "a worker without a journal",
    tree,
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "journal", "configuration") },
  },
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "steps",
    takes: ["a number"],
    says: ["steps"],
    payload: (steps) => ({ steps }),
  }),
  ...wrongTypes({
    function: id,
    field: "paths",
    takes: ["an array"],
    says: ["paths"],
    payload: (paths) => ({ paths }),
  }),
];
