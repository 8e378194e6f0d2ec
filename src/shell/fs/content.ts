/** Channels in requests and answers (shell §2.4, shell §9.9, shell §9.10). */
import { Type } from "@sinclair/typebox";

const ContentDirection = (byDefault: object) =>
  Type.Union([Type.Literal("read"), Type.Literal("write")], { $id: "ContentDirection", ...byDefault });

/** A channel, by its id. Without a direction it is readable. */
export const ContentRef = Type.Object(
  {
    access_key: Type.String(),
    channel_id: Type.String(),
    direction: ContentDirection({ default: "read" }),
  },
  {
    $id: "ContentRef",
    description:
      "Wire-identical mirror of `iii_sdk::channels::StreamChannelRef`. The SDK type lacks `JsonSchema` in 0.11.3, which would block typed registration of `shell::fs::write`/`read`.",
  },
);

/** A channel in the answer of a sandbox, which must name the direction. */
export const ForwardedContentRef = Type.Object({
  access_key: Type.String(),
  channel_id: Type.String(),
  direction: ContentDirection({}),
});

/**
 * Maximum pause on a channel, in milliseconds. By default callers wait 30 s for an answer (bus §3), and the
 * error with the reason has to arrive before.
 */
export const idleMilliseconds = 25_000;

/**
 * Returns whether `id` can be that of an engine's channel. Any other text would change the address of the
 * connection.
 */
export const isChannelId = (id: string): boolean => /^[A-Za-z0-9-]{1,64}$/.test(id);
