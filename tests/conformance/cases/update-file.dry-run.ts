import { batchOf, type Case, wrongTypes } from "../case.ts";
import { cases as answers } from "./update-file.answers.ts";
import { cases as matches } from "./update-file.matches.ts";
import { cases as texts } from "./update-file.str-replace.ts";
import { cases as published } from "./update-file.ts";

const id = "coder::update-file";

type Payload = Readonly<Record<string, unknown>>;

/** Makes a dry run of a case: it has the same answer, and leaves the tree unchanged. */
const tried = (one: Case): Case => ({
  ...one,
  name: `a dry run: ${one.name}`,
  call: { function: id, payload: { ...(one.call.payload as Payload), dry_run: true } },
  expect: { ...one.expect, tree: {} },
});

const hasFiles = ({ call }: Case): boolean => Array.isArray((call.payload as { files?: unknown }).files);

const sane = (one: Case): boolean =>
  typeof one.call.payload === "object" && one.call.payload !== null && "answer" in one.expect;

const every = (cases: readonly Case[], nth: number): readonly Case[] =>
  cases.filter((one) => sane(one) && hasFiles(one)).filter((_, index) => index % nth === 0);

const batch = batchOf(id, (files: readonly unknown[]) => ({ files, dry_run: true }));

const ops = [{ op: "insert", at_line: 1, content: "x" }];
const seen = { success: true, applied: 1, new_line_count: 2, before: "a\n", after: "x\na\n" };

const batches: Case[] = [
  batch(
    "a dry run of one file twice finds it edited the second time",
    { a: "a\n" },
    [
      { path: "a", ops },
      { path: "./a", ops },
    ],
    {
      results: [
        { path: "a", ...seen },
        { path: "./a", ...seen, new_line_count: 3, before: "x\na\n", after: "x\nx\na\n" },
      ],
      tree: {},
    },
  ),
  {
    ...batch("dry_run false writes", { a: "a\n" }, [{ path: "a", ops }], {
      results: [{ path: "a", ...seen }],
      tree: { a: "x\na\n" },
    }),
    call: { function: id, payload: { files: [{ path: "a", ops }], dry_run: false } },
  },
];

const payloads: Case[] = wrongTypes({
  function: id,
  field: "dry_run",
  takes: ["a boolean", "null"],
  says: ["dry_run", "true or false"],
  payload: (value) => ({ files: [{ path: "a.txt", ops }], dry_run: value }),
});

export const cases: readonly Case[] = [
  ...every(published, 6).map(tried),
  ...every(texts, 4).map(tried),
  ...every(answers, 4).map(tried),
  ...every(matches, 4).map(tried),
  ...batches,
  ...payloads,
];
