import { crc32, deflateRawSync } from "node:zlib";
import type { PackedFile } from "./archive.ts";

/** The time of every file, 1 January 1980, the first that the format has. */
const time = { clock: 0, date: (1 << 5) | 1 };

/**
 * Returns the bytes of a header, in the order of the format (APPNOTE 6.3.3): two or four bytes each,
 * little-endian.
 */
function fields(...values: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const buffer = Buffer.alloc(values.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of values) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}

/** Returns a zip archive of `files`, which depends on nothing but them. */
export function zipFiles(files: readonly PackedFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, contents, isExecutable } of files) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(contents, { level: 9 });
    const common = fields(
      [2, 20], // version needed
      [2, 0x0800], // names in UTF-8
      [2, 8], // deflated
      [2, time.clock],
      [2, time.date],
      [4, crc32(contents)],
      [4, packed.length],
      [4, contents.length],
      [2, path.length],
      [2, 0], // extra field
    );
    const local = Buffer.concat([fields([4, 0x04034b50]), common, path, packed]);
    const mode = 0o100000 | (isExecutable ? 0o755 : 0o644);
    directory.push(
      fields([4, 0x02014b50], [2, (3 << 8) | 20]), // made on Unix, which sets modes
      common,
      fields([2, 0], [2, 0], [2, 0], [2, 0], [2, mode], [4, offset]),
      path,
    );
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = fields(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
    [4, central.length],
    [4, offset],
    [2, 0],
  );
  return Buffer.concat([...parts, central, end]);
}
