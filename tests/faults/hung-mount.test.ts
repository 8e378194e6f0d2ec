/**
 * A file system that does not answer, like a hung sshfs, NFS or bucket mount: FUSE without a server, mounted
 * by root.
 */
import { dlopen } from "bun:ffi";
import { expect } from "bun:test";
import { closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { startWorker } from "../harness/worker-fixture.ts";
import { isRoot, testUnless } from "./machine.ts";

const mountSignatures = {
  mount: { args: ["ptr", "ptr", "ptr", "u64", "ptr"], returns: "i32" },
  umount2: { args: ["ptr", "i32"], returns: "i32" },
} as const;

const detach = 2;

const text = (value: string) => Buffer.from(`${value}\0`);

/** Mounts such a file system at `path`. Returns a function that unmounts it. */
function mountHung(path: string): () => void {
  const { symbols } = dlopen("libc.so.6", mountSignatures);
  const device = openSync("/dev/fuse", constants.O_RDWR);
  const options = `fd=${device},rootmode=40000,user_id=0,group_id=0`;
  const status = symbols.mount(text("hung"), text(path), text("fuse"), 0, text(options));
  if (status !== 0) throw new Error("mount(2) failed");
  return () => {
    symbols.umount2(text(path), detach);
    closeSync(device);
  };
}

const reason = isRoot && existsSync("/dev/fuse") ? undefined : "FUSE can only be mounted by root here";

testUnless(reason, "a worker that meets it ends with code 70 and says where", async () => {
  const served = await startWorker("executable", { call_timeout_ms: 100 });
  mkdirSync(join(served.base, "net"));
  const unmount = mountHung(join(served.base, "net"));
  try {
    void served.call("coder::list-folder", { path: "net" });
    expect(await served.worker.exited).toBe(70);
    const lines = served.worker.stderr().trim().split("\n");
    const line = { level: "error", function: "coder::list-folder", path: "net" };
    expect(JSON.parse(lines.at(-1)!)).toMatchObject(line);
  } finally {
    unmount();
    await served.stop();
  }
});
