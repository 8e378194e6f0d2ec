import { createHash } from "node:crypto";
import { constants, crc32, deflateRawSync } from "node:zlib";

const block = 512;

/** A gzip header (RFC 1952): deflated, without name and time, best compression, unknown system. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);

/** A file that goes with the executable. */
export interface Sidecar {
  readonly name: string;
  readonly contents: Buffer;
}

/**
 * Returns a gzipped tar archive for each of `names`, with the executable file under that name and a text
 * beside it. An archive does not record when, where and by whom it was made: equal contents give equal bytes,
 * as long as the same libdeflate compresses them.
 */
export function packExecutable(
  names: readonly string[],
  contents: Buffer,
  { name: beside, contents: text }: Sidecar,
): Buffer[] {
  const header = tarHeader(beside, { bytes: text.length, mode: 0o644 });
  const body = Buffer.concat([padded(contents), header, padded(text), Buffer.alloc(2 * block)]);
  // The long part is compressed once for all: deflated data may be joined from parts that each end at a byte
  // (RFC 1951).
  const deflated = Bun.deflateSync(body, { library: "libdeflate", level: 10 });
  return names.map((name) => {
    const header = tarHeader(name, { bytes: contents.length, mode: 0o755 });
    const start = deflateRawSync(header, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(body, crc32(header)), 0);
    trailer.writeUInt32LE(header.length + body.length, 4);
    return Buffer.concat([gzipHeader, start, deflated, trailer]);
  });
}

/** A file of a package. */
export interface PackedFile {
  /** The path in the archive. */
  readonly name: string;
  readonly contents: Buffer;
  readonly isExecutable?: boolean;
}

/** Returns a gzipped tar archive of `files`, which depends on nothing but them. */
export function packFiles(files: readonly PackedFile[]): Buffer {
  const parts = files.flatMap(({ name, contents, isExecutable }) => [
    tarHeader(name, { bytes: contents.length, mode: isExecutable ? 0o755 : 0o644 }),
    padded(contents),
  ]);
  const tar = Buffer.concat([...parts, Buffer.alloc(2 * block)]);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(tar), 0);
  trailer.writeUInt32LE(tar.length, 4);
  return Buffer.concat([gzipHeader, Bun.deflateSync(tar, { library: "libdeflate", level: 10 }), trailer]);
}

const padded = (contents: Buffer): Buffer =>
  Buffer.concat([contents], Math.ceil(contents.length / block) * block);

/** Returns the header of a regular file (POSIX.1-2017, pax, ustar interchange format). */
function tarHeader(name: string, { bytes, mode }: { bytes: number; mode: number }): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, "0"), at, "ascii");
  header.write(name, 0, 100);
  octal(mode, 100, 7);
  octal(0, 108, 7); // user
  octal(0, 116, 7); // group
  octal(bytes, 124, 11);
  octal(0, 136, 11); // time
  header.write(" ".repeat(8), 148); // the sum is taken over spaces
  header.write("0", 156); // a regular file
  header.write("ustar\x0000", 257, "latin1");
  octal(
    header.reduce((sum, byte) => sum + byte),
    148,
    6,
  );
  header[154] = 0;
  return header;
}

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Returns a line that `sha256sum -c` understands. */
export const renderChecksum = (digest: string, file: string): string => `${digest}  ${file}\n`;
