import { type Case, errorWith, wrongTypes } from "../case.ts";
import { cases as published } from "./create-file.ts";

const id = "coder::create-file";

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
  const { files } = call.payload as { files?: unknown };
  return Array.isArray(files);
};

const file = { path: "a.txt", content: "x" };
const taken = {
  path: "a.txt",
  success: false,
  bytes_written: 0,
  error: errorWith("C217", "a.txt", "overwrite"),
};
const written = { path: "a.txt", success: true, bytes_written: 1 };

const batches: Case[] = [
  {
    name: "a dry run of one file twice finds it there the second time",
    tree: {},
    call: { function: id, payload: { files: [file, file], dry_run: true } },
    expect: { answer: { results: [written, taken] }, tree: {} },
  },
  {
    name: "dry_run false writes",
    tree: {},
    call: { function: id, payload: { files: [file], dry_run: false } },
    expect: { answer: { results: [written] }, tree: { "a.txt": "x" } },
  },
];

const payloads: Case[] = wrongTypes({
  function: id,
  field: "dry_run",
  takes: ["a boolean", "null"],
  says: ["dry_run", "true or false"],
  payload: (value) => ({ files: [file], dry_run: value }),
});

export const cases: readonly Case[] = [...published.filter(isAnswered).map(tried), ...batches, ...payloads];
