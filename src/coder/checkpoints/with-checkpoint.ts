/**
 * The fields of all functions that change the tree: a label, the checkpoint of the call, and for those with
 * operations a notice.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { UInt64 } from "../../base/schema/fragments.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { Measured, WrittenAnswer } from "../../calls/contract/prepared-answer.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import type { CoderContext } from "../define.ts";

/** The last line of an answer whose changes have no checkpoint although the worker should keep a journal. */
const notRecorded = "[not recorded, so it cannot be undone]";

/** Maximum bytes that the number of a checkpoint adds to an answer, with that of its losses. */
const checkpointBytes = 96;

/** Returns the definition with the fields, if its calls change the tree. */
export function withCheckpoint(definition: FunctionDefinition): FunctionDefinition {
  if (definition.effect !== "writes") return definition;
  const { publishedIn, request, published, response, render, infersOperations } = definition;
  const since = publishedIn === undefined ? {} : { since: "0.4.0" };
  const label = Type.Optional(
    Type.String({ ...since, isRare: true, maxLength: 200, description: "A name for the checkpoint." }),
  );
  const checkpoint = Type.Optional(
    UInt64({ ...since, description: "The number of the checkpoint, for coder::undo, if one was made." }),
  );
  const losses = Type.Optional(
    UInt64({
      ...since,
      description:
        "The number of its changes that coder::undo cannot take back, if any; of a dry run, an estimate.",
    }),
  );
  const notice = Type.Optional(
    Type.String({ ...since, description: "The inferred kinds of operations that were sent without one." }),
  );
  return {
    ...definition,
    request: withField(request, { label }),
    ...(published !== undefined && { published: withField(published, { label }) }),
    response: withField(response, { checkpoint, losses, ...(infersOperations && { notice }) }),
    handle: (sent, context) => handle(definition, sent as Labelled, context as CoderContext),
    ...(render !== undefined && {
      *render(answer, wording, sent) {
        const made = render(answer, wording, sent);
        const rendered = typeof made === "object" && "next" in made ? yield* made : made;
        const { checkpoint: seq, losses: lost } = answer as Numbered;
        if (typeof rendered !== "string") return rendered;
        if ((sent as Labelled).dry_run && lost !== undefined)
          return `${rendered}\n[${lost} of these changes could not be undone]`;
        if (seq === undefined)
          return isUnrecorded(answer as object) ? `${rendered}\n${notRecorded}` : rendered;
        const losses =
          lost === undefined
            ? ""
            : `, ${lost} ${lost === 1 ? "change" : "changes"} of which cannot be undone`;
        return `${rendered}\n#${seq}${losses}`;
      },
    }),
  };
}

interface Labelled {
  readonly label?: string;
  readonly dry_run?: boolean;
}

/** Returns whether an answer is that of a call that has changed something and has no checkpoint. */
export const isUnrecorded = (answer: object): boolean => {
  const { checkpoint, losses }: Numbered = answer;
  return checkpoint === undefined && losses !== undefined;
};

interface Numbered {
  readonly checkpoint?: number;
  readonly losses?: number;
}

const withField = (schema: TSchema, field: Readonly<Record<string, TSchema>>): TSchema => ({
  ...schema,
  properties: { ...field, ...schema["properties"] },
});

async function handle(definition: FunctionDefinition, sent: Labelled, all: CoderContext) {
  const { label, dry_run: isTrial = false } = sent;
  const { journal, profile, maxAnswerBytes } = all;
  const isNamed = journal !== undefined && (profile.authors || label !== undefined);
  const notice = noticeOf(all);
  const reserved =
    (isNamed || profile.authors ? checkpointBytes : 0) + (notice === undefined ? 0 : jsonBytes({ notice }));
  const forecast = isTrial && profile.authors ? journal?.forecast() : undefined;
  const context = { ...all, label, forecast, maxAnswerBytes: maxAnswerBytes - reserved };
  const handled = await definition.handle(sent, context);
  const checkpoint = isNamed ? journal.checkpointOf(context) : undefined;
  const made = profile.authors || checkpoint !== undefined ? all.lossesOf(context) : 0;
  const losses = made + (forecast?.count ?? 0);
  const added = {
    ...(checkpoint !== undefined && { checkpoint }),
    ...(losses > 0 && { losses }),
    ...(notice !== undefined && { notice }),
  };
  if (Object.keys(added).length === 0 || handled instanceof WrittenAnswer) return handled;
  return handled instanceof Measured
    ? new Measured({ ...(handled.answer as object), ...added }, handled.bytes + jsonBytes(added) - 1)
    : { ...(handled as object), ...added };
}

/** Maximum operations that a notice names. */
const maxNamed = 10;

function noticeOf({ inferred = [] }: CoderContext): string | undefined {
  if (inferred.length === 0) return undefined;
  const more = inferred.length - maxNamed;
  const named = inferred.slice(0, maxNamed).join(", ") + (more > 0 ? `, and ${more} more` : "");
  return `No \`op\` was sent, so it was inferred from the other fields: ${named}.`;
}
