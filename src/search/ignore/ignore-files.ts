/**
 * Finds ignore files along a walk. Anything that keeps one from being read leaves it out: a deny rule, a link
 * in its place, a size over the limit. So a caller cannot use it to find out about denied entries.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { FileBuffer, openFileIn } from "../../filesystem/files/file-buffer.ts";
import { ignoreVanished } from "../../filesystem/files/ignore-vanished.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import { type EntryKind, kindOf } from "../../filesystem/jail/kind.ts";
import type { NameBytes } from "../../filesystem/jail/name.ts";
import type { IgnoreFile } from "./ignore-file.ts";
import { IgnoreFileCache } from "./ignore-file-cache.ts";
import { IgnoreRules } from "./ignore-rules.ts";

/**
 * The names of ignore files, the strongest first, as in ripgrep. The last one names a folder, in which the
 * file is `info/exclude`.
 */
const names = [".rgignore", ".ignore", ".gitignore", ".git"].map((name) => Buffer.from(name));
const gitFolder = names.length - 1;
const info = Buffer.from("info");
const exclude = Buffer.from("exclude");

/**
 * Maximum total cost of the ignore files in force for a folder, so that a hostile tree cannot hold up other
 * calls.
 */
const maxCost = 128 * 1024;

/** The ignore files that a folder has, one bit per name. */
export type IgnoreFileSet = number;

/**
 * Returns the bit for the ignore file that an entry is, or 0 for every other entry, such as a FIFO of that
 * name.
 */
export function ignoreFileBit({ bytes, from, to }: NameBytes, kind: EntryKind): IgnoreFileSet {
  if (bytes[from] !== dot) return 0;
  const place = names.findIndex((name) => name.compare(bytes, from, to) === 0);
  return kind === (place === gitFolder ? "dir" : "file") && place >= 0 ? 1 << place : 0;
}

const dot = 0x2e;

/** Reads the ignore files of folders below one base, for all searches of a worker. */
export class IgnoreFiles {
  readonly #jail: Pick<Jail, "admitFolder" | "deniesBytesIn">;
  readonly #buffer = new FileBuffer();
  readonly #cache = new IgnoreFileCache();

  constructor(jail: Pick<Jail, "admitFolder" | "deniesBytesIn">) {
    this.#jail = jail;
  }

  /**
   * Returns the rules for this folder that come from the folders above it, starting at the base, and that
   * have followed its path. Reads one folder per step.
   */
  *above({ names, path }: Folder): Steps<IgnoreRules> {
    let rules = IgnoreRules.none;
    // Opened one in the other, since a path from the base is walked to name by name.
    let next = names.length === 0 ? undefined : ignoreVanished(() => this.#jail.admitFolder("."));
    for (let depth = 1; next !== undefined; depth++) {
      using folder = next;
      if (depth > 1) yield;
      rules = ignoreVanished(() => this.in(folder, rules)) ?? rules;
      const name = names[depth - 1]!;
      const isRead = depth < names.length && !this.#denies(folder, Buffer.from(name));
      next = isRead ? ignoreVanished(() => folder.child(name)) : undefined;
    }
    yield* rules.follow(path);
    return rules;
  }

  /** Finds the ignore files of a folder that is not listed. */
  #presentIn(folder: Folder): IgnoreFileSet {
    let present: IgnoreFileSet = 0;
    for (const bytes of names) {
      const kind = ignoreVanished(() => kindOf(folder.lstat(bytes.toString())));
      if (kind !== undefined) present |= ignoreFileBit({ bytes, from: 0, to: bytes.length }, kind);
    }
    return present;
  }

  /**
   * Returns the rules in a folder: those from above it, and its own. `present` holds its ignore files if a
   * listing has shown them.
   */
  in(folder: Folder, above: IgnoreRules, present: IgnoreFileSet = this.#presentIn(folder)): IgnoreRules {
    if (present === 0) return above;
    let left = maxCost - above.cost;
    const own = names.map((name, kind) => {
      if ((present & (1 << kind)) === 0) return undefined;
      const file = ignoreVanished(() =>
        kind === gitFolder ? this.#readExclude(folder, name, left) : this.#read(folder, name, left),
      );
      left -= file?.cost ?? 0;
      return file;
    });
    return above.with(folder.path, own);
  }

  #readExclude(folder: Folder, git: Buffer, left: number): IgnoreFile | undefined {
    if (this.#denies(folder, git)) return undefined;
    using gitFolder = folder.child(git.toString());
    if (this.#denies(gitFolder, info)) return undefined;
    using infoFolder = gitFolder.child(info.toString());
    return this.#read(infoFolder, exclude, left);
  }

  #read(folder: Folder, name: Buffer, left: number): IgnoreFile | undefined {
    if (this.#denies(folder, name)) return undefined;
    const descriptor = openFileIn(folder, { bytes: name, from: 0, to: name.length });
    const limits = { maxBytes: left, slackBytes: 0 };
    const [file] = this.#buffer.withContents(descriptor, limits, (buffer, length) => [
      this.#cache.compile(buffer.subarray(0, length), left),
    ]);
    return file;
  }

  #denies(folder: Folder, name: Buffer): boolean {
    return this.#jail.deniesBytesIn(folder, name, 0, name.length);
  }
}
