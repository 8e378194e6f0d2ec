/**
 * `npm run suite -- disk-quota`: makes calls that exceed a disk quota (EDQUOT) on a new Btrfs. Each must be
 * refused with that reason and leave the tree unchanged. Needs root, a loop device and btrfs-progs.
 */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";

/** Text that does not compress, and that is larger than the quota. */
const large = Array.from({ length: 1_200_000 }, (_, index) =>
  (Math.imul(index, 0x9e3779b1) >>> 0).toString(36).padStart(8, "x"),
).join("");

const calls: readonly (readonly [id: string, payload: object])[] = [
  ["coder::create-file", { files: [{ path: "large", content: large }] }],
  ["coder::create-file", { files: [{ path: "small.txt", content: large, overwrite: true }] }],
  [
    "coder::update-file",
    { files: [{ path: "small.txt", ops: [{ op: "insert", at_line: 1, content: large }] }] },
  ],
  [
    "coder::transact",
    {
      changes: [
        { op: "delete", path: "small.txt" },
        { op: "create", path: "large", content: large },
      ],
    },
  ],
  [
    "coder::apply-patch",
    { patch: `*** Begin Patch\n*** Add File: a\n+x\n*** Add File: b\n+${large}\n*** End Patch\n` },
  ],
];

const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });
const folder = mkdtempSync(join(tmpdir(), "coder-"));
const [image, mounted] = [join(folder, "image"), join(folder, "mounted")];
const base = join(mounted, "base");
const treeOf = (): string =>
  readdirSync(base)
    .sort()
    .map((name) => `${name} ${readFileSync(join(base, name), "utf8")}`)
    .join("\n");

writeFileSync(image, "");
truncateSync(image, 1024 ** 3);
mkdirSync(mounted);
execFileSync("mkfs.btrfs", ["-q", image], { stdio: "ignore" });
execFileSync("mount", ["-o", "loop", image, mounted]);
let wrong = 0;
try {
  execFileSync("btrfs", ["quota", "enable", mounted]);
  execFileSync("btrfs", ["-q", "subvolume", "create", base]);
  execFileSync("btrfs", ["qgroup", "limit", "8M", base]);
  writeFileSync(join(base, "small.txt"), "small\n");
  const before = treeOf();
  const keys = { base_path: base, profile: "agent", index: "off" };
  const runtime = await openCoder(
    loadConfig({ config: { source: "test", keys }, basePath: undefined, environment: {} }),
    { environment: { XDG_STATE_HOME: join(mounted, "state") } },
  );
  const invoke = createInvoke(runtime, log);
  for (const [id, payload] of calls) {
    const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
    const isRefused = JSON.stringify(outcome).includes("EDQUOT");
    const isKept = treeOf() === before;
    if (!isRefused || !isKept) wrong++;
    console.log(`${isRefused && isKept ? "passed" : "failed"}: ${id}`);
  }
  await runtime.close();
} finally {
  execFileSync("umount", [mounted]);
  rmSync(folder, { recursive: true });
}
process.exit(wrong);
