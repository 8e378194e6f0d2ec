import { Type } from "@sinclair/typebox";
import { UInt32 } from "../base/schema/fragments.ts";
import { fixedKeys } from "./config.ts";
import { defineCoderFunction } from "./define.ts";

const response = Type.Object(
  {
    applied_reloads: UInt32(),
    last_error: Type.Optional(
      Type.String({
        description:
          "Present if the newest reload was rejected. It names the key at fault, if that is known; what may hold host paths and values is only in the worker's log.",
      }),
    ),
    last_outcome: Type.Union(
      (["started", "applied", "rejected"] as const).map((outcome) => Type.Literal(outcome)),
      { description: "Of the newest reload, or of the start if there was none." },
    ),
    needs_restart: Type.Array(Type.String(), {
      description:
        "The keys that cannot change while the worker runs: a reload that changes one is rejected.",
    }),
    rejected_reloads: UInt32(),
  },
  { title: "ConfigStatusOutput" },
);

/** `coder::config-status`: the outcome of a changed configuration (coder §21). */
export const configStatus = defineCoderFunction({
  id: "coder::config-status",
  since: "0.4.0",
  description:
    "Report the state of the configuration: whether the newest reload was applied, or was rejected, so that the old configuration stays.",
  summary: "whether a changed configuration is in force",
  brief: "Report whether the newest reload of the configuration was applied.",
  isRare: true,
  effect: "reads",
  paths: [],
  touchesNoFiles: true,
  isIdempotent: true,
  request: Type.Object({}, { title: "ConfigStatusInput" }),
  response,
  examples: [{ title: "The newest reload", request: {} }],
  handle(_, { configStatus: { state } }) {
    return {
      applied_reloads: state.applied,
      ...(state.error !== undefined && { last_error: state.error }),
      last_outcome: state.outcome,
      needs_restart: [...fixedKeys],
      rejected_reloads: state.rejected,
    };
  },
  render: ({ last_outcome, last_error, applied_reloads, rejected_reloads, needs_restart }) =>
    [
      `${last_outcome}; ${applied_reloads} reloads applied, ${rejected_reloads} rejected`,
      ...(last_error === undefined ? [] : [last_error]),
      `keys that need a restart: ${needs_restart.join(", ")}`,
    ].join("\n"),
});
