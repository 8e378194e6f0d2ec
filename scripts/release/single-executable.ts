/**
 * A single-executable application of Node: its executable with a blob that it finds in itself at start. Both
 * the blob and its place are made here, byte by byte, because Node does not read a blob made by a Node of
 * another word size. Nothing has to run on the target.
 */

const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const blobName = "NODE_SEA_BLOB";

/**
 * Constants of Node's src/node_sea.cc, version 20.11: the magic number of the blob, and the flag against the
 * warning about an experiment.
 */
const blobMagic = 0x0143da20;
const withoutWarning = 1;

/** Returns the blob that makes a 32-bit Node 20.11 run `code` (CommonJS). `name` is for stack traces. */
export function makeBlob(name: string, code: Buffer): Buffer {
  const text = (bytes: Buffer) => [u32(bytes.length), bytes];
  return Buffer.concat([u32(blobMagic), u32(withoutWarning), ...text(Buffer.from(name)), ...text(code)]);
}

/** The offsets of the fields of a 32-bit ELF file (elf(5), Elf32_Ehdr and Elf32_Phdr). */
const header = {
  programHeaders: 28,
  sections: 32,
  programHeaderSize: 42,
  programHeaderCount: 44,
  sectionFields: 46,
};
const program = { type: 0, offset: 4, address: 8, physical: 12, fileSize: 16, memorySize: 20 };
const loaded = 1;
const notes = 4;

/**
 * Returns `node`, a 32-bit little-endian ELF executable, with `blob` in it. The last loaded segment is
 * extended by a note with the blob, and the header for notes then points there. The rest of the file after
 * the segments (symbols, sections, debugging data) is left out.
 */
export function injectBlob(node: Buffer, blob: Buffer): Buffer {
  if (node.readUInt32BE(0) !== 0x7f454c46 || node[4] !== 1 || node[5] !== 1)
    throw new Error("not a 32-bit little-endian ELF executable");
  const headers = programHeaders(node);
  const last = headers.filter((at) => node.readUInt32LE(at + program.type) === loaded).at(-1);
  const note = headers.find((at) => node.readUInt32LE(at + program.type) === notes);
  if (last === undefined || note === undefined) throw new Error("no loaded segment, or no notes");
  const field = (at: number, name: keyof typeof program) => node.readUInt32LE(at + program[name]);

  const start = field(last, "offset");
  const noteStart = roundUp(field(last, "memorySize"));
  const oldNotes = node.subarray(field(note, "offset"), field(note, "offset") + field(note, "fileSize"));
  const newNotes = Buffer.concat([oldNotes, makeNote(blobName, blob)]);
  const made = Buffer.alloc(start + noteStart + newNotes.length);
  node.copy(made, 0, 0, start + field(last, "fileSize")); // then zeros, as the system would have put there
  newNotes.copy(made, start + noteStart);

  const set = (at: number, fields: Partial<Record<keyof typeof program, number>>) => {
    for (const [name, value] of Object.entries(fields))
      made.writeUInt32LE(value, at + program[name as keyof typeof program]);
  };
  const address = field(last, "address") + noteStart;
  const size = noteStart + newNotes.length;
  set(last, { fileSize: size, memorySize: size });
  set(note, {
    offset: start + noteStart,
    address,
    physical: address,
    fileSize: newNotes.length,
    memorySize: newNotes.length,
  });
  made.writeUInt32LE(0, header.sections);
  made.fill(0, header.sectionFields, header.sectionFields + 6);
  return lightFuse(made);
}

function programHeaders(elf: Buffer): number[] {
  const size = elf.readUInt16LE(header.programHeaderSize);
  const first = elf.readUInt32LE(header.programHeaders);
  return Array.from(
    { length: elf.readUInt16LE(header.programHeaderCount) },
    (_, index) => first + index * size,
  );
}

/** Returns a note (elf(5), Elf32_Nhdr): three sizes, its name and its contents, each padded to words. */
function makeNote(name: string, contents: Buffer): Buffer {
  const terminated = Buffer.from(`${name}\0`);
  return Buffer.concat([
    u32(terminated.length),
    u32(contents.length),
    u32(0),
    ...[terminated, contents].map((part) => Buffer.concat([part], roundUp(part.length))),
  ]);
}

/** Sets the digit after the fuse. Node searches for a blob if it is not 0. */
function lightFuse(executable: Buffer): Buffer {
  const digit = executable.indexOf(`${fuse}:0`) + fuse.length + 1;
  if (digit <= fuse.length) throw new Error("this Node takes no blob: its fuse is missing, or lit");
  executable.write("1", digit);
  return executable;
}

const roundUp = (bytes: number) => Math.ceil(bytes / 4) * 4;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
