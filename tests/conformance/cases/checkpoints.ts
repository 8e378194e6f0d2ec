import { type Case, failure, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::checkpoints";

const tree = { "a.txt": "a\n" };
const config = { journal: {} };

const empty = (name: string, payload: unknown): Case => ({
  name,
  tree,
  config,
  call: { function: id, payload },
  expect: { answer: { checkpoints: [] } },
});

export const cases: readonly Case[] = [
  empty("nothing was changed", {}),
  empty("nothing was changed before that", { before_seq: 7 }),
  empty("nothing was changed at a path", { path: "a.txt" }),
  empty("a path that is not there", { path: "gone/a.txt" }),
  empty("a path that is denied", { path: ".env" }),
  empty("a path outside finds nothing", { path: "../outside" }),
  empty("an absolute path finds nothing", { path: "/etc" }),
  empty("no checkpoint is asked for", { limit: 0 }),
  {
    name: "a worker without a journal",
    tree,
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "journal", "configuration") },
  },
  {
    name: "a journal of no records is none",
    tree,
    config: { journal: { max_records: 0 } },
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "journal") },
  },
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "limit",
    takes: ["a number"],
    says: ["limit"],
    payload: (limit) => ({ limit }),
  }),
  ...wrongTypes({
    function: id,
    field: "path",
    takes: ["a string"],
    says: ["path"],
    payload: (path) => ({ path }),
  }),
];
