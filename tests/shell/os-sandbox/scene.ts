/** The files and processes around commands that try to escape. */
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import type { ShellFixture } from "../shell-fixture.ts";

/** The files and processes that one attempt targets. */
export interface Scene {
  /** Returns a path in a new folder below the root, with a file `there`. */
  inside(name: string): string;
  /** Returns a path in a folder beside the root, with a file `there`. */
  outside(name: string): string;
  /** The path of a folder that every user can enter. */
  readonly shared: string;
  /** The path of a file in /dev, where disks are too. */
  readonly besideDevices: string;
  /** The path of a denied file in the root. `secretLink` is a hard link to it made before. */
  readonly secret: string;
  readonly secretLink: string;
  readonly target: { readonly id: number; readonly tcp: number; readonly udp: number };
  readonly socket: string;
  /** The path of a socket for datagrams. */
  readonly datagrams: string;
  readonly abstractName: string;
}

/** Whether the worker has control groups for its commands, according to its log. */
export const hasGroups = ({ worker }: ShellFixture): boolean =>
  /"os sandbox".*"cgroups":true/.test(worker.stderr());

/** Whether /proc shows commands only their own processes, according to the log of the worker. */
export const hidesProcesses = ({ worker }: ShellFixture): boolean =>
  /"os sandbox".*"hides_processes":true/.test(worker.stderr());

/** Makes the files, and starts the target program. */
export async function openScene(served: ShellFixture) {
  const kept = join(served.folder, "kept");
  const outside = join(dirname(served.folder), "outside");
  mkdirSync(kept);
  mkdirSync(outside);
  for (const folder of [kept, outside]) writeFileSync(join(folder, "secret.txt"), "secret\n");
  const shared = mkdtempSync(join(tmpdir(), "coder-"));
  chmodSync(shared, 0o755);
  const memory = mkdtempSync("/dev/shm/coder-");
  const besideDevices = join(memory, "secret.txt");
  writeFileSync(besideDevices, "secret\n");
  const secret = join(kept, "secret.txt");
  const secretLink = join(served.folder, "other-name.txt");
  linkSync(secret, secretLink);
  const socket = join(served.folder, "socket");
  const datagrams = join(served.folder, "datagrams");
  const abstractName = `coder-${process.pid}-${served.engine.url.slice(-5)}`;
  const args = [join(import.meta.dir, "target.ts"), secret, socket, datagrams, abstractName];
  const target = execa(process.execPath, args, { reject: false });
  const line = await new Promise<string>((resolve) =>
    target.stdout.once("data", (data) => resolve(`${data}`)),
  );
  const newScene = (): Scene => {
    const folder = mkdtempSync(join(served.folder, "case-"));
    const beside = mkdtempSync(join(outside, "case-"));
    writeFileSync(join(beside, "there"), "there\n");
    writeFileSync(join(folder, "there"), "there\n");
    return {
      inside: (name) => join(folder, name),
      outside: (name) => join(beside, name),
      shared,
      besideDevices,
      secret,
      secretLink,
      target: { id: target.pid!, ...JSON.parse(line) },
      socket,
      datagrams,
      abstractName,
    };
  };
  const close = () => {
    target.kill("SIGKILL");
    for (const folder of [shared, memory]) rmSync(folder, { recursive: true });
  };
  return { newScene, close };
}
