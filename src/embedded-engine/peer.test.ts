import { expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { ownerIn, ownerOf, ownerOfProbe } from "./peer.ts";

const local = { address: "127.0.0.1", port: 54934 };
const remote = { address: "127.0.0.1", port: 49134 };

/** Returns a row as Linux prints it; 54934 is D696, 49134 is BFEE. */
const row = (from: string, to: string, { state = "01", user = 1001, inode = 91945 } = {}) =>
  `   7: ${from} ${to} ${state} 00000000:00000000 00:00000000 00000000  ${user}        0 ${inode} 1 0 20 4 30 10 -1\n`;

const ends = ["0100007F:D696", "0100007F:BFEE"] as const;
const mapped = ends.map((end) => `0000000000000000FFFF0000${end}`) as [string, string];

test.each([
  ["a socket of IPv4", row(...ends), 1001],
  ["a socket of IPv6 connected over IPv4", row(...mapped), 1001],
  ["a socket behind others", row("0100007F:D696", "0100007F:0050", { user: 5 }) + row(...ends), 1001],
  ["the other end of it", row(ends[1], ends[0]), undefined],
  ["a socket from another address", row("0200007F:D696", ends[1]), undefined],
  ["a closed socket, which is shown as root's", row(...ends, { state: "06", user: 0, inode: 0 }), undefined],
  ["an orphan, which is shown as root's", row(...ends, { user: 0, inode: 0 }), undefined],
  ["no table", "", undefined],
])("the owner of %s", (_, table, owner) => {
  expect(ownerIn(table, local, remote)).toBe(owner);
});

/** Depends on the process table of this machine. The test of other users in tests/security does not. */
test("the probe says what the look at its own connection says", async () => {
  expect(await ownerOfProbe(() => 7)).toBe(7);
  expect(await ownerOfProbe(() => undefined)).toBeUndefined();
});

const visible = process.platform === "linux" ? process.geteuid?.() : undefined;

test("Linux shows whose a connection of this process is", async () => {
  expect(await ownerOfProbe(ownerOf)).toBe(visible);
});

test("a connection over a socket of IPv6 is seen, too", async () => {
  const server = createServer((accepted) => accepted.resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = createConnection({ host: "::ffff:127.0.0.1", port });
  await once(socket, "connect");
  const peer = { address: "127.0.0.1", port: socket.localPort ?? 0 };
  expect(ownerOf(peer, { address: "127.0.0.1", port })).toBe(visible);
  socket.destroy();
  server.close();
});
