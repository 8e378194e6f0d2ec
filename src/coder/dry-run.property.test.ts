/** Compares dry runs of random calls in random trees with the calls: each entry has one answer in both. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { addToTree, buildTree, snapshotTree, type Tree, type TreeEntry } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const all = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const root = join(all, "root");
const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });

// Without a journal, an error does not name the checkpoint that took its path away.
const journal = { dir: join(all, "state"), max_bytes: 1024, max_records: 0 };
const base_path = join(root, "base");
const config = { ...defaultConfig(), base_path, fsync: false, journal, profile: "agent" } as const;
buildTree(root, {});
const runtime = await openCoder(config, { environment: {} });
afterAll(async () => {
  await runtime.close();
  rmSync(all, { recursive: true });
});

type Answer = { readonly results?: readonly object[] };

async function outcomeOf(id: string, request: object): Promise<object> {
  const definition = functions.find((one) => one.id === id)!;
  const outcome = await createInvoke(runtime, log)(definition, request);
  if ("error" in outcome) return { error: said(outcome.error) };
  const {
    plan: _,
    plan_expires_at: __,
    committed: ___,
    transaction: ____,
    ...answer
  } = outcome.answer as Record<string, unknown>;
  const { results } = answer as Answer;
  return results === undefined ? answer : { ...answer, results: results.map(withoutAdvice) };
}

/** Returns a result whose error lacks the advice, which is about the present tree. */
const withoutAdvice = (result: object): object =>
  "error" in result ? { ...result, error: said(result.error) } : result;

function said(error: unknown): object {
  const { code, message } = (typeof error === "string" ? JSON.parse(error) : error) as Record<string, string>;
  return { code, message: message!.split(/\.$|; |\. /)[0] };
}

const name = fc.constantFrom("a", "b", "c");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const text = fc.constantFrom("one\n", "two\n", "three\n", "");
const flag = fc.boolean();
const mostly = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false));

const entry: fc.Arbitrary<TreeEntry> = fc.oneof(
  { weight: 4, arbitrary: text },
  {
    weight: 2,
    arbitrary: fc.record({
      link: fc.oneof(
        path,
        name,
        name.map((one) => `../${one}`),
      ),
    }),
  },
  fc.record({ text, mode: fc.constantFrom(0o444, 0o755) }),
);

/** Any tree: an entry that finds a file or a link above it is left out. */
const anyTree = fc.array(
  fc.tuple(
    fc.oneof(
      path,
      path.map((one) => `${one}/`),
    ),
    entry,
  ),
  { maxLength: 6 },
);

function build(entries: readonly (readonly [string, TreeEntry])[]): void {
  buildTree(root, {});
  const taken = new Map<string, boolean>();
  for (const [key, entry] of entries) {
    const names = key.split("/").filter((part) => part !== "");
    const above = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
    if (taken.has(names.join("/")) || above.some((folder) => taken.get(folder) === false)) continue;
    for (const folder of above) taken.set(folder, true);
    taken.set(names.join("/"), key.endsWith("/"));
    addToTree(base_path, { [key]: key.endsWith("/") ? null : entry } as Tree);
  }
}

const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 5 });
const transfers = fc.record({
  files: some(fc.record({ from: path, to: path, overwrite: flag, parents: mostly })),
});
const edit = fc.record({ op: fc.constant("str_replace"), old_str: text, new_str: text });
const ops = fc.oneof(
  fc.tuple(edit),
  fc.tuple(fc.record({ op: fc.constant("insert"), at_line: fc.constantFrom(1, 2), content: text })),
);
const created = fc.record({ path, content: text, overwrite: flag, parents: mostly });
const calls: Readonly<Record<string, fc.Arbitrary<object>>> = {
  "coder::move": transfers,
  "coder::copy": transfers,
  "coder::delete-file": fc.record({ paths: some(path), recursive: mostly }),
  "coder::create-file": fc.record({ files: some(created) }),
  "coder::make-folder": fc.record({ paths: some(path), parents: mostly }),
  "coder::update-file": fc.record({ files: some(fc.record({ path, ops })) }),
  "coder::transact": fc.record({
    changes: some(
      fc.oneof(
        created.map((change) => ({ op: "create", ...change })),
        fc.record({ op: fc.constant("update"), path, ops }),
        fc.record({ op: fc.constant("delete"), path, recursive: mostly }),
        fc.record({ op: fc.constantFrom("move", "copy"), from: path, to: path, overwrite: flag }),
        fc.record({ op: fc.constant("make-folder"), path }),
      ),
    ),
  }),
  "coder::apply-patch": fc.record({
    overwrite: flag,
    patch: some(
      fc.oneof(
        fc.tuple(path, text).map(([at, line]) => `*** Add File: ${at}\n+${line.trim()}\n`),
        path.map((at) => `*** Delete File: ${at}\n`),
        fc
          .tuple(path, path, text)
          .map(([at, to, line]) => `*** Update File: ${at}\n*** Move to: ${to}\n@@\n+${line.trim()}\n`),
      ),
    ).map((parts) => `*** Begin Patch\n${parts.join("")}*** End Patch\n`),
  }),
};

test.each(Object.entries(calls))("a dry run of %s answers what the call then does", async (id, request) => {
  await fc.assert(
    fc.asyncProperty(anyTree, request, async (entries, sent) => {
      build(entries);
      const before = snapshotTree(root);
      const trial = await outcomeOf(id, { ...sent, dry_run: true });
      expect(snapshotTree(root)).toEqual(before);
      expect(trial).toEqual(await outcomeOf(id, sent));
    }),
    propertyRuns(300),
  );
});
