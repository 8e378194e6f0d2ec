/**
 * A file system for tests that takes many spellings for one name: case, Unicode forms, invisible characters,
 * blanks and dots at the end, and FAT's short names. It implements the kernel's protocol for file systems in
 * user space (linux/fuse.h, 7.31) and takes no writes except new names. Needs root and /dev/fuse.
 *
 *     bun file-system.ts MOUNTPOINT    writes a line once it is mounted, and ends with its input
 */
import { openSync, read, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { promisify } from "node:util";

interface Node {
  name: string;
  /** The short name that FAT gives it. */
  readonly second?: string;
  readonly text?: string;
  readonly children?: readonly number[];
}

/** The entries by their inode numbers. The root is 1. */
const nodes: Readonly<Record<number, Node>> = {
  1: { name: "", children: [2, 3, 4, 5, 7] },
  2: { name: ".env", second: "ENV~1", text: "hunter2\n" },
  3: { name: "id.pem", second: "ID~1.PEM", text: "hunter2\n" },
  4: { name: "Straße.txt", second: "STRASS~1.TXT", text: "plain\n" },
  5: { name: "secrets", second: "SECRET~1", children: [6] },
  6: { name: "key.txt", second: "KEY~1.TXT", text: "hunter2\n" },
  7: { name: "sub", children: [8] },
  8: { name: "note.md", text: "noted\n" },
};

/** Folds a name without the worker's own rule, so that one may be wrong without the other. */
const spell = (name: string): string =>
  [...name.normalize("NFD")]
    .filter((character) => !/\u00ad|[\u200b-\u200f]|\u2060|[\ufe00-\ufe0f]/.test(character))
    .join("")
    .replace(/[ .]+$/, "")
    .replaceAll("ß", "ss")
    .toLowerCase();

const find = (folder: number, name: string): number | undefined =>
  nodes[folder]?.children?.find((node) => {
    const { name: stored, second } = nodes[node]!;
    return spell(name) === spell(stored) || (second !== undefined && spell(name) === spell(second));
  });

const operations = { lookup: 1, getattr: 3, open: 14, read: 15, statfs: 17, release: 18, init: 26 } as const;
const folderOperations = { opendir: 27, readdir: 28, releasedir: 29 } as const;
/** The bytes before the two names, by operation: those of the new folder, and in one also those of flags. */
const renames: Readonly<Record<number, number>> = { 12: 8, 45: 16 };
const unanswered = [2, 36, 42]; // forget, interrupt, forget many
const [ENOENT, EEXIST, EXDEV, ENOSYS] = [2, 17, 18, 38];

/** Packs numbers of `bytes` bytes each, little-endian. */
function pack(...fields: (readonly [bytes: 2 | 4 | 8, ...values: number[]])[]): Buffer {
  const parts = fields.flatMap(([bytes, ...values]) =>
    values.map((value) => {
      const part = Buffer.alloc(bytes);
      part.writeUIntLE(value, 0, Math.min(bytes, 6));
      return part;
    }),
  );
  return Buffer.concat(parts);
}

function attributes(number: number): Buffer {
  const { text } = nodes[number]!;
  const mode = text === undefined ? 0o40755 : 0o100644;
  return pack([8, number, text?.length ?? 0, 1, 0, 0, 0], [4, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0]);
}

function entries(folder: number, offset: number): Buffer {
  const children = nodes[folder]?.children ?? [];
  return Buffer.concat(
    children.slice(offset).map((child, i) => {
      const { name, text } = nodes[child]!;
      const bytes = Buffer.from(name);
      const kind = text === undefined ? 4 : 8;
      const head = pack([8, child, offset + i + 1], [4, bytes.length, kind]);
      return Buffer.concat([head, bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
    }),
  );
}

/**
 * Gives an entry another name in its folder, or another spelling of its name, but never the name of another
 * entry.
 */
function rename(folder: number, body: Buffer, namesAt: number): Buffer | number {
  const [from, to] = body.toString("utf8", namesAt).split("\0") as [string, string];
  const [moved, there] = [find(folder, from), find(folder, to)];
  if (Number(body.readBigUInt64LE(0)) !== folder) return EXDEV;
  if (moved === undefined) return ENOENT;
  if (there !== undefined && there !== moved) return EEXIST;
  nodes[moved]!.name = to;
  return Buffer.alloc(0);
}

/** Returns the body of the answer, or the errno. */
function answer(operation: number, node: number, body: Buffer): Buffer | number {
  const namesAt = renames[operation];
  if (namesAt !== undefined) return rename(node, body, namesAt);
  switch (operation) {
    case operations.init:
      return pack([4, 7, 31, 0, 0], [2, 16, 12], [4, 65536, 1], [2, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0]);
    case operations.lookup: {
      const found = find(node, body.toString("utf8", 0, body.length - 1));
      if (found === undefined) return ENOENT;
      return Buffer.concat([pack([8, found, 0, 0, 0], [4, 0, 0]), attributes(found)]);
    }
    case operations.getattr:
      return Buffer.concat([pack([8, 0], [4, 0, 0]), attributes(node)]);
    case operations.open:
    case folderOperations.opendir:
      return pack([8, 1], [4, 0, 0]);
    case operations.read: {
      const [from, size] = [Number(body.readBigUInt64LE(8)), body.readUInt32LE(16)];
      return Buffer.from(nodes[node]!.text!).subarray(from, from + size);
    }
    case folderOperations.readdir:
      return entries(node, Number(body.readBigUInt64LE(8)));
    case operations.statfs:
      return pack([8, 0, 0, 0, 0, 0], [4, 4096, 255, 0, 0], [4, 0, 0, 0, 0, 0, 0]);
    case operations.release:
    case folderOperations.releasedir:
      return Buffer.alloc(0);
    default:
      return ENOSYS;
  }
}

function reply(device: number, message: Buffer): void {
  const operation = message.readUInt32LE(4);
  if (unanswered.includes(operation)) return;
  const node = Number(message.readBigUInt64LE(16));
  const result = answer(operation, node, message.subarray(40));
  const [error, body] = typeof result === "number" ? [-result, Buffer.alloc(0)] : [0, result];
  const head = Buffer.alloc(16);
  head.writeUInt32LE(16 + body.length, 0);
  head.writeInt32LE(error, 4);
  message.copy(head, 8, 8, 16);
  writeSync(device, Buffer.concat([head, body]));
}

function mount(device: number, target: string): void {
  const { dlopen } = createRequire(import.meta.url)("bun:ffi") as {
    dlopen(library: string, symbols: object): { symbols: { mount(...words: unknown[]): number } };
  };
  const { symbols } = dlopen("libc.so.6", {
    mount: { args: ["ptr", "ptr", "ptr", "u64", "ptr"], returns: "i32" },
  });
  const text = (word: string) => Buffer.from(`${word}\0`);
  const options = `fd=${device},rootmode=40000,user_id=0,group_id=0,allow_other`;
  if (symbols.mount(text("folding"), text(target), text("fuse"), 0, text(options)) !== 0)
    throw new Error("mount(2) of a fuse file system is refused");
}

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("usage: file-system.ts MOUNTPOINT");
const device = openSync("/dev/fuse", "r+");
mount(device, target);
process.stdin.resume().on("end", () => process.exit());
process.stdout.write("mounted\n");
const readInBackground = promisify(read);
const buffer = Buffer.alloc(1024 * 1024);
for (;;) {
  const { bytesRead } = await readInBackground(device, buffer, 0, buffer.length, null);
  reply(device, buffer.subarray(0, bytesRead));
}
