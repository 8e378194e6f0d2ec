/** A program of the commands' user. It listens, holds a secret open, and lets every process trace it. */
import { dlopen } from "bun:ffi";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { openSync } from "node:fs";
import { createServer } from "node:net";

const [secret = "", socket = "", datagrams = "", name = ""] = process.argv.slice(2);

/** PR_SET_PTRACER of prctl(2), for systems with Yama. */
const setTracer = 0x59616d61;
const { symbols: libc } = dlopen("libc.so.6", {
  prctl: { args: ["i32", "i64", "i64", "i64", "i64"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  bind: { args: ["i32", "buffer", "i32"], returns: "i32" },
});
libc.prctl(setTracer, -1, 0, 0, 0);
openSync(secret, "r");

const listen = async (where: string | number) => {
  const server = createServer((connection) => connection.destroy()).listen(where);
  await once(server, "listening");
  return server.address();
};
const tcp = (await listen(0)) as { readonly port: number };
await listen(socket);
await listen(`\0${name}`);
// An address for AF_UNIX and SOCK_DGRAM.
const address = Buffer.from(`\x01\0${datagrams}\0`, "latin1");
libc.bind(libc.socket(1, 2, 0), address, address.length);
const udp = createSocket("udp4").bind(0, "127.0.0.1");
await once(udp, "listening");
console.log(JSON.stringify({ tcp: tcp.port, udp: udp.address().port }));
