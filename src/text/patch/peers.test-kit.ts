/**
 * Compares this patcher with `git apply` and `patch`, on diffs of random trees in many forms, and on files
 * that have drifted. If both tools make the same tree, so must this one, or refuse.
 *
 *     npm run suite -- patches --pairs 10000 --seed 1 --keep FOLDER
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomFrom } from "../../../tests/harness/random.ts";
import { Refusal } from "../../base/errors.ts";
import { type PatchOptions, patchedTree, type TestTree } from "./patch.test-kit.ts";
import { type DiffForm, diffKinds, ToolRunner } from "./peers-tools.test-kit.ts";
import { driftedTree, newTree, oldTree } from "./peers-trees.test-kit.ts";

const outcomes = {
  same: "both tools agree, and so does this one",
  refused: "both tools agree, and this one refuses",
  wrong: "both tools agree, and this one makes another tree",
  "git alone, same": "only git takes it or they differ, and this one agrees with git",
  "git alone, refused": "only git takes it or they differ, and this one refuses",
  "git alone, other": "only git takes it or they differ, and this one makes another tree than git",
  "patch alone, same": "only patch takes it, and this one agrees",
  "patch alone, refused": "only patch takes it, and this one refuses",
  "patch alone, other": "only patch takes it, and this one makes another tree",
  "none, refused": "all three refuse",
  "none, taken": "both tools refuse, and this one takes it",
  "no difference": "the form shows no difference",
} as const;
type Outcome = keyof typeof outcomes;

/** The tree after a patch, or the reason of its refusal. */
type Result = TestTree | Refusal;

const textOf = (tree: TestTree): string =>
  JSON.stringify(
    [...tree]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { body, mode }]) => [path, body.toString("latin1"), mode & 0o100]),
  );

const isSame = (a: TestTree, b: TestTree): boolean => textOf(a) === textOf(b);

function applyHere(base: TestTree, patch: Buffer, options: PatchOptions): Result {
  try {
    return patchedTree(base, patch, options);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function outcomeOf(ours: Result, git: TestTree | undefined, patch: TestTree | undefined): Outcome {
  const isRefused = ours instanceof Refusal;
  if (git !== undefined && patch !== undefined && isSame(git, patch))
    return isRefused ? "refused" : isSame(ours, git) ? "same" : "wrong";
  if (git !== undefined)
    return isRefused ? "git alone, refused" : isSame(ours, git) ? "git alone, same" : "git alone, other";
  if (patch !== undefined)
    return isRefused
      ? "patch alone, refused"
      : isSame(ours, patch)
        ? "patch alone, same"
        : "patch alone, other";
  return isRefused ? "none, refused" : "none, taken";
}

class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  render(): string[] {
    return [...this.#counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${String(count).padStart(7)}  ${name}`);
  }
}

/** Returns the sentence of a refusal without its names and numbers. */
const kindOf = ({ message }: Refusal): string =>
  message
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/\d+/g, "N")
    .slice(0, 110);

interface Settings {
  readonly pairs: number;
  readonly seed: number;
  readonly keep: string | undefined;
}

/** Keeps a case as a scenario folder, with the trees that the tools made. */
function keepCase(
  folder: string,
  trees: Readonly<Record<string, TestTree | undefined>>,
  patch: Buffer,
  note: string,
): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "patch"), patch);
  writeFileSync(join(folder, "note"), `${note}\n`);
  for (const [name, tree] of Object.entries(trees)) {
    for (const [path, { body }] of tree ?? []) {
      const file = join(folder, name, path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, body);
    }
  }
}

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

async function compare({ pairs, seed, keep }: Settings): Promise<boolean> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "coder-patches-"));
  const tools = new ToolRunner(folder);
  const total = new Counts();
  const reasons = new Counts();
  const byForm = new Counts();
  let kept = 0;
  try {
    const random = randomFrom(seed);
    for (let pair = 0; pair < pairs; pair++) {
      const before = oldTree(random);
      const after = newTree(random, before);
      const form: DiffForm = random.pick(diffKinds);
      const isReversed = random.chance(0.1);
      const start = isReversed !== form.options.includes("-R") ? after : before;
      const base = random.chance(0.4) ? driftedTree(random, start) : start;
      const patch = await tools.diff(before, after, form);
      if (patch.length === 0) {
        total.add("no difference");
        continue;
      }
      const [git, gnu] = await Promise.all([
        tools.gitApply(base, patch, form, isReversed),
        tools.gnuPatch(base, patch, form, isReversed),
      ]);
      const ours = applyHere(base, patch, { reverse: isReversed });
      const outcome = outcomeOf(ours, git, gnu);
      total.add(outcome);
      byForm.add(`${form.name}: ${outcome}`);
      if (ours instanceof Refusal) reasons.add(`${outcome}: ${kindOf(ours)}`);
      const isNotable = ["wrong", "refused", "git alone, other", "git alone, refused"].includes(outcome);
      if (keep !== undefined && isNotable && kept < 200) {
        const name = join(keep, `${outcome.replace(", ", "-").replaceAll(" ", "-")}-${pair}`);
        const note = `${form.name}${isReversed ? ", reversed" : ""}\n${ours instanceof Refusal ? ours.message : ""}`;
        keepCase(name, { base, git, gnu, ours: ours instanceof Refusal ? undefined : ours }, patch, note);
        kept++;
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const agreed = total.of("same") + total.of("refused") + total.of("wrong");
  const share = agreed === 0 ? 0 : (100 * total.of("refused")) / agreed;
  print(`${pairs} pairs, seed ${seed}\n`);
  for (const [name, what] of Object.entries(outcomes))
    print(`${String(total.of(name)).padStart(7)}  ${name.padEnd(22)} ${what}`);
  print(`\nRefusals, by outcome and sentence:\n${reasons.render().join("\n")}`);
  print(`\nBy form:\n${byForm.render().join("\n")}`);
  print(`\n${total.of("wrong")} wrong, ${share.toFixed(2)} % of ${agreed} refused that both tools take`);
  return total.of("wrong") === 0 && share <= 2;
}

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    keep: { type: "string" },
  },
});
const isGood = await compare({ pairs: Number(values.pairs), seed: Number(values.seed), keep: values.keep });
process.exitCode = isGood ? 0 : 1;
