import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { packExecutable, renderChecksum, sha256 } from "./archive.ts";
import { run } from "./packages.ts";

const notices = { name: "NOTICES.txt", contents: Buffer.from("MIT\n") };
const pack = (contents: Buffer) => packExecutable(["coder"], contents, notices)[0] as Buffer;

/** Packs `contents` into a folder of its own, which is removed after `look`. */
function inFolder(contents: Buffer, look: (folder: string, archive: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  const archive = join(folder, "coder.tar.gz");
  writeFileSync(archive, pack(contents));
  try {
    look(folder, archive);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([0, 1, 511, 512, 513, 100_000])("tar finds an executable of %d bytes, and the notices", (bytes) => {
  inFolder(Buffer.alloc(bytes, "#"), (_, archive) => {
    const listing = run([
      "tar",
      "--list",
      "--verbose",
      "--gzip",
      "--numeric-owner",
      "--utc",
      "--file",
      archive,
    ]);
    expect(listing.replace(/ +/g, " ")).toBe(
      `-rwxr-xr-x 0/0 ${bytes} 1970-01-01 00:00 coder\n-rw-r--r-- 0/0 4 1970-01-01 00:00 NOTICES.txt\n`,
    );
  });
});

test("what tar unpacks runs", () => {
  inFolder(Buffer.from("#!/bin/sh\necho here\n"), (folder, archive) => {
    run(["tar", "-xzf", archive, "-C", folder]);
    expect(run([join(folder, "coder")])).toBe("here\n");
    expect(run(["cat", join(folder, "NOTICES.txt")])).toBe("MIT\n");
  });
});

test("each name has an archive of the same contents, and other programs than tar see one whole member", () => {
  const contents = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * index) % 251));
  const archives = packExecutable(["coder", "shell"], contents, notices).map((archive) =>
    gunzipSync(archive),
  );
  expect(archives.map((tar) => tar.toString("latin1", 0, 5))).toEqual(["coder", "shell"]);
  for (const tar of archives) {
    expect(tar.length).toBe(512 + 3072 + 1024 + 1024);
    expect(tar.subarray(512, 3512)).toEqual(contents);
  }
});

test("the archive says nothing of when and where it was made", () => {
  expect(pack(Buffer.from("x")).subarray(3, 10)).toEqual(Buffer.from([0, 0, 0, 0, 0, 2, 255]));
});

test("sha256sum accepts the checksum", () => {
  inFolder(Buffer.from("x"), (folder) => {
    const digest = sha256(pack(Buffer.from("x")));
    writeFileSync(join(folder, "coder.sha256"), renderChecksum(digest, "coder.tar.gz"));
    expect(run(["sha256sum", "--check", "--strict", "coder.sha256"], folder)).toBe("coder.tar.gz: OK\n");
  });
});
