import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

const block = 512;

/**
 * A gzipped tar archive of one executable file. It says nothing of when, where and by whom it was made: equal
 * contents give equal bytes, as long as the same zlib compresses.
 */
export function packExecutable(name: string, contents: Buffer): Buffer {
  const padding = Buffer.alloc((block - (contents.length % block)) % block);
  const end = Buffer.alloc(2 * block);
  const packed = gzipSync(Buffer.concat([tarHeader(name, contents.length), contents, padding, end]), {
    level: 9,
  });
  packed.writeUInt32LE(0, 4); // RFC 1952: no time
  packed[9] = 255; // and no system
  return packed;
}

/** The header of a regular file that anybody may run (POSIX.1-2017, pax, ustar interchange format). */
function tarHeader(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, "0"), at, "ascii");
  header.write(name, 0, 100);
  octal(0o755, 100, 7);
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

/** A line that `sha256sum -c` understands. */
export const renderChecksum = (digest: string, file: string): string => `${digest}  ${file}\n`;
