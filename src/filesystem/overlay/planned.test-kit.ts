/** Carries steps out by simple means, for tests of their planning. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Expected, Staged, Step } from "../disk/steps.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { PlannedTree } from "./planned-tree.ts";

/** A sandbox with a planned tree over it. */
export class PlannedFixture extends FilesFixture {
  pending(options: { readonly maxBytes?: number } = {}): PlannedTree {
    const config = { max_write_bytes: 1000, fsync: false };
    return new PlannedTree({ jail: this.jailed, config }, { maxBytes: 1_000_000, ...options });
  }

  override [Symbol.dispose](): void {
    // A folder without write permission cannot be emptied.
    execFileSync("chmod", ["-R", "u+rwX", this.root]);
    super[Symbol.dispose]();
  }

  /** Carries out the steps, without promising atomicity. Throws if a step does not fit the tree. */
  carryOut({ steps }: Pick<PlannedTree, "steps">): void {
    const aside = mkdtempSync(join(this.root, "staged-"));
    const staged = new Map<Staged, string>();
    const inodes = new Map<Staged, number>();
    for (const step of steps) {
      if (!("staged" in step)) continue;
      const path = join(aside, String(staged.size));
      this.#make(step.staged, path);
      staged.set(step.staged, path);
      inodes.set(step.staged, lstatSync(path).ino);
    }
    for (const step of steps) this.#take(step, { aside, staged, inodes });
    execFileSync("chmod", ["-R", "u+rwX", aside]);
    rmSync(aside, { recursive: true });
  }

  #make(entry: Staged, path: string): void {
    if (entry.kind === "symlink") symlinkSync(entry.text, path);
    else if (entry.kind === "copy")
      cpSync(this.at(entry.of.path), path, {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
      });
    else if (entry.kind === "dir") {
      mkdirSync(path);
    } else {
      const { content } = entry;
      writeFileSync(
        path,
        "cloneOf" in content ? readFileSync(this.at(content.cloneOf.path)) : Buffer.concat(content),
      );
      chmodSync(path, entry.mode);
    }
  }

  #take(step: Step, { aside, staged, inodes }: Carried): void {
    const check = (path: string, expected: Expected) => {
      const { ino } = lstatSync(this.at(path));
      const wanted = "staged" in expected ? inodes.get(expected.staged) : Number(expected.ino);
      if (ino !== wanted) throw new Error(`${step.kind} finds something else at ${path}`);
    };
    const free = (path: string) => {
      if (
        existsSync(dirname(this.at(path))) &&
        lstatSync(this.at(path), { throwIfNoEntry: false }) === undefined
      )
        return;
      throw new Error(`${step.kind} finds no room at ${path}`);
    };
    if (step.kind === "place") {
      free(step.path);
      renameSync(staged.get(step.staged)!, this.at(step.path));
      const { staged: entry } = step;
      if (entry.kind === "dir" && entry.mode !== undefined) chmodSync(this.at(step.path), entry.mode);
    } else if (step.kind === "exchange") {
      check(step.path, step.expected);
      renameSync(staged.get(step.staged)!, this.at(step.path));
    } else if (step.kind === "set-aside") {
      check(step.path, step.expected);
      if (lstatSync(this.at(step.path)).isDirectory()) chmodSync(this.at(step.path), 0o700);
      renameSync(this.at(step.path), join(aside, `gone-${Math.random()}`));
    } else if (step.kind === "rename") {
      check(step.from, step.expected);
      free(step.to);
      renameSync(this.at(step.from), this.at(step.to));
    } else {
      check(step.path, step.expected);
      chmodSync(this.at(step.path), step.mode);
    }
  }
}

interface Carried {
  readonly aside: string;
  readonly staged: ReadonlyMap<Staged, string>;
  readonly inodes: ReadonlyMap<Staged, number>;
}
