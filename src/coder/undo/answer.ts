/** The fields of what `coder::undo` answers. */
import { type Static, Type } from "@sinclair/typebox";
import { Named, UInt32, UInt64 } from "../../base/schema/fragments.ts";
import type { UndoneRecord } from "../../filesystem/journal/undo-records.ts";
import { AuthorFields } from "../checkpoints/authors.ts";
import { GoneChange } from "./gone.ts";

export const UndoneCheckpoint = Named("UndoneCheckpoint", {
  author: Type.Optional(AuthorFields),
  more: Type.Optional(UInt32({ description: "Paths that are not listed." })),
  removed: Type.Array(Type.String()),
  restored: Type.Array(Type.String()),
  seq: UInt64(),
  skipped: Type.Array(
    Named("SkippedPath", {
      path: Type.String(),
      reason: Type.Union(
        (["unavailable", "in-the-way", "protected", "root-gone"] as const).map((reason) =>
          Type.Literal(reason),
        ),
      ),
    }),
  ),
  undone_by: Type.Optional(UInt64({ description: "The checkpoint that already undid it." })),
  gone: Type.Optional(
    Type.Array(GoneChange, {
      description: "Why nothing is left to undo, for each path where that is known.",
    }),
  ),
});
export type UndoneCheckpoint = Static<typeof UndoneCheckpoint>;

const state = () =>
  Type.Union((["absent", "file", "dir", "symlink", "other"] as const).map((kind) => Type.Literal(kind)));

export const ConflictFields = Named("UndoConflict", {
  below: Type.Optional(
    Type.String({ description: "What cannot be restored because `path` is not a folder now." }),
  ),
  by: Type.Optional(
    UInt64({
      description: "The later checkpoint that changed it. Absent: another program, unless `unrecorded`.",
    }),
  ),
  expected: state(),
  found: state(),
  holds: Type.Optional(
    Type.String({ description: "Something in the folder, which would have to be empty." }),
  ),
  kept_at: Type.Optional(Type.String({ description: "Where the later change is, if it was moved back." })),
  outcome: Type.Optional(
    Type.Union(
      (["kept", "overwritten"] as const).map((outcome) => Type.Literal(outcome)),
      { description: "With `force`: what became of the later change." },
    ),
  ),
  path: Type.String(),
  seq: UInt64(),
  stays: Type.Optional(Type.Literal(true, { description: "`force` would not undo it either." })),
  then_force: Type.Optional(
    Type.Literal(true, { description: "Once that is mended, only `force` undoes it, over what was mended." }),
  ),
  unrecorded: Type.Optional(
    Type.Literal(true, { description: "A call changed it, and the journal could not record that." }),
  ),
});
export type ConflictFields = Static<typeof ConflictFields>;

export const Resolved = Named("ResolvedTransaction", {
  more: Type.Optional(UInt32({ description: "Paths that are not listed." })),
  outcome: Type.Union(
    (["taken-back", "in-conflict", "given-up"] as const).map((outcome) => Type.Literal(outcome)),
  ),
  paths: Type.Array(Type.String(), {
    description:
      "In conflict: paths that others have changed. Given up: what had been removed, by its current names.",
  }),
});
export type Resolved = Static<typeof Resolved>;

const UndoCall = Named("UndoCall", {
  author: Type.Optional(Type.String()),
  force: Type.Optional(Type.Literal(true)),
  paths: Type.Optional(Type.Array(Type.String())),
  seq: Type.Optional(UInt64()),
  steps: Type.Optional(UInt32()),
  transaction: Type.Optional(Type.String()),
});
export type UndoCall = Static<typeof UndoCall>;

const UndoWay = Named("UndoWay", {
  calls: Type.Array(UndoCall, { description: "Calls of coder::undo, in this order." }),
  prepare: Type.Optional(
    Type.Literal(true, {
      description: "Before them, what is in the way has to be moved, and missing folders have to be made.",
    }),
  ),
});
export type UndoWay = Static<typeof UndoWay>;

export const response = Type.Object(
  {
    commands: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Programs that ran while files changed after the newest checkpoint, outside of `snapshot`: that is not undone. Those of another worker are known from the first call of coder::changes on.",
      }),
    ),
    conflicts: Type.Array(ConflictFields),
    more_later: Type.Optional(
      Type.Literal(true, {
        description: "No way is known, and later checkpoints than these were not all searched for one.",
      }),
    ),
    note: Type.Optional(Type.String({ description: "Why nothing of these checkpoints was undone." })),
    passed_over: Type.Optional(
      Type.Array(UInt64(), {
        description: "Newer checkpoints of which nothing is left to undo, without `seq` and `transaction`.",
      }),
    ),
    resolved: Type.Optional(Resolved),
    transaction: Type.Optional(Type.String()),
    undone: Type.Array(UndoneCheckpoint),
    untouched: Type.Optional(
      Type.Array(Type.String(), { description: "Those of `paths` that these checkpoints have not changed." }),
    ),
    unrecorded: Type.Optional(
      UInt32({ description: "The number of newer calls that have no checkpoint: that is not undone." }),
    ),
    ways: Type.Optional(
      Type.Array(UndoWay, {
        description:
          "If nothing was undone because of conflicts: the ways to undo it, each tried. Absent: none is known.",
      }),
    ),
  },
  { title: "UndoOutput" },
);
export type UndoAnswer = Static<typeof response>;

/** Returns whether the undo of a record changes anything in the end. */
export const isChanging = ({ restored, removed }: Pick<UndoneRecord, "restored" | "removed">): boolean =>
  restored.length + removed.length > 0;

/** Returns whether an undo changes nothing, because it leaves out what it could have changed. */
export const isAllSkipped = (undone: readonly UndoneCheckpoint[]): boolean =>
  !undone.some(isChanging) && undone.some(({ skipped }) => skipped.length > 0);
