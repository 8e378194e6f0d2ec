/** A folder for testing a jail: `base` is the jail's, and beside it lies a file that it must never reach. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDescriptorTargets } from "../../../tests/harness/descriptors.ts";
import { addToTree, type Tree } from "../../../tests/harness/tree.ts";
import { Refusal } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { AdmitOptions, BackendName, Jail } from "./folder.ts";
import { openJail, openRootsJail, type RootsOptions } from "./jail.ts";
import { hasDirectOpenat } from "./openat.ts";

/** Opens a jail around several roots, without turns between them. */
export const openRootsAtOnce = (options: RootsOptions): Jail => runAtOnce(openRootsJail(options));

export const secret = "the outside secret";

export class JailFixture implements Disposable {
  /** The canonical host path of the whole; contains `base`, `outside/secret.txt` and any additions. */
  readonly root: string;
  readonly base: string;
  readonly #jails: Jail[] = [];
  readonly #before = process.cwd();

  constructor(tree: Tree = {}) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
    this.base = join(this.root, "base");
    mkdirSync(this.base);
    this.add({ "../outside/secret.txt": secret, ...tree });
  }

  /** Adds entries; nothing else is touched. */
  add(tree: Tree): void {
    addToTree(this.base, tree);
  }

  /** Returns the host path of a path from the base, in the form of a tree's keys. */
  at(path: string): string {
    return join(this.base, path);
  }

  jail(backend: BackendName, deny: readonly string[] = []): Jail {
    const jail = openJail({ basePath: this.base, deny: compileGlobSet(deny), backend });
    this.#jails.push(jail);
    return jail;
  }

  [Symbol.dispose](): void {
    for (const jail of this.#jails) jail.close();
    process.chdir(this.#before);
    rmSync(this.root, { recursive: true, force: true });
  }
}

/**
 * Returns the place that a path leads to ("" is the base) and whether anything is there, or the reason for
 * its refusal.
 */
export function lead(jail: Jail, path: string, options?: AdmitOptions): string {
  try {
    using place = jail.admit(path, options);
    return place.stats === undefined ? `new:${place.path}` : `at:${place.path}`;
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}

/** Keeps the things that can exist together: none lies in an earlier one, or at its path. */
export function compatible<Thing>(things: readonly (readonly [string, Thing])[]): [string, Thing][] {
  const kept: [string, Thing][] = [];
  for (const [path, thing] of things) {
    const isFree = kept.every(
      ([other]) => !`${path}/`.startsWith(`${other}/`) && !other.startsWith(`${path}/`),
    );
    if (isFree) kept.push([path, thing]);
  }
  return kept;
}

/** The backends that this process can use; each must give the same answers. */
export const backends: readonly BackendName[] =
  process.platform !== "linux"
    ? ["current-directory"]
    : [...(hasDirectOpenat() ? (["openat"] as const) : []), "descriptors", "current-directory"];

/**
 * Returns how many descriptors of this process lead into the folder, a canonical host path. Others are not
 * counted, because those of earlier tests may be closed in the process. Linux only.
 */
export function countDescriptorsBelow(folder: string): number {
  return readDescriptorTargets().filter((target) => `${target}/`.startsWith(`${folder}/`)).length;
}
