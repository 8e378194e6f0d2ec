/** The folders of a race: `base`, and beside it files that must be neither seen nor touched. Linux only. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { outsideName } from "../escape-case.ts";
import { levels, type Swap } from "./cells.ts";
import { takeTexts } from "./take-texts.ts";

const insideText = "inside\n";
const outsideText = "outside-secret\n";

/** Builds the tree of a race in the empty folder `root`. */
export function buildRaceTree(root: string): void {
  const at = (path: string) => join(root, path);
  for (const folder of ["base/s/real/sub", `base/${"d/".repeat(levels)}`, "outside/sub"]) {
    mkdirSync(at(folder), { recursive: true });
  }
  for (const file of ["base/f", "base/s/f", "base/s/real/f", "base/s/real/sub/f"])
    writeFileSync(at(file), insideText);
  for (const file of ["f", "outside/f", "outside/sub/f", `outside/${outsideName}`])
    writeFileSync(at(file), outsideText);
  symlinkSync("../../outside", at("base/s/link"));
  symlinkSync("../../outside/f", at("f-link"));
  execFileSync("mkfifo", [fifoOf(root)]);
  for (const name of ["f-link", "pipe"]) linkSync(at(name), at(`base/s/${name}`));
}

/**
 * The way the base is served: alone, as a root beside the root `outside`, or as the scope of each call in a
 * base that also holds `outside`.
 */
export type RaceLayout = "base" | "roots" | "scope";

/** Returns the configuration, the beginning of every path, and further fields of each call. */
export function servedAs(layout: RaceLayout, root: string) {
  const at = (path: string) => join(root, path);
  const roots = [
    { name: "served", path: at("base") },
    { name: "second", path: at("outside"), read_only: true },
  ];
  const alone = { base_path: at("base"), index: "watched" };
  return {
    base: { config: alone, prefix: "", more: {} },
    roots: { config: { roots }, prefix: "served/", more: {} },
    scope: { config: { ...alone, base_path: root }, prefix: "", more: { fs_scope: { root: "base" } } },
  }[layout];
}

/** Returns the name of the FIFO that the swapper leaves alone. */
export const fifoOf = (root: string): string => join(root, "pipe");

/** Returns the arguments that make the swapper do this swap. */
export function swapOf(swap: Swap, root: string): [string, string, string] {
  const base = join(root, "base");
  switch (swap) {
    case "folder and link":
      return ["exchange", join(base, "s/real"), join(base, "s/link")];
    case "file and link":
      return ["exchange", join(base, "s/f"), join(base, "s/f-link")];
    case "file and FIFO":
      return ["exchange", join(base, "s/f"), join(base, "s/pipe")];
    case "folder moved up":
      return ["move", join(base, "d/d"), join(base, "m")];
  }
}

/** The entries that a file is swapped with. Each has a second name in the root of the tree. */
const partners: Readonly<Partial<Record<Swap, string>>> = {
  "file and link": "f-link",
  "file and FIFO": "pipe",
};

/** Restores the inside of the tree between calls, through descriptors, since the swapper swaps its paths. */
export class TreeRestorer implements Disposable {
  readonly #root: string;
  readonly #swap: Swap;
  #parent: number;
  #real: number;

  constructor(root: string, swap: Swap) {
    this.#root = root;
    this.#swap = swap;
    this.#parent = openFolder(join(root, "base/s"))!;
    this.#real = this.#openReal();
  }

  /** Creates again what a call has removed, and removes what it has created. */
  restore(): void {
    if (!this.#isWhole()) this.#rebuild();
    this.#restoreLink();
    const real = `/proc/self/fd/${this.#real}`;
    for (const name of readdirSync(real)) {
      if (name !== "f" && name !== "sub") rmSync(join(real, name), { recursive: true });
    }
    if (!existsSync(`${real}/f`)) writeFileSync(`${real}/f`, insideText);
    mkdirSync(`${real}/sub`, { recursive: true });
    if (!existsSync(`${real}/sub/f`)) writeFileSync(`${real}/sub/f`, insideText);
  }

  [Symbol.dispose](): void {
    closeSync(this.#parent);
    closeSync(this.#real);
  }

  /**
   * Restores the link or FIFO that a file is swapped with, since a file that was replaced may have taken its
   * place. The link count of its second name shows that, while a check of the names would be a race of its
   * own.
   */
  #restoreLink(): void {
    const other = partners[this.#swap];
    if (other === undefined) return;
    const spare = join(this.#root, other);
    if (lstatSync(spare).nlink > 1) return;
    const place = `/proc/self/fd/${this.#parent}/${other}`;
    rmSync(place, { force: true });
    linkSync(spare, place);
  }

  /** Returns false if the walked folder was removed, or a part of the swap in it. */
  #isWhole(): boolean {
    const names = readdirOrNone(join(this.#root, "base/s"));
    return names.includes("real") && names.includes("link");
  }

  #rebuild(): void {
    const s = join(this.#root, "base/s");
    const away = join(this.#root, "away");
    // Moves it out of the swapper's reach first, which must not bend the paths of this removal.
    if (existsSync(s)) renameSync(s, away);
    takeTexts(away);
    mkdirSync(join(s, "real"), { recursive: true });
    symlinkSync("../../outside", join(s, "link"));
    this[Symbol.dispose]();
    this.#parent = openFolder(s)!;
    this.#real = this.#openReal();
  }

  #openReal(): number {
    for (;;) {
      for (const name of ["real", "link"]) {
        const opened = openFolder(`/proc/self/fd/${this.#parent}/${name}`);
        if (opened !== undefined) return opened;
      }
    }
  }
}

function readdirOrNone(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function openFolder(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}

/** Returns the changes of a call outside, one sentence each, and takes them back. */
export function breachesOf(root: string): string[] {
  const outside = join(root, "outside");
  const breaches: string[] = [];
  for (const file of ["f", "sub/f", outsideName]) {
    if (existsSync(join(outside, file)) && readFileSync(join(outside, file), "utf8") === outsideText)
      continue;
    breaches.push(`outside/${file} was changed`);
    mkdirSync(join(outside, "sub"), { recursive: true });
    writeFileSync(join(outside, file), outsideText);
  }
  for (const name of readdirSync(outside)) {
    if (["f", "sub", outsideName].includes(name)) continue;
    breaches.push(`outside/${name} was made`);
    rmSync(join(outside, name), { recursive: true });
  }
  return breaches;
}
