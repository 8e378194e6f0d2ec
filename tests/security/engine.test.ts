/**
 * Every user of the machine can reach loopback. The embedded engine serves the user who runs it, and holders
 * of its token.
 */
import { expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startEngine } from "../../src/embedded-engine/engine.ts";
import { isRoot, testUnless } from "../faults/machine.ts";

const handshake = [
  "Host: 127.0.0.1",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
];

/** Returns the first line of the engine's answer to a handshake by a program that runs as `user`. */
async function answerTo(url: string, user: readonly string[]): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const request = [`GET ${pathname} HTTP/1.1`, ...handshake, "", ""].join("\\r\\n");
  const script = `exec 3<>/dev/tcp/${hostname}/${port}; printf '${request}' >&3; head -n 1 <&3`;
  const [command, ...args] = [...user, "bash", "-c", script];
  const { stdout } = await promisify(execFile)(command!, args, { cwd: "/", timeout: 20_000 });
  return stdout.trim();
}

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];

test("a program of the same user connects", async () => {
  const engine = await startEngine();
  expect(await answerTo(engine.url, [])).toContain(" 101 ");
  await engine.stop();
});

testUnless(
  isRoot ? undefined : "only root can run a program as another user",
  "a program of another user is refused, and connects with the token",
  async () => {
    const token = "0123456789abcdef";
    const engine = await startEngine({ token });
    const bare = engine.url.replace(`/${token}`, "");
    expect(await answerTo(bare, nobody)).toContain(" 403 ");
    expect(await answerTo(engine.url, nobody)).toContain(" 101 ");
    expect(await answerTo(bare, [])).toContain(" 101 ");
    await engine.stop();
  },
);
