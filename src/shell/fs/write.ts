import { Type } from "@sinclair/typebox";
import { refuseShell } from "../../errors/shell.ts";
import { Nullable, UInt64 } from "../../wire.ts";
import { ContentRef, idleMilliseconds } from "./content.ts";
import { defineFsFunction, requirePath } from "./define.ts";
import { parseMode } from "./mode.ts";
import { receive } from "./receive.ts";

/**
 * `shell::fs::write`: a file from the bytes of a channel (specification of shell, section 9.9). A caller that wants to
 * be sure that nothing but all of them is written also sends their number in `size`, or on the channel (`receive`).
 */
export const write = defineFsFunction({
  op: "write",
  description: "Stream a file to a host path or sandbox via StreamChannelRef",
  effect: "writes",
  fields: {
    path: Type.String(),
    mode: Type.Optional(
      Type.String({ description: 'Default: "0644", or that of the file which is replaced.' }),
    ),
    parents: Type.Boolean({ default: false }),
    content: ContentRef,
    size: Nullable(UInt64(), {
      default: null,
      description: "Bytes that have to come before anything is written.",
    }),
  },
  response: Type.Object({ bytes_written: UInt64(), path: Type.String() }, { title: "WriteResponse" }),
  examples: [
    {
      title: "What comes over a channel",
      request: { path: "/srv/data/upload.bin", content: { channel_id: "0b6f…", access_key: "c1d2…" } },
    },
  ],
  forwarded: ({ path, mode = "0644", parents, content }) => ({ path, mode, parents, content }),
  async handle({ path, mode, parents, content, size }, { disk, bus, config, deadline }) {
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
      let bytes_written = 0;
      const counted = (async function* () {
        for await (const piece of receive(source, receiving)) {
          bytes_written += piece.length;
          yield piece;
        }
      })();
      await disk.files.store(path, counted, { mode: bits, parents }, deadline);
      return { bytes_written, path };
    } finally {
      transfer.end();
    }
  },
});
