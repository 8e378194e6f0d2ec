import { Type } from "@sinclair/typebox";
import { Int64, UInt64 } from "../../base/schema/fragments.ts";
import { type BusAccess, RemoteError } from "../../calls/contract/bus-access.ts";
import { refuseShell } from "../shell-errors.ts";
import { ContentRef, ForwardedContentRef, idleMilliseconds } from "./content.ts";
import { defineFsFunction } from "./define.ts";
import { refuseFs } from "./fs-errors.ts";
import { renderMode, renderTime } from "./mode.ts";
import { send } from "./send.ts";

const metadata = { mode: Type.String(), mtime: Int64(), size: UInt64() };

/**
 * `shell::fs::read`: a file as the bytes of a channel (shell §9.10). Metadata and bytes
 * belong to one file, which is opened before the answer.
 */
export const read = defineFsFunction({
  op: "read",
  description: "Stream a file from a host path or sandbox via StreamChannelRef",
  needsBus: true,
  effect: "reads",
  paths: [{ at: "/path", access: "read" }],
  fields: { path: Type.String() },
  response: Type.Object({ content: ContentRef, ...metadata }, { title: "ReadResponseWire" }),
  forwardedResponse: Type.Object({ content: ForwardedContentRef, ...metadata }),
  examples: [{ title: "Read one file", request: { path: "/srv/data/notes.txt" } }],
  async handle({ path }, { fs: disk, bus, config, log }) {
    const { max_read_bytes: bytes } = config.fs;
    const limit = bytes === 0 ? undefined : { key: "fs.max_read_bytes", bytes };
    const file = disk.files.open(path, limit);
    let end = () => file.close();
    try {
      if (bus === undefined) throw refuseShell.noBus("shell::fs::read");
      const transfer = disk.transfers.begin();
      end = () => {
        file.close();
        transfer.end();
      };
      const { reader, writer } = await createChannel(bus, path);
      const failed = (error: unknown) => log.error("sending a file failed", { failure: String(error) });
      void send(file, bus.openSink(writer), { idleMilliseconds, signal: transfer.signal })
        .catch(failed)
        .finally(end);
      const { size } = file.stats;
      return { content: reader, size, mode: renderMode(file.stats), mtime: renderTime(file.stats) };
    } catch (error) {
      end();
      throw error;
    }
  },
});

async function createChannel(bus: BusAccess, path: string): ReturnType<BusAccess["createChannel"]> {
  try {
    return await bus.createChannel();
  } catch (error) {
    throw error instanceof RemoteError ? refuseFs.channel(path) : error;
  }
}
