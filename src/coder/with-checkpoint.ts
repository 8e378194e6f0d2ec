/** The fields that all functions share that change the tree: a label, and the checkpoint of the call. */
import { type TSchema, Type } from "@sinclair/typebox";
import { UInt64 } from "../base/schema/fragments.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { Measured, WrittenAnswer } from "../calls/contract/prepared-answer.ts";
import { jsonBytes } from "../text/sizes/json-size.ts";
import type { CoderContext } from "./define.ts";

/** Maximum bytes that the number of a checkpoint adds to an answer. */
const checkpointBytes = 64;

/** Returns the definition with the fields, if its calls change the tree. */
export function withCheckpoint(definition: FunctionDefinition): FunctionDefinition {
  if (definition.effect !== "writes") return definition;
  const { publishedIn, request, published, response, render } = definition;
  const since = publishedIn === undefined ? {} : { since: "0.4.0" };
  const label = Type.Optional(
    Type.String({ ...since, isRare: true, maxLength: 200, description: "What to call the checkpoint." }),
  );
  const checkpoint = Type.Optional(
    UInt64({ ...since, description: "The number of the checkpoint, for coder::undo, if one was made." }),
  );
  return {
    ...definition,
    request: withField(request, { label }),
    ...(published !== undefined && { published: withField(published, { label }) }),
    response: withField(response, { checkpoint }),
    handle: (sent, context) => handle(definition, sent as Labelled, context as CoderContext),
    ...(render !== undefined && {
      render(answer, wording, sent) {
        const rendered = render(answer, wording, sent);
        const { checkpoint: seq } = answer as Numbered;
        return seq === undefined || typeof rendered !== "string" ? rendered : `${rendered}\n#${seq}`;
      },
    }),
  };
}

interface Labelled {
  readonly label?: string;
}

interface Numbered {
  readonly checkpoint?: number;
}

const withField = (schema: TSchema, field: Readonly<Record<string, TSchema>>): TSchema => ({
  ...schema,
  properties: { ...field, ...schema["properties"] },
});

async function handle(definition: FunctionDefinition, sent: Labelled, all: CoderContext) {
  const { label } = sent;
  const { journal, profile, maxAnswerBytes } = all;
  const isNamed = journal !== undefined && (profile.authors || label !== undefined);
  const context = { ...all, label, maxAnswerBytes: maxAnswerBytes - (isNamed ? checkpointBytes : 0) };
  const handled = await definition.handle(sent, context);
  const checkpoint = isNamed ? journal.checkpointOf(context) : undefined;
  if (checkpoint === undefined || handled instanceof WrittenAnswer) return handled;
  const added = { checkpoint };
  return handled instanceof Measured
    ? new Measured({ ...(handled.answer as object), ...added }, handled.bytes + jsonBytes(added) - 1)
    : { ...(handled as object), ...added };
}
