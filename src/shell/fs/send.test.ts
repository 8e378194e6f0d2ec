import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { ChannelSink } from "../../calls/contract/bus-access.ts";
import type { OpenFile } from "../../filesystem/files/open-file.ts";
import { openFile } from "../../filesystem/files/open-file.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { openJail } from "../../filesystem/jail/jail.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { send } from "./send.ts";

let folder: string;
let jail: Jail;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coder-"));
  jail = openJail({ basePath: folder, deny: compileGlobSet([]) });
});
afterEach(() => {
  jail.close();
  rmSync(folder, { recursive: true });
});

function file(bytes: number, limit?: number): OpenFile {
  writeFileSync(join(folder, "f"), Buffer.alloc(bytes, "x"));
  return openFile(jail, "f", limit === undefined ? undefined : { key: "fs.max_read_bytes", bytes: limit });
}

/** A reader in this process; one that is stuck never takes the first piece. */
class Reader implements ChannelSink {
  received = 0;
  isConnected = false;
  readonly messages: string[] = [];
  readonly stream: Writable;

  constructor({ isStuck = false, onPiece = () => {} }: { isStuck?: boolean; onPiece?: () => void } = {}) {
    this.stream = new Writable({
      write: (piece: Buffer, _, done) => {
        this.received += piece.length;
        onPiece();
        if (!isStuck) done();
      },
    });
  }

  connect(): void {
    this.isConnected = true;
  }

  sendMessage(text: string): void {
    this.messages.push(text);
  }

  close(): void {}
}

const patient = { idleMilliseconds: 30_000, signal: new AbortController().signal };

test("a file goes out whole, and the end of an empty one is seen too", async () => {
  for (const bytes of [0, 1, 65_536, 262_144, 700_000]) {
    const [opened, reader] = [file(bytes), new Reader()];
    await send(opened.pieces(), reader, patient);
    opened.close();
    expect(reader).toMatchObject({ received: bytes, isConnected: true, messages: [] });
    expect(reader.stream.writableFinished).toBe(true);
  }
});

test("a reader that takes nothing is given up", async () => {
  const [opened, reader] = [file(200_000), new Reader({ isStuck: true })];
  await send(opened.pieces(), reader, { ...patient, idleMilliseconds: 5 });
  opened.close();
  expect(reader.stream.destroyed).toBe(true);
});

test("a reader that leaves ends it", async () => {
  const opened = file(700_000);
  const reader: Reader = new Reader({ onPiece: () => reader.stream.destroy() });
  await send(opened.pieces(), reader, patient);
  opened.close();
  expect(reader.received).toBeLessThan(700_000);
});

test("the end of the worker ends it", async () => {
  const [opened, reader, controller] = [file(200_000), new Reader({ isStuck: true }), new AbortController()];
  const sent = send(opened.pieces(), reader, { ...patient, signal: controller.signal });
  controller.abort();
  await sent;
  opened.close();
  expect(reader.stream.destroyed).toBe(true);
});

test("a file that grows over the limit is cut, and the reader is told", async () => {
  const opened = file(70_000, 80_000);
  let hasGrown = false;
  const reader = new Reader({
    onPiece() {
      if (!hasGrown) appendFileSync(join(folder, "f"), Buffer.alloc(20_000));
      hasGrown = true;
    },
  });
  await send(opened.pieces(), reader, patient);
  opened.close();
  expect(reader.received).toBeLessThanOrEqual(80_000);
  expect(reader.messages).toEqual([expect.stringContaining("fs.max_read_bytes")]);
});
