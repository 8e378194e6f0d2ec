/**
 * The program that tries the sandbox of commands: `bun attempts.ts NAME ARGUMENTS…` makes one attempt. It
 * prints "got through" if that succeeded, and otherwise "stopped: " with the reason.
 */
import { dlopen } from "bun:ffi";
import { spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import * as fs from "node:fs";
import * as net from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const { symbols: libc } = dlopen("libc.so.6", {
  kill: { args: ["i32", "i32"], returns: "i32" },
  ptrace: { args: ["i64", "i32", "i64", "i64"], returns: "i64" },
  ioctl: { args: ["i32", "u64", "buffer"], returns: "i32" },
  prlimit: { args: ["i32", "i32", "ptr", "buffer"], returns: "i32" },
  sched_getaffinity: { args: ["i32", "u64", "buffer"], returns: "i32" },
  sched_setaffinity: { args: ["i32", "u64", "buffer"], returns: "i32" },
  recv: { args: ["i32", "buffer", "u64", "i32"], returns: "i64" },
  sendto: { args: ["i32", "buffer", "u64", "i32", "buffer", "i32"], returns: "i64" },
  setpriority: { args: ["i32", "i32", "i32"], returns: "i32" },
  setuid: { args: ["i32"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  socketpair: { args: ["i32", "i32", "i32", "buffer"], returns: "i32" },
  connect: { args: ["i32", "buffer", "i32"], returns: "i32" },
});

/** Throws if a call of the C library has failed. */
function must(result: number | bigint): void {
  if (Number(result) < 0) throw new Error("refused");
}

function require(condition: boolean): void {
  if (!condition) throw new Error("refused");
}

/** Returns a `struct sockaddr_un`. A name that begins with NUL is abstract (unix(7)). */
function unixAddress(name: string): Buffer {
  const bytes = Buffer.alloc(2 + name.length + (name.startsWith("\0") ? 0 : 1));
  bytes.writeUInt16LE(1, 0);
  bytes.write(name, 2, "latin1");
  return bytes;
}

/** Connects a socket (AF_UNIX, SOCK_STREAM). */
function connectUnix(name: string): void {
  const socket = libc.socket(1, 1, 0);
  must(socket);
  const address = unixAddress(name);
  must(libc.connect(socket, address, address.length));
}

/** All types of socket(2). The kernel can make pairs in AF_UNIX of some of them. */
const socketTypes = Array.from({ length: 16 }, (_, type) => type);

/** MSG_DONTWAIT of recv(2). */
const atOnce = 0x40;

/**
 * Sends a datagram from a socket of a pair to this path. Returns false if the other socket of the pair gets
 * it.
 */
function sendFromPair(path: string): boolean {
  const address = unixAddress(path);
  return socketTypes.some((type) => {
    const pair = new Int32Array(2);
    if (libc.socketpair(1, type, 0, pair) < 0) return false;
    const sent = libc.sendto(pair[0]!, Buffer.from("secret"), 6, 0, address, address.length);
    return Number(sent) === 6 && Number(libc.recv(pair[1]!, Buffer.alloc(6), 6, atOnce)) < 0;
  });
}

/** FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of ioctl(2). */
const getFlags = 0x80086601;
const setFlags = 0x40086602;

/** Creates `name` in a folder of Btrfs by a request that takes a descriptor and a name. */
function callBtrfs(request: number, folder: string, name: string): void {
  const opened = fs.openSync(folder, "r");
  const values = Buffer.alloc(4096);
  values.writeBigInt64LE(BigInt(opened), 0);
  values.write(name, request === 0x50009417 ? 56 : 8);
  must(libc.ioctl(opened, request, values));
  require(fs.existsSync(join(folder, name)));
}

function readSecret(path: string | undefined): void {
  require(fs.readFileSync(path!, "utf8").includes("secret"));
}

function tryRead(path: string): string {
  try {
    return fs.statSync(path).isFile() ? fs.readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

/** Gives up the rights of root, who has other limits. */
function becomeNobody(): void {
  if (process.getuid?.() === 0) must(libc.setuid(65534));
}

async function startMany(count: number): Promise<void> {
  const children = Array.from({ length: count }, () => spawn("/bin/sleep", ["100"]));
  const started = children.filter(({ pid }) => pid !== undefined);
  for (const child of children) child.on("error", () => {});
  for (const child of started) child.kill("SIGKILL");
  require(started.length === children.length);
}

/** The attempts by name. Each throws if it is stopped, or is killed. */
const attempts: Readonly<Record<string, (...args: string[]) => unknown>> = {
  create: (path) => fs.writeFileSync(path!, "made"),
  append: (path) => fs.appendFileSync(path!, "more"),
  truncate: (path) => fs.truncateSync(path!, 0),
  remove: (path) => fs.unlinkSync(path!),
  mkdir: (path) => fs.mkdirSync(path!),
  rename: (from, to) => fs.renameSync(from!, to!),
  "append-by-link": (path, link) => {
    fs.symlinkSync(path!, link!);
    fs.appendFileSync(link!, "more");
  },
  "append-by-hard-link": (path, link) => {
    fs.linkSync(path!, link!);
    fs.appendFileSync(link!, "more");
  },
  read: (path) => readSecret(path),
  "read-some": (path) => require(fs.readSync(fs.openSync(path!, "r"), Buffer.alloc(1)) === 1),
  "read-by-link": (path, link) => {
    fs.symlinkSync(path!, link!);
    readSecret(link);
  },
  "read-by-hard-link": (path, link) => {
    fs.linkSync(path!, link!);
    readSecret(link);
  },
  "read-by-descriptors": (...processes) => {
    const open = processes.flatMap((id) =>
      fs.readdirSync(`/proc/${id}/fd`).map((descriptor) => `/proc/${id}/fd/${descriptor}`),
    );
    require(open.some((path) => tryRead(path).includes("secret")));
  },
  "connect-tcp": async (port) => {
    const socket = net.connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  },
  "bind-tcp": async () => {
    const server = net.createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    server.close();
  },
  /** Listens on an address, and writes its port to a file. Answers "hello". */
  serve: async (address, path) => {
    // Outside of the network of commands, the servers of other tests use higher ports.
    const port = 20_000 + Math.floor(10_000 * Math.random());
    const server = net.createServer((connection) => connection.end("hello")).listen(port, address);
    await once(server, "listening");
    fs.writeFileSync(`${path}.new`, String((server.address() as net.AddressInfo).port));
    fs.renameSync(`${path}.new`, path!);
    await sleep(60_000);
  },
  fetch: async (address, port) => {
    const socket = net.connect(Number(port), address);
    const [data] = await once(socket, "data");
    require(String(data) === "hello");
    socket.destroy();
  },
  "send-udp": async (port) => {
    const socket = createSocket("udp4");
    const sent = new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.send("secret", Number(port), "127.0.0.1", (error) => (error ? reject(error) : resolve(0)));
    });
    await sent;
    socket.close();
  },
  "connect-abstract": (name) => connectUnix(`\0${name}`),
  "connect-unix": (path) => connectUnix(path!),
  "send-from-pair": (path) => require(sendFromPair(path!)),
  /** Sets FS_NODUMP_FL, which every user may set for their own files. */
  "set-flags": (path) => {
    const file = fs.openSync(path!, "r");
    const flags = Buffer.alloc(8);
    must(libc.ioctl(file, getFlags, flags));
    flags.writeUInt32LE(flags.readUInt32LE(0) | 0x40, 0);
    must(libc.ioctl(file, setFlags, flags));
  },
  /** Calls BTRFS_IOC_SNAP_CREATE, SNAP_CREATE_V2 and SUBVOL_CREATE on descriptors opened for reading only. */
  snapshot: (folder) => callBtrfs(0x50009401, folder!, "snapshot"),
  "snapshot-2": (folder) => callBtrfs(0x50009417, folder!, "snapshot-2"),
  subvolume: (folder) => callBtrfs(0x5000940e, folder!, "subvolume"),
  affinity: (id) => {
    const processors = Buffer.alloc(128);
    must(libc.sched_getaffinity(Number(id), processors.length, processors));
    must(libc.sched_setaffinity(Number(id), processors.length, processors));
  },
  priority: (id) => must(libc.setpriority(0, Number(id), 1)),
  "own-priority": () => {
    const processors = Buffer.alloc(128);
    must(libc.sched_getaffinity(0, processors.length, processors));
    must(libc.sched_setaffinity(0, processors.length, processors));
    must(libc.setpriority(0, 0, 1));
  },
  "command-line": (id) => require(fs.readFileSync(`/proc/${id}/cmdline`, "utf8").length > 0),
  mounts: (id) => require(fs.readFileSync(`/proc/${id}/mountinfo`, "utf8").length > 0),
  "list-processes": (id) => require(fs.readdirSync("/proc").includes(id!)),
  signal: (id) => must(libc.kill(Number(id), 0)),
  "signal-parent": () => must(libc.kill(process.ppid, 0)),
  /** Traces with PTRACE_SEIZE, which does not stop the process. */
  trace: (id) => must(libc.ptrace(0x4206, Number(id), 0, 0)),
  environment: (id) => require(fs.readFileSync(`/proc/${id}/environ`).length > 0),
  memory: (id) => fs.closeSync(fs.openSync(`/proc/${id}/mem`, "r")),
  limits: (id) => must(libc.prlimit(Number(id), 7, null, Buffer.alloc(16))),
  "gain-privileges": () => require(/NoNewPrivs:\s*0/.test(fs.readFileSync("/proc/self/status", "utf8"))),
  /** Runs `program`, a copy of id(1) that belongs to `owner`. */
  "set-user-id": (program, owner) => {
    becomeNobody();
    require(spawnSync(program!, ["-u"], { encoding: "utf8" }).stdout.trim() === owner);
  },
  processes: (count) => {
    becomeNobody();
    return startMany(Number(count));
  },
  "processes-of-root": (count) => startMany(Number(count)),
  /** Writes files, and waits until the worker has checked the disk. */
  "many-files": async (folder, count, bytes) => {
    const content = Buffer.alloc(Number(bytes), 1);
    for (let index = 0; index < Number(count); index++)
      fs.writeFileSync(join(folder!, `many-${index}`), content);
    await sleep(1000);
  },
  /** Allocates memory without touching it, which counts too. */
  "memory-size": (gibibytes) => {
    const held = Array.from({ length: Number(gibibytes) }, () => Buffer.allocUnsafeSlow(1024 ** 3));
    require(held.length > 0);
  },
  "file-size": (path, bytes) => {
    fs.writeFileSync(path!, Buffer.alloc(Number(bytes)));
    require(fs.statSync(path!).size === Number(bytes));
  },
  "open-files": (count) => {
    for (let index = 0; index < Number(count); index++) fs.openSync("/dev/null", "r");
  },
  "processor-time": () => {
    const { user, system } = process.cpuUsage();
    while (process.cpuUsage().user + process.cpuUsage().system < user + system + 1_000_000);
  },
};

const [name = "", ...args] = process.argv.slice(2);
try {
  await attempts[name]!(...args);
  console.log("got through");
} catch (error) {
  console.log(`stopped: ${error instanceof Error ? error.message : error}`);
}
process.exit(0);
