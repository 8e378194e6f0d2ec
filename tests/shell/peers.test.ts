/** Tests that the peer of a channel may be slow, die, or never connect. */
import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { ChannelReader } from "iii-sdk/channel";
import { defaultSubjects } from "../harness/subject.ts";
import type { Tree } from "../harness/tree.ts";
import { answerOf, expectCode, waitFor } from "./case.ts";
import { openChannel } from "./channels.ts";
import { type CaseFolder, jailed, openCaseFolder } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

let served: ShellFixture;
afterEach(() => served.stop());

/** More bytes than channels and sockets hold, without any repetition. */
const large = Buffer.from(new Uint32Array(24 * 1024 * 1024).map((_, index) => index).buffer);

const residentKibibytes = ({ worker }: ShellFixture): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${worker.child.pid}/status`, "utf8"))?.[1]);

/** Whether the worker has a file open, including a file that was removed since. */
function hasOpen({ worker }: ShellFixture, path: string): boolean {
  const folder = `/proc/${worker.child.pid}/fd`;
  return readdirSync(folder).some((descriptor) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`).startsWith(path);
    } catch {
      return false;
    }
  });
}

describe.each(defaultSubjects)("%s", (subject) => {
  const open = async (tree: Tree = {}): Promise<CaseFolder> => {
    served = await startShell(subject, jailed({ max_read_bytes: 0, max_write_bytes: 0 }));
    return openCaseFolder(served, tree);
  };

  const readerOf = async (fixture: CaseFolder): Promise<ChannelReader> => {
    const { content } = await fixture.answer("read", { path: "<base>/f" });
    return new ChannelReader(served.engine.url, content as ConstructorParameters<typeof ChannelReader>[1]);
  };

  test("a slow reader gets all bytes, and the worker does not hold them meanwhile", async () => {
    const fixture = await open({ f: large });
    const before = residentKibibytes(served);
    const { stream } = await readerOf(fixture);
    const pieces: Buffer[] = [];
    for await (const piece of stream as AsyncIterable<Buffer>) {
      // The first piece shows that the transfer has begun, and other calls let time pass.
      if (pieces.length === 0)
        for (let round = 0; round < 50; round++) await fixture.answer("stat", { path: "<base>/f" });
      pieces.push(piece);
    }
    expect(residentKibibytes(served) - before).toBeLessThan(64 * 1024);
    expect(Buffer.concat(pieces).equals(large)).toBe(true);
  });

  test("a reader that dies lets go of the file", async () => {
    const fixture = await open({ f: large });
    const { stream } = await readerOf(fixture);
    await once(stream, "data");
    expect(hasOpen(served, fixture.at("f"))).toBe(true);
    stream.on("error", () => undefined).destroy();
    await waitFor(() => (hasOpen(served, fixture.at("f")) ? undefined : true));
    expect(await fixture.answer("stat", { path: "<base>/f" })).toMatchObject({ size: large.length });
  });

  test("a slow writer is waited for", async () => {
    const fixture = await open();
    const { reader, writer } = await openChannel(served);
    const outcome = fixture.call("write", { path: "<base>/f", content: reader });
    for (let round = 0; round < 20; round++) {
      await new Promise((resolve) => writer.stream.write(`${round}\n`, resolve));
      await fixture.answer("ls", { path: "<base>" });
    }
    expect(fixture.exists("f")).toBe(false);
    writer.stream.end();
    const text = Array.from({ length: 20 }, (_, round) => `${round}\n`).join("");
    expect(answerOf(await outcome)).toMatchObject({ bytes_written: text.length });
    expect(fixture.text("f")).toBe(text);
  });

  test("a writer that never comes and a reader that never comes do not keep the worker", async () => {
    const fixture = await open({ f: large });
    await fixture.answer("read", { path: "<base>/f" });
    const { reader } = await openChannel(served);
    const outcome = fixture.call("write", { path: "<base>/g", content: reader });
    await waitFor(() => readdirSync(fixture.folder).length === 2 || undefined);
    served.worker.child.kill("SIGTERM");
    expectCode(await outcome, "S216", "the server is stopping");
    expect(await served.worker.exited).toBe(0);
    expect(readdirSync(fixture.folder)).toEqual(["f"]);
  });
});
