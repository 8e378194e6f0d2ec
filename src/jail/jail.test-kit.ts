/** A folder to let a jail loose in, for tests: `base` is the jail's, and beside it lies what it must never reach. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { targetsNow } from "../../tests/harness/descriptors.ts";
import { Refusal } from "../errors.ts";
import { compileGlobSet } from "../globs/glob-set.ts";
import type { AdmitOptions, BackendName, Jail } from "./folder.ts";
import { openJail } from "./jail.ts";
import { hasDirectOpenat } from "./openat.ts";

/** What to plant, by path below the sandbox: a file's text, a link, a second name of a file, a folder (`null`). */
export type Plan = Readonly<Record<string, string | { link: string } | { sameAs: string } | null>>;

export const secret = "the outside secret";

export class JailFixture implements Disposable {
  /** Canonical host path of the whole; holds `base`, `outside/secret.txt` and what is planted. */
  readonly root: string;
  readonly base: string;
  readonly #jails: Jail[] = [];
  readonly #before = process.cwd();

  constructor(plan: Plan = {}) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
    this.base = join(this.root, "base");
    this.plant({ base: null, "outside/secret.txt": secret, ...plan });
  }

  plant(plan: Plan): void {
    for (const [path, what] of Object.entries(plan)) {
      const full = this.at(path);
      mkdirSync(dirname(full), { recursive: true });
      if (what === null) mkdirSync(full, { recursive: true });
      else if (typeof what === "string") writeFileSync(full, what);
      else if ("link" in what) symlinkSync(what.link.replace("<root>", this.root), full);
      else linkSync(this.at(what.sameAs), full);
    }
  }

  /** Host path of a path below the sandbox. */
  at(path: string): string {
    return join(this.root, path);
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

/** Where a path leads ("" is the base) and whether anything is there, or the reason it is refused for. */
export function lead(jail: Jail, path: string, options?: AdmitOptions): string {
  try {
    using place = jail.admit(path, options);
    return place.stats === undefined ? `new:${place.path}` : `at:${place.path}`;
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}

/** The backends this process can use; each must give the same answers. */
export const backends: readonly BackendName[] =
  process.platform !== "linux"
    ? ["current-directory"]
    : [...(hasDirectOpenat() ? (["openat"] as const) : []), "descriptors", "current-directory"];

/**
 * How many descriptors of this process lead into the folder, a canonical host path. Others are not counted: what tests
 * before had open may be closed meanwhile. Linux only.
 */
export function openDescriptors(folder: string): number {
  return targetsNow().filter((target) => `${target}/`.startsWith(`${folder}/`)).length;
}
