import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/**
 * A tree of files as data. Keys are paths relative to the base folder; a key that ends in "/" is a folder,
 * one that starts with "../" is outside. Folders above a key need no entry of their own. A lone surrogate
 * U+DC80 to U+DCFF in a key represents the byte 0x80 to 0xFF (PEP 383), so names need not be UTF-8. In link
 * targets `<base>` represents the base folder's own absolute path, and `<root>` that of the folder above.
 */
export type Tree = Readonly<Record<string, TreeEntry>>;

/** The entry at a path: a file's text or bytes, a richer description, or null for a plain folder. */
export type TreeEntry =
  | string
  | Buffer
  | null
  | { readonly text: string; readonly mode?: number }
  | { readonly mode: number }
  | { readonly link: string }
  | { readonly hardlink: string }
  | { readonly fifo: true };

/** The effect of a call on a tree: entries that are new or different, and `gone` ones. */
export type Changes = Readonly<Record<string, TreeEntry | typeof gone>>;

/** A marker for an entry that is no longer there; for a folder, including everything in it. */
export const gone = { gone: true } as const;

/** The time stamp of everything in a built tree, in whole seconds since the epoch. */
export const mtime = 1_700_000_000;

/** One entry on disk, or an expected one: kind, permission bits (if they matter) and contents. */
export interface SnapshotEntry {
  readonly kind: "file" | "dir" | "symlink" | "other";
  /** The lower 12 bits of the mode, or `undefined` to accept any. */
  readonly mode: number | undefined;
  /** A file's bytes or a link's target, as latin1. */
  readonly content: string;
}

export type Snapshot = ReadonlyMap<string, SnapshotEntry>;

/** Fills the folder `base` in `root` with `tree`, and writes its entries outside. Keeps the base's inode. */
export function buildTree(root: string, tree: Tree): void {
  const base = join(root, "base");
  mkdirSync(base, { recursive: true });
  for (const name of readdirSync(base, "buffer")) removeAt(bytes(`${base}/`, name));
  for (const name of readdirSync(root, "buffer"))
    if (name.toString() !== "base") removeAt(bytes(`${root}/`, name));
  addToTree(base, tree);
  for (const [key, found] of snapshotTree(root)) stamp(pathOf(base, key), found.kind);
  stamp(Buffer.from(base), "dir");
}

/** Adds `tree` to the existing folder `base`, and touches nothing else in it. */
export function addToTree(base: string, tree: Tree): void {
  for (const [key, entry] of Object.entries(tree)) buildEntry(base, key, entry);
}

/**
 * Returns everything below `root`, keyed like a `Tree`, and sorted so that folders come before their entries.
 */
export function snapshotTree(root: string): Snapshot {
  const found = new Map<string, SnapshotEntry>();
  visit(Buffer.from(`${root}/base`), "", found);
  for (const name of readdirSync(root, "buffer").sort(Buffer.compare)) {
    if (name.toString() !== "base") visitEntry(bytes(`${root}/`, name), `../${decodeName(name)}`, found);
  }
  return found;
}

/** Returns a tree with the entries of a snapshot in the base, including every folder, without modes. */
export const treeOf = (snapshot: Snapshot): Tree =>
  Object.fromEntries(
    [...snapshot].filter(([key]) => !key.startsWith("../")).map(([key, found]) => [key, entryOf(found)]),
  );

function entryOf({ kind, content }: SnapshotEntry): TreeEntry {
  if (kind === "dir") return null;
  if (kind === "symlink") return { link: decodeName(Buffer.from(content, "latin1")) };
  return kind === "file" ? Buffer.from(content, "latin1").toString() : { fifo: true };
}

/** Returns the snapshot that `changes` make of `before`. */
export function applyChanges(before: Snapshot, changes: Changes, base: string): Snapshot {
  const after = new Map(before);
  for (const [key, entry] of Object.entries(changes)) {
    if (entry === gone) {
      for (const known of before.keys())
        if (known === key || (key.endsWith("/") && known.startsWith(key))) after.delete(known);
    } else {
      addParents(after, key);
      after.set(key, expectedEntry(entry as TreeEntry, before.get(key), base));
    }
  }
  return after;
}

/** Returns the differences between two snapshots, one sentence per entry, or an empty list. */
export function compareSnapshots(actual: Snapshot, expected: Snapshot): string[] {
  const keys = [...new Set([...actual.keys(), ...expected.keys()])].sort();
  return keys.flatMap((key) => {
    const is = actual.get(key);
    const should = expected.get(key);
    if (is === undefined) return [`${key} is missing`];
    if (should === undefined) return [`${key} should not be there`];
    const sameMode = should.mode === undefined || is.mode === should.mode;
    if (is.kind === should.kind && sameMode && is.content === should.content) return [];
    return [`${key} is ${show(is)}, should be ${show(should)}`];
  });
}

function buildEntry(base: string, key: string, entry: TreeEntry): void {
  const path = pathOf(base, key);
  const parent = key.replace(/[^/]+\/?$/, "");
  if (parent !== "") mkdirSync(pathOf(base, parent), { recursive: true });
  if (key.endsWith("/")) mkdirSync(path, { recursive: true });
  else if (entry === null) throw new Error(`a folder's key ends in "/": ${key}`);
  else if (typeof entry === "object" && "link" in entry)
    symlinkSync(bytes(expandBase(entry.link, base)), path);
  else if (typeof entry === "object" && "hardlink" in entry) linkSync(pathOf(base, entry.hardlink), path);
  else if (typeof entry === "object" && "fifo" in entry)
    execFileSync("mkfifo", ["-m", "644", path.toString()]);
  else writeFileSync(path, contentOf(entry));
  const mode = modeOf(entry, key);
  if (mode !== undefined) chmodSync(path, mode);
}

function modeOf(entry: TreeEntry, key: string): number | undefined {
  if (entry !== null && typeof entry === "object" && !Buffer.isBuffer(entry)) {
    if ("mode" in entry && entry.mode !== undefined) return entry.mode;
    if (!("text" in entry)) return undefined;
  }
  return key.endsWith("/") ? 0o755 : 0o644;
}

function contentOf(entry: TreeEntry): Buffer {
  if (typeof entry === "string") return Buffer.from(entry);
  if (Buffer.isBuffer(entry)) return entry;
  if (entry !== null && "text" in entry) return Buffer.from(entry.text);
  throw new Error(`no contents in ${JSON.stringify(entry)}`);
}

function expectedEntry(entry: TreeEntry, before: SnapshotEntry | undefined, base: string): SnapshotEntry {
  if (entry === null) return { kind: "dir", mode: before?.mode, content: "" };
  if (typeof entry === "object" && "mode" in entry && !("text" in entry))
    return { kind: "dir", mode: entry.mode, content: "" };
  if (typeof entry === "object" && "link" in entry) {
    return {
      kind: "symlink",
      mode: undefined,
      content: bytes(expandBase(entry.link, base)).toString("latin1"),
    };
  }
  const given = typeof entry === "object" && "mode" in entry ? entry.mode : undefined;
  return { kind: "file", mode: given ?? before?.mode ?? 0o644, content: contentOf(entry).toString("latin1") };
}

function addParents(snapshot: Map<string, SnapshotEntry>, key: string): void {
  const names = key.split("/").slice(0, key.endsWith("/") ? -2 : -1);
  for (let depth = 1; depth <= names.length; depth++) {
    const folder = `${names.slice(0, depth).join("/")}/`;
    if (!snapshot.has(folder)) snapshot.set(folder, { kind: "dir", mode: undefined, content: "" });
  }
}

function visit(folder: Buffer, prefix: string, found: Map<string, SnapshotEntry>): void {
  for (const name of readdirSync(folder, "buffer").sort(Buffer.compare))
    visitEntry(bytes(folder, "/", name), prefix + decodeName(name), found);
}

function visitEntry(path: Buffer, key: string, found: Map<string, SnapshotEntry>): void {
  const stats = lstatSync(path);
  const mode = stats.mode & 0o7777;
  if (stats.isDirectory()) {
    found.set(`${key}/`, { kind: "dir", mode, content: "" });
    withPermission({ path, mode, needs: 0o500 }, () => visit(path, `${key}/`, found));
  } else if (stats.isSymbolicLink()) {
    found.set(key, { kind: "symlink", mode: undefined, content: readlinkSync(path, "latin1") });
  } else if (stats.isFile()) {
    const content = withPermission({ path, mode, needs: 0o400 }, () => readFileSync(path, "latin1"));
    found.set(key, { kind: "file", mode, content });
  } else {
    found.set(key, { kind: "other", mode, content: "" });
  }
}

interface Restricted {
  readonly path: Buffer;
  readonly mode: number;
  /** The permission bits without which only root can read it. */
  readonly needs: number;
}

/** Returns the result of `read`, adding permissions if necessary, which only root does not need. */
function withPermission<T>({ path, mode, needs }: Restricted, read: () => T): T {
  if ((mode & needs) === needs || process.getuid?.() === 0) return read();
  chmodSync(path, mode | needs);
  try {
    return read();
  } finally {
    chmodSync(path, mode);
  }
}

function stamp(path: Buffer, kind: SnapshotEntry["kind"]): void {
  if (kind === "symlink") lutimesSync(path, mtime, mtime);
  else utimesSync(path, mtime, mtime);
}

function removeAt(path: Buffer): void {
  // By hand, because rmSync cannot remove an entry whose name is not UTF-8.
  if (lstatSync(path).isDirectory()) {
    chmodSync(path, 0o755);
    for (const name of readdirSync(path, "buffer")) removeAt(bytes(path, "/", name));
    rmdirSync(path);
  } else unlinkSync(path);
}

const pathOf = (base: string, key: string): Buffer =>
  bytes(key.startsWith("../") ? `${base.replace(/\/base$/, "")}/${key.slice(3)}` : `${base}/${key}`);

/** Replaces `<base>` and `<root>` in `text` by the absolute paths. */
export const expandBase = (text: string, base: string): string =>
  text.replaceAll("<base>", base).replaceAll("<root>", dirname(base));

/**
 * Returns a payload with `<base>` replaced in its strings. Copies own keys only, so that a key named
 * `__proto__` survives.
 */
export const expandPayload = (payload: unknown, base: string): unknown =>
  JSON.parse(expandBase(JSON.stringify(payload), JSON.stringify(base).slice(1, -1)));

const show = (found: SnapshotEntry): string =>
  `${found.kind} ${found.mode?.toString(8) ?? ""} ${JSON.stringify(found.content.slice(0, 200))}`;

/** Returns the bytes of the parts, with U+DC80 to U+DCFF converted to single bytes. */
function bytes(...parts: (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? encodeName(part) : part)));
}

function encodeName(text: string): Buffer {
  const pieces = text.split(/([\udc80-\udcff])/);
  return Buffer.concat(
    pieces.map((piece) =>
      /^[\udc80-\udcff]$/.test(piece) ? Buffer.from([piece.charCodeAt(0) - 0xdc00]) : Buffer.from(piece),
    ),
  );
}

/** Inverts `encodeName` for the names in the cases: whole names that are UTF-8, or else byte by byte. */
function decodeName(name: Buffer): string {
  const text = name.toString();
  if (Buffer.from(text).equals(name)) return text;
  return [...name].map((byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join("");
}
