import { Type } from "@sinclair/typebox";
import { Int64, UInt64 } from "../../base/schema/fragments.ts";
import { type BusAccess, RemoteError } from "../../calls/contract/bus-access.ts";
import { markedEncodingIn } from "../../text/encodings/byte-order-mark.ts";
import { decodePieces, encodingName } from "../../text/encodings/codec.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import { refuseShell } from "../shell-errors.ts";
import { ContentRef, ForwardedContentRef, idleMilliseconds } from "./content.ts";
import { defineFsFunction } from "./define.ts";
import { refuseFs } from "./fs-errors.ts";
import { HostEncoding, withoutEncoding } from "./host-encoding.ts";
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
  fields: { path: Type.String(), encoding: HostEncoding() },
  response: Type.Object(
    {
      content: ContentRef,
      encoding: Type.Optional(
        Type.String({
          since: "0.4.0",
          description: "The encoding of the file, whose text `content` has in UTF-8.",
        }),
      ),
      ...metadata,
    },
    { title: "ReadResponseWire" },
  ),
  forwardedResponse: Type.Object({ content: ForwardedContentRef, ...metadata }),
  examples: [{ title: "Read one file", request: { path: "/srv/data/notes.txt" } }],
  forwarded: withoutEncoding,
  async handle({ path, encoding: label }, { fs: disk, bus, config, log }) {
    const requested = requestedEncoding(label);
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
      const encoding = requested && ((await markedEncodingIn(file.pieces())) ?? requested);
      const { reader, writer } = await createChannel(bus, path);
      const failed = (error: unknown) => log.error("sending a file failed", { failure: String(error) });
      const pieces = encoding === undefined ? file.pieces() : decodePieces(file.pieces(), encoding);
      void send(pieces, bus.openSink(writer), { idleMilliseconds, signal: transfer.signal })
        .catch(failed)
        .finally(end);
      const { size } = file.stats;
      return {
        content: reader,
        ...(encoding !== undefined && { encoding: encodingName(encoding) }),
        ...{ size, mode: renderMode(file.stats), mtime: renderTime(file.stats) },
      };
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
