/**
 * Changes a tree at random by calls and by another program, and checks the feed. It must report each change
 * by a call once and in order, each change by the other program as external, in order or later, and nothing
 * else.
 */
import { parseArgs } from "node:util";
import { freshSeed, type Random, randomFrom } from "../../tests/harness/random.ts";
import { FeedFixture, renderChange } from "./changes.test-kit.ts";
import { type Operation, OtherProgram } from "./other-program.test-kit.ts";

/** The expected reports of one change by a call, or of changes by the other program between two calls. */
interface Expected {
  /** The reports of a call, in order. */
  readonly byCall: readonly string[];
  /** The number of times that a path may be reported as changed by the other program. */
  readonly allowed: Map<string, number>;
  /** Whether the paths existed before. */
  readonly before: Map<string, boolean>;
  /** The earlier paths of entries that were moved and otherwise unchanged; `undefined` for others. */
  readonly origins: Map<string, string | undefined>;
  /** The paths that differ afterwards. */
  readonly changed: Set<string>;
}

const names = ["f", "g", "h"];

/** The folders whose files are changed. */
const folders = { base: ["", "a/", "b/"], roots: ["one/", "one/a/", "two/"] } as const;

const nothing = (): Expected => ({
  ...{ byCall: [], allowed: new Map(), before: new Map() },
  ...{ origins: new Map(), changed: new Set() },
});

class Mixture {
  readonly #random: Random;
  readonly #fixture: FeedFixture;
  readonly #program: OtherProgram;
  readonly #files: readonly string[];
  readonly #hasRoots: boolean;
  readonly #there = new Set<string>();
  #steps: Expected[] = [];
  operations = 0;
  readonly faults: string[] = [];

  constructor(random: Random, fixture: FeedFixture, program: OtherProgram, tree: keyof typeof folders) {
    this.#random = random;
    this.#fixture = fixture;
    this.#program = program;
    this.#files = folders[tree].flatMap((folder) => names.map((name) => folder + name));
    this.#hasRoots = tree === "roots";
  }

  async step(): Promise<void> {
    this.operations++;
    if (this.#random.chance(0.5)) await this.#byCall();
    else await this.#byOther();
    if (this.#random.chance(0.2)) await this.compare();
  }

  get #file(): string {
    return this.#random.pick(this.#files);
  }

  #pickThere(): string | undefined {
    return this.#there.size === 0 ? undefined : this.#random.pick([...this.#there]);
  }

  async #byCall(): Promise<void> {
    const expected = await this.#call(this.#file, this.#pickThere());
    if (expected.length > 0) this.#steps.push({ ...nothing(), byCall: expected });
  }

  /** Makes a call, and returns its expected reports. */
  async #call(target: string, source: string | undefined): Promise<string[]> {
    const fixture = this.#fixture;
    const isThere = this.#there.has(target);
    const kind = this.#random.below(8);
    if (kind === 0 && source !== undefined && source !== target) {
      await fixture.call("coder::move", { files: [{ from: source, to: target, overwrite: true }] });
      this.#there.delete(source);
      this.#there.add(target);
      if (!this.#hasRoots || rootOf(source) === rootOf(target))
        return [`moved ${source} to ${target} by move`];
      return [`${isThere ? "modified" : "created"} ${target} by move`, `deleted ${source} by move`];
    }
    if (kind === 1 && source !== undefined) {
      await fixture.call("coder::delete-file", { paths: [source] });
      this.#there.delete(source);
      return [`deleted ${source} by delete-file`];
    }
    if (kind === 2 && source !== undefined) {
      const ops = [{ op: "insert", at_line: 1, content: `${this.operations}\n` }];
      await fixture.call("coder::update-file", { files: [{ path: source, ops }] });
      return [`modified ${source} by update-file`];
    }
    if (kind === 3 && source !== undefined) {
      // A refused call, and a transaction that is rolled back, must not be reported.
      const expected_revision = `sha256:${"0".repeat(64)}`;
      if (this.#random.chance(0.5))
        await fixture.refused("coder::delete-file", {
          paths: [source],
          expected_revisions: { [source]: expected_revision },
        });
      else
        await fixture.refused("coder::transact", {
          changes: [
            { op: "delete", path: source },
            { op: "move", from: "missing", to: "elsewhere" },
          ],
        });
      return [];
    }
    if (kind === 4 && source !== undefined && source !== target && !isThere) {
      await fixture.call("coder::copy", { files: [{ from: source, to: target }] });
      this.#there.add(target);
      return [`created ${target} by copy`];
    }
    const content = `${this.operations}\n`;
    this.#there.add(target);
    const wanted = `${isThere ? "modified" : "created"} ${target}`;
    if (kind === 5) {
      const ops = [{ op: "insert", at_line: 1, content }];
      const change = isThere ? { op: "update", ops } : { op: "create", content };
      await fixture.call("coder::transact", { changes: [{ ...change, path: target }] });
      return [`${wanted} by transact`];
    }
    await fixture.call("coder::create-file", { files: [{ path: target, content, overwrite: true }] });
    return [`${wanted} by create-file`];
  }

  async #byOther(): Promise<void> {
    const last = this.#steps.at(-1);
    const isFirst = last === undefined || last.byCall.length > 0;
    const group: Expected = isFirst ? nothing() : last;
    if (isFirst) this.#steps.push(group);
    const before = new Set(this.#there);
    const operation = this.#operation(this.#file, this.#pickThere());
    await this.#program.run([
      operation[0],
      ...operation.slice(1).map((path) => this.#fixture.at(path)),
    ] as never);
    // The feed may list the folder between the two steps of a save.
    if (operation[0] === "save") group.allowed.set(`${operation[1]}~`, 2);
    const [kind, first, target] = operation;
    const origin = group.origins.has(first!) ? group.origins.get(first!) : first;
    group.origins.set(first!, undefined);
    if (kind === "move") group.origins.set(target!, origin);
    for (const path of operation.slice(1)) {
      // An entry that was moved and written to is reported twice.
      group.allowed.set(path, (group.allowed.get(path) ?? 0) + 2);
      if (!group.before.has(path)) group.before.set(path, before.has(path));
      // An entry that was created and removed again, or moved away and back, has not changed.
      const isBack = group.origins.get(path) === path;
      if (!isBack && (group.before.get(path) || this.#there.has(path))) group.changed.add(path);
      else group.changed.delete(path);
    }
  }

  #operation(target: string, source: string | undefined): Operation {
    const kind = this.#random.below(7);
    if (kind === 0 && source !== undefined && source !== target) {
      this.#there.delete(source);
      this.#there.add(target);
      return ["move", source, target];
    }
    if (kind === 1 && source !== undefined) {
      this.#there.delete(source);
      return ["remove", source];
    }
    if (kind === 2 && source !== undefined) return ["chmod", source];
    if (kind === 3 && source !== undefined) return ["touch", source];
    this.#there.add(target);
    return [this.#random.pick(["write", "save", "empty"] as const), target];
  }

  /** Compares the reports with the changes made. */
  async compare(): Promise<void> {
    const { changes, next, overflow } = await this.#fixture.pull({ since: this.#fixture.next });
    this.#fixture.next = next;
    const steps = this.#steps;
    this.#steps = [];
    if (overflow) throw new Error("an overflow");
    this.#fault(compareChanges(changes.map(renderChange), steps), {
      changes: changes.map(renderChange),
      steps,
    });
  }

  #fault(faults: readonly string[], context: object): void {
    if (faults.length > 0) this.faults.push(`${faults.join("; ")}\n${Bun.inspect(context, { depth: 6 })}`);
  }
}

const rootOf = (path: string): string => path.split("/", 1)[0]!;

/** Returns the paths of a report if it names an external change. */
const externalPaths = (line: string): string[] | undefined =>
  / (\S+)(?: to (\S+))? by external$/.exec(line)?.slice(1).filter(Boolean);

function compareChanges(lines: readonly string[], steps: readonly Expected[]): string[] {
  const faults: string[] = [];
  const calls = steps.flatMap(({ byCall }) => byCall);
  const reported = lines.filter((line) => externalPaths(line) === undefined);
  if (!Bun.deepEquals(reported, calls))
    faults.push(`calls: ${reported.join(", ")} instead of ${calls.join(", ")}`);
  // Both the reports and the steps are divided into parts by the changes of calls.
  const placeOf = (index: number) => lines.slice(0, index).filter((line) => !externalPaths(line)).length;
  const groups = steps.map((step, at) => ({
    ...step,
    place: steps.slice(0, at).reduce((sum, { byCall }) => sum + byCall.length, 0),
  }));
  for (const [index, line] of lines.entries())
    for (const path of externalPaths(line) ?? []) {
      const group = groups.find(
        ({ place, allowed }) => place <= placeOf(index) && (allowed.get(path) ?? 0) > 0,
      );
      if (group === undefined) faults.push(`not done: ${line}`);
      else group.allowed.set(path, group.allowed.get(path)! - 1);
    }
  for (const { place, changed } of groups)
    for (const path of changed) {
      const isReported = lines.some(
        (line, index) => placeOf(index) >= place && line.split(" ").includes(path),
      );
      if (!isReported) faults.push(`not reported: ${path}`);
    }
  return faults;
}

export interface MixtureReport {
  readonly seed: number;
  readonly operations: number;
  readonly faults: readonly string[];
}

/** Makes `operations` changes, and compares them with the feed. Stops at the first fault. */
export async function mixChanges(
  operations: number,
  { tree = "base", seed = freshSeed() }: { tree?: keyof typeof folders; seed?: number } = {},
): Promise<MixtureReport> {
  await using fixture = new FeedFixture();
  if (tree === "base") await fixture.open({ fsync: false });
  else await fixture.openRoots(["one", "two"], { fsync: false });
  await fixture.call("coder::make-folder", { paths: tree === "base" ? ["a", "b"] : ["one/a"] });
  await fixture.take();
  using program = new OtherProgram();
  const mixture = new Mixture(randomFrom(seed), fixture, program, tree);
  while (mixture.operations < operations && mixture.faults.length === 0) await mixture.step();
  await mixture.compare();
  return { seed, operations: mixture.operations, faults: mixture.faults };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      operations: { type: "string", default: "10000" },
      roots: { type: "boolean", default: false },
    },
  });
  const report = await mixChanges(Number(values.operations), { tree: values.roots ? "roots" : "base" });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
