import { afterAll, expect, test } from "bun:test";
import { closeSync, fchmodSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyMetadata, type Owner } from "./metadata.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const descriptor = openSync(join(folder, "f"), "w+");
afterAll(() => {
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});

const { uid, gid } = fstatSync(descriptor);
const refused = 2 ** 32;

test.each<[string, Owner | undefined, mode: number]>([
  ["its own", { uid, gid }, 0o6751],
  ["unknown", undefined, 0o751],
  ["another user whom the system refuses", { uid: refused, gid }, 0o751],
  ["another group that the system refuses", { uid, gid: refused }, 0o711],
])("set-id bits of a file whose owner is %s", (_, owner, mode) => {
  fchmodSync(descriptor, 0o600);
  const ours = fstatSync(descriptor, { bigint: true });
  applyMetadata(descriptor, ours, { mode: 0o6751, owner });
  expect(fstatSync(descriptor).mode & 0o7777).toBe(mode);
});
