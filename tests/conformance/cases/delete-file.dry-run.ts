import { type Case, wrongTypes } from "../case.ts";
import { cases as published } from "./delete-file.ts";

const id = "coder::delete-file";

type Payload = Readonly<Record<string, unknown>>;

/** Makes a dry run of a case: it has the same answer, and leaves the tree unchanged. */
const tried = (one: Case): Case => ({
  ...one,
  name: `a dry run: ${one.name}`,
  call: { function: id, payload: { ...(one.call.payload as Payload), dry_run: true } },
  expect: { ...one.expect, tree: {} },
});

const isAnswered = ({ call, expect }: Case): boolean => {
  if (!("answer" in expect)) return false;
  const { paths } = call.payload as { paths?: unknown };
  return Array.isArray(paths);
};

const removed = { path: "a.txt", success: true, removed: true };

const batches: Case[] = [
  {
    name: "a dry run of one path twice finds it once",
    tree: { "a.txt": "a" },
    call: { function: id, payload: { paths: ["a.txt", "a.txt"], dry_run: true } },
    expect: { answer: { results: [removed, { ...removed, removed: false }] }, tree: {} },
  },
  {
    name: "a dry run of a folder that holds only what is left of a write",
    tree: { "s/.coder-tmp-x": "half" },
    call: { function: id, payload: { paths: ["s"], dry_run: true } },
    expect: { answer: { results: [{ path: "s", success: true, removed: true }] }, tree: {} },
  },
];

const payloads: Case[] = wrongTypes({
  function: id,
  field: "dry_run",
  takes: ["a boolean", "null"],
  says: ["dry_run", "true or false"],
  payload: (value) => ({ paths: ["a.txt"], dry_run: value }),
});

export const cases: readonly Case[] = [...published.filter(isAnswered).map(tried), ...batches, ...payloads];
