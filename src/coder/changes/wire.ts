/** The form of the feed's changes on the wire (coder §25). */
import { type Static, Type } from "@sinclair/typebox";
import type { Author } from "../../base/author.ts";
import { Named, UInt64 } from "../../base/schema/fragments.ts";
import type { CallCause, Cause, FeedChange } from "../../filesystem/feed/change.ts";
import { AuthorFields, describeAuthor } from "../checkpoints/authors.ts";
import { isMadeBy } from "./runners.ts";

/** The kind of the change. */
export const KindOfChange = Type.Union(
  (["created", "modified", "deleted", "moved"] as const).map((kind) => Type.Literal(kind)),
);

const RanCommand = Named("RanCommand", {
  author: Type.Optional(AuthorFields),
  function_id: Type.Optional(Type.String()),
  program: Type.Optional(Type.String()),
});

const WireCause = Named("Cause", {
  author: Type.Optional(AuthorFields),
  by: Type.Union([Type.Literal("call"), Type.Literal("external")]),
  checkpoint: Type.Optional(UInt64({ description: "The number of the call's checkpoint." })),
  commands: Type.Optional(
    Type.Array(RanCommand, {
      description: "The commands that ran, if several did: each may have made it, or another program.",
    }),
  ),
  function_id: Type.Optional(Type.String()),
  mine: Type.Optional(
    Type.Literal(true, {
      description:
        "The author of this call made it, or it was made while none but their commands ran, not only a job in the background.",
    }),
  ),
  program: Type.Optional(
    Type.String({
      description: "The program that the call ran when it was made: that made it, or another program did.",
    }),
  ),
  transaction: Type.Optional(Type.String()),
});

export const changeFields = {
  cause: WireCause,
  dir: Type.Boolean({
    description: "A folder. If it was created, deleted or moved, so was everything in it.",
  }),
  epoch: Type.String({ description: "Different after each start of the worker." }),
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
  /** The author of the call that reads it. */
  readonly reader?: Author | undefined;
  /** Whether to name the author of a call, the number of its checkpoint and the program that it ran. */
  readonly hasAuthors: boolean;
}

function describeCause(cause: Cause, reader: Author | undefined): WireChange["cause"] {
  if (cause.by === "external") return cause;
  const { author, commands, ...rest } = cause;
  return {
    ...rest,
    ...(author !== undefined && { author: describeAuthor(author) }),
    ...(commands !== undefined && { commands: commands.map(describeCommand) }),
    ...(isMadeBy(cause, reader) && { mine: true as const }),
  };
}

const describeCommand = ({ author, function_id, program }: CallCause): Static<typeof RanCommand> => ({
  ...(author !== undefined && { author: describeAuthor(author) }),
  ...(function_id !== undefined && { function_id }),
  ...(program !== undefined && { program }),
});

const withoutAuthor = (cause: Cause): WireChange["cause"] =>
  cause.by === "external"
    ? cause
    : {
        by: cause.by,
        ...(cause.function_id !== undefined && { function_id: cause.function_id }),
        ...(cause.transaction !== undefined && { transaction: cause.transaction }),
      };

/** Returns the form of a change on the wire. */
export const describeChange = (
  { seq, path, from, kind, isFolder, revision, cause, isGap }: FeedChange,
  { epoch, isIgnored, hasRoots, reader, hasAuthors }: DescribeOptions,
): WireChange => ({
  cause: hasAuthors ? describeCause(cause, reader) : withoutAuthor(cause),
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
