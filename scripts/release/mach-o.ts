/**
 * The code signature of a Mach-O executable. The kernel of macOS ends a program whose pages do not have the
 * hashes in its signature. Bun signs executables that it compiles for Apple silicon. In those for Intel it
 * leaves the runtime's own signature, which is no longer valid.
 *
 * Sources: mach-o/loader.h and osfmk/kern/cs_blobs.h of Apple's XNU.
 */
import { createHash } from "node:crypto";

const magic64 = 0xfeedfacf;
const arm64 = 0x0100000c;
const superBlob = 0xfade0cc0;
const codeDirectory = 0xfade0c02;
const adHoc = 0x2;
const hashBytes = 32;
/** The binary logarithm of the page size. Each page has one hash. */
const pageBits = 12;
const loadSegment = 0x19;
const loadSignature = 0x1d;

/** The fields of a signature in the load commands, and their offsets in the file. */
interface Layout {
  /** The offsets of the load commands for the signature and for the segment that contains it. */
  readonly signatureCommand: number;
  readonly linkEdit: number;
  /** The offset of the load command for the segment of code. */
  readonly text: number;
  /** The offset of the signature, where the bytes that it covers end. */
  readonly signature: number;
  readonly signatureBytes: number;
}

/**
 * Returns the kind and the offset of each load command of a 64-bit Mach-O file. Throws for any other file.
 */
export function loadCommands(file: Buffer): { readonly kind: number; readonly at: number }[] {
  if (file.length < 32 || file.readUInt32LE(0) !== magic64) throw new Error("not a 64-bit Mach-O file");
  let next = 32;
  return Array.from({ length: file.readUInt32LE(16) }, () => {
    const at = next;
    next += file.readUInt32LE(at + 4);
    return { kind: file.readUInt32LE(at), at };
  });
}

function parseLayout(file: Buffer): Layout {
  const found = new Map<string, number>();
  for (const { kind, at } of loadCommands(file)) {
    if (kind === loadSignature) found.set("signature", at);
    if (kind === loadSegment) found.set(textAt(file, at + 8, at + 24), at);
  }
  const [signatureCommand, linkEdit, text] = ["signature", "__LINKEDIT", "__TEXT"].map((name) =>
    found.get(name),
  );
  if (signatureCommand === undefined || linkEdit === undefined || text === undefined)
    throw new Error("no place for a signature");
  return {
    signatureCommand,
    linkEdit,
    text,
    signature: file.readUInt32LE(signatureCommand + 8),
    signatureBytes: file.readUInt32LE(signatureCommand + 12),
  };
}

/** The claims of a signature, and how many of them hold. */
export interface Signature {
  readonly identifier: string;
  readonly isAdHoc: boolean;
  /** The bytes at the start of the file that it covers. They should be all before the signature. */
  readonly covers: number;
  readonly startsAt: number;
  /** Whether the file ends where the signature does. */
  readonly endsFile: boolean;
  readonly pages: number;
  /** The number of pages whose bytes do not have the hash in the signature. */
  readonly brokenPages: number;
}

/** Reads the signature of a 64-bit Mach-O file. Throws if it has none that can be read. */
export function readSignature(file: Buffer): Signature {
  const { signature, signatureBytes } = parseLayout(file);
  const directory = findDirectory(file, signature);
  const field = (offset: number) => file.readUInt32BE(directory + offset);
  const [hashes, identifier, pages, covers] = [field(16), field(20), field(28), field(32)];
  if (file[directory + 36] !== hashBytes || file[directory + 37] !== 2)
    throw new Error("its hashes are not SHA-256");
  const pageBytes = 2 ** (file[directory + 39] ?? 0);
  const said = Array.from({ length: pages }, (_, page) => directory + hashes + page * hashBytes);
  const actual = hashPages(file.subarray(0, covers), pageBytes);
  return {
    identifier: textAt(file, directory + identifier),
    isAdHoc: (field(12) & adHoc) !== 0,
    covers,
    startsAt: signature,
    endsFile: signature + signatureBytes === file.length,
    pages,
    brokenPages: said.filter((at, page) => !actual[page]?.equals(file.subarray(at, at + hashBytes))).length,
  };
}

function findDirectory(file: Buffer, signature: number): number {
  if (file.readUInt32BE(signature) !== superBlob) throw new Error("what should be its signature is none");
  for (let index = 0; index < file.readUInt32BE(signature + 8); index++) {
    const at = signature + file.readUInt32BE(signature + 16 + 8 * index);
    if (file.readUInt32BE(at) === codeDirectory) return at;
  }
  throw new Error("its signature lists no hashes");
}

/** Returns the fault of the signature of a file, or `undefined` if the kernel of macOS would accept it. */
export function faultOfSignature({
  covers,
  startsAt,
  endsFile,
  pages,
  brokenPages,
}: Signature): string | undefined {
  if (brokenPages > 0) return `${brokenPages} of ${pages} pages are not the signed ones`;
  if (covers !== startsAt) return `it covers ${covers} of ${startsAt} bytes`;
  if (!endsFile) return "the file does not end with it";
  return undefined;
}

/** Returns `file` with an ad-hoc signature (hashes only, without a signer) instead of its own. */
export function signAdHoc(file: Buffer, identifier: string): Buffer {
  const { signatureCommand, linkEdit, text, signature } = parseLayout(file);
  const pages = Math.ceil(signature / 2 ** pageBits);
  const name = Buffer.from(`${identifier}\0`);
  const head = directoryHead(name.length, { pages, covers: signature });
  file.copy(head, 64, text + 40, text + 56);
  head.subarray(64, 80).swap64(); // where the code is: in this file's byte order there, in network order here
  const bytes = 20 + head.length + name.length + pages * hashBytes;
  const room = Math.ceil(bytes / 16) * 16;

  const made = Buffer.concat([file.subarray(0, signature)], signature + room);
  // The load commands are in a page that is hashed.
  const pageOfMemory = made.readUInt32LE(4) === arm64 ? 2 ** 14 : 2 ** 12;
  const linkEditBytes = signature + room - Number(made.readBigUInt64LE(linkEdit + 40));
  made.writeUInt32LE(room, signatureCommand + 12);
  made.writeBigUInt64LE(BigInt(linkEditBytes), linkEdit + 48);
  made.writeBigUInt64LE(BigInt(Math.ceil(linkEditBytes / pageOfMemory) * pageOfMemory), linkEdit + 32);
  const hashes = hashPages(made.subarray(0, signature), 2 ** pageBits);
  Buffer.concat([words(superBlob, bytes, 1, 0, 20), head, name, ...hashes]).copy(made, signature);
  return made;
}

/**
 * Returns a code directory of version 0x20400 up to its identifier, with a gap for the location of the code.
 */
function directoryHead(nameBytes: number, { pages, covers }: { pages: number; covers: number }): Buffer {
  const size = 88;
  const hashes = size + nameBytes;
  const mainProgram = 1;
  return Buffer.concat([
    words(codeDirectory, hashes + pages * hashBytes, 0x20400, adHoc, hashes, size, 0, pages, covers),
    Buffer.from([hashBytes, 2, 0, pageBits]),
    words(0, 0, 0, 0, 0, 0), // scatter, team and the limit for large files
    words(0, 0, 0, 0), // where the code is
    words(0, mainProgram),
  ]);
}

function hashPages(bytes: Buffer, pageBytes: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / pageBytes) }, (_, page) =>
    createHash("sha256")
      .update(bytes.subarray(page * pageBytes, (page + 1) * pageBytes))
      .digest(),
  );
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** Returns the text up to a zero byte, or up to `end`. */
function textAt(file: Buffer, start: number, end = file.length): string {
  const zero = file.indexOf(0, start);
  return file.toString("latin1", start, zero < 0 ? end : Math.min(zero, end));
}
