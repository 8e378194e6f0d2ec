import { deepStrictEqual, match, rejects } from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ChannelReader, ChannelWriter, type StreamChannelRef } from "iii-sdk/channel";
import { type Asking, ask } from "./ask.ts";

interface Ended {
  readonly exit_code: number;
  readonly stdout: string;
}

interface Found {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly content: string }[];
}

/**
 * Makes `shell` write, edit, find, read and remove a file in the empty folder `base`, run a program from its
 * allowlist, and refuse another one. Throws the first fault.
 */
export async function talkToShell(asking: Asking, base: string): Promise<void> {
  const path = join(base, "notes/tea.txt");
  const { bytes_written } = await write(asking, path, Buffer.from("green\nblack\n"));
  deepStrictEqual(bytes_written, 12);
  const edit = { files: [path], pattern: "^(?P<first>[gb])", replacement: "${first}." };
  const { total_replacements } = await ask<{ total_replacements: number }>(asking, "shell::fs::sed", edit);
  deepStrictEqual(total_replacements, 2);
  const query = { path: base, pattern: "B\\.(?:l|r)ac", ignore_case: true };
  const { matches } = await ask<Found>(asking, "shell::fs::grep", query);
  deepStrictEqual(matches, [{ path, line: 2, content: "b.lack" }]);
  deepStrictEqual((await read(asking, path)).toString(), "g.reen\nb.lack\n");

  const run = { command: "cat", args: ["notes/tea.txt"] };
  const { exit_code, stdout } = await ask<Ended>(asking, "shell::exec", run);
  deepStrictEqual({ exit_code, stdout }, { exit_code: 0, stdout: "g.reen\nb.lack\n" });
  await rejects(ask(asking, "shell::exec", { command: "sh", args: ["-c", "true"] }), ({ message }: Error) => {
    match(message, /allowlist/);
    return true;
  });

  await ask(asking, "shell::fs::rm", { path: join(base, "notes"), recursive: true });
  deepStrictEqual(existsSync(path), false);
}

/** Calls `shell::fs::write`, with the bytes on a new channel. */
async function write(asking: Asking, path: string, bytes: Buffer): Promise<{ bytes_written: number }> {
  const { reader, writer } = await ask<Record<"reader" | "writer", StreamChannelRef>>(
    asking,
    "engine::channels::create",
    {},
  );
  new ChannelWriter(asking.url, writer).stream.end(bytes);
  return ask(asking, "shell::fs::write", { path, parents: true, content: reader });
}

/** Calls `shell::fs::read`, and returns the bytes from the channel that it names. */
async function read(asking: Asking, path: string): Promise<Buffer> {
  const { content } = await ask<{ content: StreamChannelRef }>(asking, "shell::fs::read", { path });
  return new ChannelReader(asking.url, content).readAll();
}
