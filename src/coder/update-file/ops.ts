/** The form of the ops of `coder::update-file` on the wire. */
import { type Static, Type } from "@sinclair/typebox";
import { Named, UInt32, UInt64 } from "../../base/schema/fragments.ts";

const ExpectMatches = () =>
  Type.Optional(UInt32({ since: "0.4.0", description: "Required number of matches; 0: none." }));

export const UpdateOp = Type.Union(
  [
    Type.Object(
      { at_line: UInt32(), content: Type.String(), op: Type.Literal("insert") },
      {
        description:
          "Insert `content` before line `at_line` (1-based). `at_line = lines+1` appends to end of file.",
      },
    ),
    Type.Object(
      { from_line: UInt32(), op: Type.Literal("remove"), to_line: UInt32() },
      { description: "Delete lines `from_line..=to_line` (1-based, inclusive)." },
    ),
    Type.Object(
      { content: Type.String(), from_line: UInt32(), op: Type.Literal("update_lines"), to_line: UInt32() },
      { description: "Overwrite lines `from_line..=to_line` with `content`." },
    ),
    Type.Object(
      {
        dot_matches_newline: Type.Boolean({ default: false, since: "0.4.0" }),
        expect_matches: ExpectMatches(),
        ignore_case: Type.Boolean({ default: false }),
        op: Type.Literal("replace"),
        pattern: Type.String(),
        replacement: Type.String(),
      },
      { description: "Replace all regex matches in the file body (after line ops)." },
    ),
    Type.Object(
      {
        expect_matches: ExpectMatches(),
        new_str: Type.String(),
        old_str: Type.String(),
        op: Type.Literal("str_replace"),
        replace_all: Type.Boolean({ default: false }),
      },
      {
        since: "0.4.0",
        description: "`old_str` occurs once, or `replace_all` is sent.",
      },
    ),
  ],
  { $id: "UpdateOp" },
);

export type Op = Static<typeof UpdateOp>;
export type ReplaceOp = Extract<Op, { op: "replace" }>;
export type StrReplaceOp = Extract<Op, { op: "str_replace" }>;

/** All ops of one file, in the order of the caller. */
export type Ops = readonly Op[];

/** The lines around the changes of an op. */
export const OpEcho = Named("OpEcho", {
  elided: Type.Optional(UInt64({ description: "Lines left out in the middle." })),
  from_line: UInt64({ description: "Number of the first line, after all ops; 0 without lines." }),
  lines: Type.Array(Type.String()),
  op_index: UInt32(),
  total_replacements: Type.Optional(UInt64()),
});
