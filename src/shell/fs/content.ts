/** Channels in requests and answers (specification of shell, sections 2.4, 9.9 and 9.10). */
import { Type } from "@sinclair/typebox";

const ContentDirection = (byDefault: object) =>
  Type.Union([Type.Literal("read"), Type.Literal("write")], { $id: "ContentDirection", ...byDefault });

/** A channel by its name. Without a direction it is one to read from. */
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

/** The same in the answer of a sandbox, which has to tell the direction. */
export const ForwardedContentRef = Type.Object({
  access_key: Type.String(),
  channel_id: Type.String(),
  direction: ContentDirection({}),
});

/** Longest pause on a channel, in milliseconds. */
export const idleMilliseconds = 30_000;
