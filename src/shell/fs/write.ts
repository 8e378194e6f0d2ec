import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { Nullable, UInt64 } from "../../base/schema/fragments.ts";
import { storeFile } from "../../filesystem/operations/store.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import { refuseShell } from "../shell-errors.ts";
import { ContentRef, idleMilliseconds, isChannelId } from "./content.ts";
import { defineFsFunction, requirePath } from "./define.ts";
import { explainedMissing, refuseFs } from "./fs-errors.ts";
import { encodeContent, HostEncoding, withoutEncoding } from "./host-encoding.ts";
import { parseMode } from "./mode.ts";
import { receive } from "./receive.ts";

/**
 * `shell::fs::write`: a file from the bytes of a channel (shell §9.9). A caller who sends their number, in
 * `size` or on the channel (`receive`), can be sure that all of them are written, or none.
 */
export const write = defineFsFunction({
  op: "write",
  description: "Stream a file to a host path or sandbox via StreamChannelRef",
  needsBus: true,
  effect: "writes",
  paths: [{ at: "/path", access: "replace", when: { parents: true } }],
  fields: {
    path: Type.String(),
    mode: Type.Optional(
      Type.String({ description: 'Default: "0644", or that of the file which is replaced.' }),
    ),
    parents: Type.Boolean({ default: false }),
    content: ContentRef,
    encoding: HostEncoding("To write the text in, which comes in UTF-8. Without it: the bytes unchanged."),
    size: Nullable(UInt64(), {
      default: null,
      description:
        "Bytes that have to come before anything is written. For 0 the channel is not waited for: the SDK's writers never connect when they have nothing to send.",
    }),
  },
  response: Type.Object({ bytes_written: UInt64(), path: Type.String() }, { title: "WriteResponse" }),
  examples: [
    {
      title: "What comes over a channel",
      request: {
        path: "/srv/data/upload.bin",
        content: { channel_id: "0b6fbd0e-5ac4-4d52-9a0f-6d2e3c1f7b48", access_key: "c1d2…" },
      },
    },
  ],
  forwarded(request) {
    const { path, mode = "0644", parents, content } = withoutEncoding(request);
    return { path, mode, parents, content };
  },
  async handle({ path, mode, parents, content, encoding: label, size }, context) {
    const { fs: disk, bus, config, deadline } = context;
    const encoding = requestedEncoding(label);
    if (!isChannelId(content.channel_id)) throw refuseFs.badChannel(content.channel_id);
    requirePath(disk.jail, path);
    const bits = mode === undefined ? undefined : parseMode(mode);
    if (bus === undefined) throw refuseShell.noBus("shell::fs::write");
    const transfer = disk.transfers.begin();
    try {
      const source = bus.openSource({ ...content, direction: "read" });
      const receiving = {
        path,
        maxBytes: config.fs.max_write_bytes || undefined,
        announced: size ?? undefined,
        idleMilliseconds,
        deadline,
        signal: transfer.signal,
      };
      const maxBytes = receiving.maxBytes ?? Number.POSITIVE_INFINITY;
      let bytes_written = 0;
      const counted = (async function* () {
        // A sender without bytes need not connect, and the SDK's writers do not.
        const sent = size === 0 ? emptyContent() : receive(source, receiving);
        for await (const piece of encoding ? encodeContent(sent, { path, encoding }) : sent) {
          bytes_written += piece.length;
          // The file may be larger than its text in UTF-8.
          if (bytes_written > maxBytes) throw refuseFs.tooLong(path, maxBytes);
          yield piece;
        }
      })();
      await storeFile(disk.tree, { path, content: counted, mode: bits, parents }, context);
      return { bytes_written, path };
    } catch (error) {
      if (!context.profile.explained_errors || !(error instanceof Refusal)) throw error;
      throw parents ? error : explainedMissing(error, path);
    } finally {
      transfer.end();
    }
  },
});

async function* emptyContent(): AsyncGenerator<Uint8Array> {}
