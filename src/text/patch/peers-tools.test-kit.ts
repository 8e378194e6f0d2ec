/** Runs git, diff and patch on trees in temporary folders. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestTree } from "./patch.test-kit.ts";

/** A way to write the difference of two trees. */
export interface DiffForm {
  readonly name: string;
  readonly program: "git" | "diff";
  readonly options: readonly string[];
  /** The number of leading parts of names that `-p` removes. */
  readonly strip: number;
  /** Whether git takes it with `--unidiff-zero` only. */
  readonly isBare?: boolean;
}

const git = (...options: string[]): DiffForm => ({
  name: ["git diff", ...options].join(" "),
  program: "git",
  options,
  strip: options.includes("--no-prefix") ? 0 : 1,
  isBare: options.includes("-U0"),
});

const gnu = (...options: string[]): DiffForm => ({
  name: ["diff", ...options].join(" "),
  program: "diff",
  options,
  strip: 1,
  isBare: options.includes("-U0"),
});

export const diffKinds: readonly DiffForm[] = [
  git(),
  git("-U0"),
  git("-U1"),
  git("-U2"),
  git("-U5"),
  git("-U25"),
  git("-M"),
  git("-M20%"),
  git("-M", "-U1"),
  git("-C"),
  git("-C", "-C20%", "--find-copies-harder"),
  git("-C", "-U0", "--find-copies-harder"),
  git("-B"),
  git("-B", "-M"),
  git("-B", "-C", "--find-copies-harder"),
  git("--no-prefix"),
  git("--no-prefix", "-M"),
  git("--src-prefix=old/", "--dst-prefix=new/"),
  git("-W"),
  git("--patience", "--inter-hunk-context=4"),
  git("--histogram", "-U4"),
  git("--full-index", "--binary"),
  git("-R"),
  git("-R", "-M"),
  gnu("-ru"),
  gnu("-ruN"),
  gnu("-ruN", "-U0"),
  gnu("-ruN", "-U1"),
  gnu("-rupN"),
  gnu("-rN", "-U8", "--minimal"),
];

const quiet = { stdin: "ignore", stdout: "pipe", stderr: "ignore" } as const;

const environment = {
  PATH: process.env["PATH"] ?? "",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CEILING_DIRECTORIES: "/",
};

export class ToolRunner {
  readonly #folder: string;
  readonly #repository: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#repository = join(folder, "repository");
    mkdirSync(this.#repository);
    Bun.spawnSync(["git", "init", "-q"], { cwd: this.#repository, env: environment });
  }

  /** Returns the difference in this form, empty if it shows none. */
  async diff(before: TestTree, after: TestTree, form: DiffForm): Promise<Buffer> {
    if (form.program === "git") {
      const [old, now] = [await this.#commit(before), await this.#commit(after)];
      return await this.#run(["git", "diff-tree", "-p", "-r", ...form.options, old, now], this.#repository);
    }
    const pair = join(this.#folder, "pair");
    rmSync(pair, { recursive: true, force: true });
    writeTree(join(pair, "old"), before);
    writeTree(join(pair, "new"), after);
    return await this.#run(["diff", ...form.options, "old", "new"], pair);
  }

  async gitApply(
    base: TestTree,
    patch: Buffer,
    form: DiffForm,
    isReversed: boolean,
  ): Promise<TestTree | undefined> {
    const options = [
      `-p${form.strip}`,
      ...(form.isBare ? ["--unidiff-zero"] : []),
      ...(isReversed ? ["-R"] : []),
    ];
    return await this.#apply(
      "git",
      base,
      ["git", "apply", "--whitespace=nowarn", ...options, "../patch-git"],
      patch,
    );
  }

  async gnuPatch(
    base: TestTree,
    patch: Buffer,
    form: DiffForm,
    isReversed: boolean,
  ): Promise<TestTree | undefined> {
    const options = [`-p${form.strip}`, "-f", "-s", "--no-backup-if-mismatch", ...(isReversed ? ["-R"] : [])];
    return await this.#apply("patch", base, ["patch", ...options, "-i", "../patch-patch"], patch);
  }

  /** Writes a tree into the repository and returns its name. */
  async #commit(tree: TestTree): Promise<string> {
    const work = join(this.#folder, "work");
    rmSync(work, { recursive: true, force: true });
    rmSync(join(this.#repository, ".git", "index"), { force: true });
    writeTree(work, tree);
    const at = ["git", `--git-dir=${join(this.#repository, ".git")}`, `--work-tree=${work}`];
    await this.#run(
      [...at, "-c", "core.autocrlf=false", "-c", "core.fsync=none", "add", "-A", "-f", "."],
      work,
    );
    return (await this.#run([...at, "write-tree"], work)).toString().trim();
  }

  async #apply(
    name: string,
    base: TestTree,
    command: string[],
    patch: Buffer,
  ): Promise<TestTree | undefined> {
    const folder = join(this.#folder, name);
    rmSync(folder, { recursive: true, force: true });
    writeTree(folder, base);
    writeFileSync(join(this.#folder, `patch-${name}`), patch);
    const child = Bun.spawn(command, { cwd: folder, env: environment, ...quiet });
    return (await child.exited) === 0 ? readTree(folder) : undefined;
  }

  async #run(command: string[], cwd: string): Promise<Buffer> {
    const child = Bun.spawn(command, { cwd, env: environment, ...quiet });
    return Buffer.from(await new Response(child.stdout).arrayBuffer());
  }
}

export function writeTree(folder: string, tree: TestTree): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, { body, mode }] of tree) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, body);
    chmodSync(file, mode);
  }
}

export function readTree(folder: string, below = "", tree: TestTree = new Map()): TestTree {
  for (const name of readdirSync(join(folder, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    const stats = lstatSync(join(folder, path));
    if (stats.isDirectory()) readTree(folder, path, tree);
    else tree.set(path, { body: readFileSync(join(folder, path)), mode: stats.mode & 0o777 });
  }
  return tree;
}
