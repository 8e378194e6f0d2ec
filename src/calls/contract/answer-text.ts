import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import type { FunctionDefinition } from "./definition.ts";
import type { Rendered, Wording } from "./wording.ts";

/** A call that was answered. */
export interface AnsweredCall {
  readonly definition: FunctionDefinition;
  /** The payload in the form that was sent. */
  readonly payload: unknown;
  readonly answer: unknown;
}

/** Renders an answer for a reader, in slices. Returns `undefined` if the function has no text for it. */
export async function renderAnswer(call: AnsweredCall, wording: Wording): Promise<Rendered | undefined> {
  const made = call.definition.render?.(call.answer as never, wording, call.payload as object);
  const isInSteps = typeof made === "object" && "next" in made;
  const rendered = isInSteps ? await runInSlices(made, createTimeSlice()) : made;
  return typeof rendered === "string" && isDryRun(call)
    ? `${rendered}\n[dry run: nothing was changed]`
    : rendered;
}

function isDryRun({ definition: { request }, payload }: AnsweredCall): boolean {
  return "dry_run" in request["properties"] && (payload as { dry_run?: unknown }).dry_run === true;
}
