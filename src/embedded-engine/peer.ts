/**
 * Finds the owner of a TCP connection. A loopback port is open to every user of the machine, and only the
 * system's table of sockets shows who is at the other end (proc_pid_net(5), Linux only).
 */
import { readFileSync } from "node:fs";
import { type AddressInfo, createConnection, createServer } from "node:net";

/** One end of a TCP connection over IPv4. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * The state ESTABLISHED. In later states a socket may no longer have an owner, and the table shows it as
 * root's.
 */
const established = "01";

/**
 * Returns the user id that owns the socket at `local` which is connected to `remote`, or `undefined` if there
 * is no such socket or table.
 */
export function ownerOf(local: Endpoint, remote: Endpoint): number | undefined {
  return ownerIn(readTable("/proc/net/tcp") + readTable("/proc/net/tcp6"), local, remote);
}

/**
 * Returns the result of `find` for a connection of this process to itself, which shows whether this machine
 * reveals owners.
 */
export function ownerOfProbe(find: typeof ownerOf): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((accepted) => accepted.resume());
    server.once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const socket = createConnection({ host: "127.0.0.1", port });
      socket.once("error", reject).once("connect", () => {
        const peer = { address: socket.localAddress ?? "", port: socket.localPort ?? 0 };
        const owner = find(peer, { address: "127.0.0.1", port });
        socket.destroy();
        server.close(() => resolve(owner));
      });
    });
  });
}

/** Like `ownerOf`, but searches the text of the tables. */
export function ownerIn(tables: string, local: Endpoint, remote: Endpoint): number | undefined {
  const wanted = [entryOf(local), entryOf(remote)];
  for (const row of tables.split("\n")) {
    const [, from = "", to = "", state, , , , user, , inode] = row.trim().split(/\s+/);
    const isWanted = unmapped(from) === wanted[0] && unmapped(to) === wanted[1];
    if (isWanted && state === established && inode !== "0") return Number(user);
  }
  return undefined;
}

/** Returns the text of the table, empty if it does not exist. */
function readTable(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/**
 * Returns an address in the notation of the table: a number of 32 bits in the processor's byte order, low
 * byte first.
 */
function entryOf({ address, port }: Endpoint): string {
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .map(Number);
  return `${hexOf(bytes.reverse())}:${hexOf([port >> 8, port & 255])}`;
}

const hexOf = (bytes: number[]): string =>
  bytes.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");

/** Strips the prefix of an IPv6 socket connected over IPv4 (RFC 4291, section 2.5.5.2). */
const unmapped = (entry: string): string => entry.replace(/^0{16}FFFF0000/, "");
