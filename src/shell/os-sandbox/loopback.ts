/**
 * A network for the commands of one worker (network_namespaces(7)), whose only interface is loopback. On
 * 127.0.0.1 and ::1 these commands reach one another, and no other program reaches them.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { requireNoShortage, ShortageError, shortageIn } from "../../base/shortage.ts";
import type { RequiredCall } from "./encoded-calls.ts";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import {
  buildProgram,
  firstInherited,
  type NamespaceKind,
  statusDescriptor,
  writablePage,
} from "./launcher.ts";
import { currentUser, enterUserNamespace, type User } from "./mounts.ts";
import type { Architecture } from "./syscalls.ts";

export interface Loopback {
  /** The namespaces to enter, in this order, and their descriptors. */
  readonly kinds: readonly NamespaceKind[];
  readonly descriptors: readonly number[];
  close(): void;
}

/** Constants of unshare(2), socket(2) and netdevice(7). */
const newNetwork = 0x40000000;
const internet = 2;
const datagram = 2;
const setInterfaceFlags = 0x8914;
const isUp = 1;

/** The length of a `struct ifreq`, and the offset of its flags. */
const requestBytes = 40;
const flagsAt = 16;

/**
 * Makes such a network. Returns `undefined` if the system does not permit this user to, and throws a
 * `ShortageError` if too little is left to find out. A process makes it, and ends once the worker holds
 * descriptors of the namespaces.
 */
export function openLoopback(kernel: Kernel, architecture: Architecture): Loopback | undefined {
  const user = currentUser();
  const kinds: readonly NamespaceKind[] = user.uid === 0 ? ["network"] : ["user", "network"];
  const image = runAtOnce(makeImage(kernel, buildProgram(architecture, makerCalls(user))));
  const status = kernel.makePipe();
  if (status === undefined) return undefined;
  const descriptors: number[] = [];
  const maker = spawn(`/proc/self/fd/${image}`, {
    cwd: "/",
    env: {},
    // The launcher expects some descriptor as 3.
    stdio: ["pipe", "ignore", "ignore", image, status.writeEnd],
  });
  maker.on("error", () => {});
  try {
    closeSync(status.writeEnd);
    if (maker.pid === undefined) throw new ShortageError("EAGAIN");
    const report = Buffer.alloc(reportBytes);
    const length = readSync(status.readEnd, report);
    if (length === reportBytes) requireNoShortage(Number(report.readBigInt64LE(8)));
    if (length !== ready.length) return undefined;
    for (const kind of kinds)
      descriptors.push(openSync(`/proc/${maker.pid}/ns/${kind === "user" ? "user" : "net"}`, "r"));
    return { kinds, descriptors, close: () => closeAll(descriptors) };
  } catch (error) {
    closeAll(descriptors);
    if (shortageIn(error) !== undefined) throw error;
    return undefined;
  } finally {
    closeSync(status.readEnd);
    closeSync(image);
    maker.kill("SIGKILL");
    maker.unref();
  }
}

function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor);
}

/** The text that reports that the network exists. A failure is reported in `reportBytes` bytes. */
const ready = "1";
const reportBytes = 16;

const makerCalls = (user: User): RequiredCall[] => [
  ...(user.uid === 0
    ? ([["unshare", newNetwork]] satisfies RequiredCall[])
    : enterUserNamespace(user, { free: firstInherited, also: newNetwork })),
  ["socket", internet, datagram, 0],
  ["ioctl", firstInherited, setInterfaceFlags, bringUp("lo")],
  ["write", statusDescriptor, ready, ready.length],
  // Waits until it is killed, or the worker has ended.
  ["read", 0, writablePage, 1],
  ["exit_group", 0],
];

/** Returns a `struct ifreq` that brings the interface up. */
function bringUp(name: string): Buffer {
  const bytes = Buffer.alloc(requestBytes);
  bytes.write(name, "latin1");
  bytes.writeUInt16LE(isUp, flagsAt);
  return bytes;
}
