import { ChannelReader, ChannelWriter } from "iii-sdk/channel";
import type { CaseFolder } from "./fixture.ts";
import type { ClientOutcome, ShellFixture } from "./shell-fixture.ts";

interface Ref {
  readonly channel_id: string;
  readonly access_key: string;
  readonly direction: "read" | "write";
}

/** Opens a channel like a caller does. */
export async function openChannel({
  client,
  engine,
}: ShellFixture): Promise<{ reader: Ref; writer: ChannelWriter }> {
  const made = await client.trigger({ function_id: "engine::channels::create", payload: {} });
  const { reader, writer } = made as { reader: Ref; writer: Ref };
  return { reader, writer: new ChannelWriter(engine.url, writer) };
}

/** Sends bytes, and ends the channel. */
export function sendAll(writer: ChannelWriter, bytes: Buffer): void {
  // Without a message before it, the end of an empty stream is never received.
  if (bytes.length === 0) writer.sendMessage("nothing follows");
  writer.stream.on("error", () => undefined);
  writer.stream.end(bytes.length === 0 ? undefined : bytes);
}

/** Calls `shell::fs::write` with these bytes. */
export async function callWrite(fixture: CaseFolder, fields: object, bytes: Buffer): Promise<ClientOutcome> {
  const { reader, writer } = await openChannel(fixture.served);
  const outcome = fixture.call("write", { content: reader, ...fields });
  sendAll(writer, bytes);
  return outcome;
}

/** Reads the bytes and the text messages of a channel from an answer of `shell::fs::read`. */
export async function readChannel(
  { engine }: ShellFixture,
  content: unknown,
): Promise<{ bytes: Buffer; messages: string[] }> {
  const reader = new ChannelReader(engine.url, content as Ref);
  const messages: string[] = [];
  reader.onMessage((text) => messages.push(text));
  return { bytes: await reader.readAll(), messages };
}

/** Calls `shell::fs::read`, and returns the bytes. */
export async function callRead(fixture: CaseFolder, path: string): Promise<Buffer> {
  const { content } = await fixture.answer("read", { path });
  return (await readChannel(fixture.served, content)).bytes;
}
