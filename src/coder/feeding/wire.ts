/** Changes of the feed as they are on the wire (coder §25). */
import { type Static, Type } from "@sinclair/typebox";
import type { FeedChange } from "../../feed/change.ts";
import { Named, UInt64 } from "../../schema/fragments.ts";

/** The kind of the change. */
export const KindOfChange = Type.Union(
  (["created", "modified", "deleted", "moved"] as const).map((kind) => Type.Literal(kind)),
);

const Cause = Named("Cause", {
  by: Type.Union([Type.Literal("call"), Type.Literal("external")]),
  function_id: Type.Optional(Type.String()),
  transaction: Type.Optional(Type.String()),
});

export const changeFields = {
  cause: Cause,
  dir: Type.Boolean({
    description: "A folder. One that was created, deleted or moved counts for everything in it.",
  }),
  epoch: Type.String({ description: "Another one each time the worker starts." }),
  from: Type.Optional(Type.String({ description: "Where it was moved from." })),
  ignored: Type.Boolean({ description: "Whether an ignore file names it." }),
  kind: KindOfChange,
  overflow: Type.Optional(
    Type.Literal(true, {
      description: "Changes before this one are not known: anything at `path` or below may be different.",
    }),
  ),
  path: Type.String(),
  revision: Type.Optional(Type.String({ description: "SHA-256 of what the call wrote." })),
  root: Type.String(),
  seq: UInt64(),
};

const WireChange = Type.Object(changeFields);
export type WireChange = Static<typeof WireChange>;

interface DescribeOptions {
  readonly epoch: string;
  readonly isIgnored: boolean;
  /** Whether paths begin with the name of a root. */
  readonly hasRoots: boolean;
}

/** A change as it is sent. */
export const describeChange = (
  { seq, path, from, kind, isFolder, revision, cause, isGap }: FeedChange,
  { epoch, isIgnored, hasRoots }: DescribeOptions,
): WireChange => ({
  cause,
  dir: isFolder,
  epoch,
  ...(from !== undefined && { from }),
  ignored: isIgnored,
  kind,
  ...(isGap && { overflow: true as const }),
  path,
  ...(revision !== undefined && { revision }),
  root: hasRoots ? path.split("/", 1)[0]! : ".",
  seq,
});
