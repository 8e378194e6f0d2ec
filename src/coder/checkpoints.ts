import { type Static, Type } from "@sinclair/typebox";
import { isSameAuthor, renderAuthor } from "../base/author.ts";
import { createTimeSlice, runInSlices } from "../base/scheduling/time-slice.ts";
import { Named, UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Wording } from "../calls/contract/wording.ts";
import { changedPaths } from "../filesystem/journal/changed-paths.ts";
import { hasRecords } from "../filesystem/journal/journal-config.ts";
import {
  type JournalRecord,
  oldestKept,
  type RecordedStep,
  readRecords,
  stepsOf,
} from "../filesystem/journal/read-record.ts";
import { requestedEncoding } from "../text/encodings/requested-encoding.ts";
import { AuthorFields, By, describeAuthor, selectsAuthor } from "./checkpoints/authors.ts";
import { FollowedPath } from "./checkpoints/followed-path.ts";
import { isShown, requestedPath, type StepNames, someInPauses } from "./checkpoints/recorded-paths.ts";
import { requireJournal } from "./checkpoints/require-journal.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { FileEncoding } from "./fields/file-encoding.ts";
import { diffBytes, type NetAnswer, netAnswers } from "./net-view/answer.ts";
import { ComparedImages, ImagesField } from "./net-view/images.ts";
import { BackInTime, type PathDifference } from "./net-view/record-changes.ts";
import { renderName } from "./render/entry-text.ts";
import { renderEach } from "./render/lines.ts";
import { pauseOf } from "./services/pause.ts";

const request = Type.Object(
  {
    answer: Type.Optional(Type.Union(netAnswers.map((form) => Type.Literal(form)))),
    before_seq: Type.Optional(UInt64({ description: "Only checkpoints older than this one." })),
    by: By(true),
    encoding: FileEncoding(),
    images: ImagesField,
    limit: UInt32({ default: 50, description: "Maximum checkpoints in an answer." }),
    max_diff_bytes: Type.Optional(
      UInt32({
        isRare: true,
        description:
          "Maximum bytes of all diffs and images together. Default 65536; at most a quarter of `max_answer_bytes`.",
      }),
    ),
    path: Type.Optional(
      Type.String({
        description:
          "Only checkpoints that changed this path or something below it, under an earlier name too.",
      }),
    ),
    seq: Type.Optional(Type.Integer({ format: "uint64", minimum: 1 })),
  },
  { title: "CheckpointsInput" },
);

const CheckpointFile = Named("CheckpointFile", {
  added: Type.Optional(UInt64({ description: "Lines." })),
  change: Type.Union([
    Type.Literal("created"),
    Type.Literal("modified"),
    Type.Literal("deleted"),
    Type.Literal("moved"),
    Type.Literal("mode"),
  ]),
  diff: Type.Optional(Type.String()),
  diff_truncated: Type.Optional(Type.Boolean()),
  from: Type.Optional(Type.String()),
  images: Type.Optional(ComparedImages),
  note: Type.Optional(Type.String({ description: "Why there is no diff." })),
  path: Type.String(),
  removed: Type.Optional(UInt64({ description: "Lines." })),
  unavailable: Type.Optional(Type.Literal(true)),
});

const Checkpoint = Named("Checkpoint", {
  author: Type.Optional(AuthorFields),
  bytes: UInt64(),
  caller: Type.Optional(Type.String()),
  files: Type.Array(CheckpointFile),
  function_id: Type.Optional(Type.String()),
  label: Type.Optional(Type.String()),
  mine: Type.Optional(Type.Literal(true, { description: "The author of this call made it." })),
  more_files: Type.Optional(UInt32()),
  seq: UInt64(),
  transaction: Type.Optional(Type.String()),
  ts: Type.String({ description: "ISO 8601, in UTC." }),
});

const response = Type.Object(
  {
    checkpoints: Type.Array(Checkpoint),
    dropped_before: Type.Optional(
      UInt64({
        description: "At the end of the list: the journal no longer has older checkpoints than this one.",
      }),
    ),
    next_before_seq: Type.Optional(UInt64()),
    recorded_elsewhere: Type.Optional(
      Type.Literal(true, {
        description:
          "Nothing is recorded here; a server over other folders, which overlap, has recorded changes.",
      }),
    ),
  },
  { title: "CheckpointsOutput" },
);

/** Maximum characters of a name in an answer: a record may hold a longer one, and is one of many. */
const maxNameLength = 200;

/** Maximum paths listed for one checkpoint. */
const maxFiles = 50;

/** `coder::checkpoints`: what the journal can undo (coder §20). */
export const checkpoints = defineCoderFunction({
  id: "coder::checkpoints",
  since: "0.4.0",
  description:
    "List what calls changed, newest first, for as long as the journal keeps it. Each checkpoint is one call, which coder::undo can undo by its `seq`. `next_before_seq` is present if older ones are left.",
  summary: "what calls changed, newest first",
  brief: "List what coder::undo can undo, newest first: one checkpoint for each call.",
  effect: "reads",
  paths: [],
  takesScope: true,
  isIdempotent: true,
  request,
  response,
  examples: [
    { title: "The last changes", request: {} },
    { title: "What happened to one folder", request: { path: "src/models", limit: 10 } },
  ],
  async handle(request, context) {
    const { limit, before_seq: before = Number.POSITIVE_INFINITY, path, by, seq, answer } = request;
    const journal = requireJournal(context);
    const pause = pauseOf(context);
    const followed = path === undefined ? undefined : new FollowedPath(requestedPath(path, context));
    const isAuthor = selectsAuthor(by, context);
    const isWanted = (record: JournalRecord) =>
      record.seq < before && (seq === undefined || record.seq === seq) && isAuthor(record.author);
    const back =
      answer === undefined || answer === "names"
        ? undefined
        : new BackInTime(context, {
            maxBytes: answer === "stat" ? 0 : diffBytes(request.max_diff_bytes, context),
            withImages: answer === "diff" && request.images === true,
            encoding: requestedEncoding(request.encoding),
          });
    const found: Static<typeof Checkpoint>[] = [];
    const older = () => ({
      checkpoints: found,
      ...(found.length > 0 && { next_before_seq: found.at(-1)!.seq }),
    });
    let room = context.maxAnswerBytes / 2;
    const isPlain = back === undefined && followed === undefined;
    for await (const record of readRecords(journal, { ...(isPlain && { before }), pause })) {
      if (seq !== undefined && record.seq < seq) break;
      const selects = (one: StepNames) => followed?.selects(one) ?? true;
      const described = isWanted(record) ? await describe(record, { selects, pause }, context) : undefined;
      const files = described?.files.filter((file) => back === undefined || selects(file));
      await followed?.follow(record, pause);
      if (described === undefined) await back?.pass(record);
      if (described === undefined) continue;
      if (found.length === limit) return older();
      const shown = { ...described, files: files! };
      const differences = await back?.compare(record, new Set(files!.map((file) => file.path)));
      const checkpoint = differences === undefined ? shown : withDiffs(shown, differences, answer!);
      room -= JSON.stringify(checkpoint).length * 3;
      if (room < 0 && found.length > 0) return older();
      found.push(checkpoint);
    }
    if (seq !== undefined && found.length === 0) throw refuseCoder.undoNothing(`checkpoint ${seq}`);
    const oldest = oldestKept(journal);
    const isElsewhere =
      context.profile.explained_errors &&
      !hasRecords(journal.state) &&
      context.findOtherJournals().length > 0;
    return {
      checkpoints: found,
      ...(seq === undefined && oldest > 1 && { dropped_before: oldest }),
      ...(isElsewhere && { recorded_elsewhere: true as const }),
    };
  },
  *render(answer, { sentence }, sent) {
    const { checkpoints: found, next_before_seq: next, dropped_before: dropped } = answer;
    const none = answer.recorded_elsewhere
      ? `Nothing is recorded here. ${elsewhere}`
      : dropped === undefined
        ? nothingRecorded(sent)
        : "No such checkpoint is kept.";
    const lines = yield* renderEach(found, (checkpoint) => renderCheckpoint(checkpoint, sentence));
    return [
      ...(found.length === 0 ? [none] : lines),
      ...(dropped === undefined ? [] : [`[the journal no longer has the checkpoints before #${dropped}]`]),
      ...(next === undefined ? [] : [`Older ones: before_seq ${next}`]),
    ].join("\n");
  },
});

/** Says that nothing is recorded of what a request selects. */
function nothingRecorded({ path, by, before_seq: before }: Partial<Static<typeof request>>): string {
  const author = by === undefined ? "" : ` by ${by === "me" ? "you" : by}`;
  const place = path ? ` at ${renderName(path)}` : "";
  return `Nothing is recorded${author}${place}${before ? ` before #${before}` : ""}.`;
}

/** The advice to a caller whose changes another worker may have recorded. */
const elsewhere =
  "A server over other folders, which overlap with these, has recorded changes: ask the user to run `coder checkpoints` with the folders of that server.";

function withDiffs(
  checkpoint: Static<typeof Checkpoint>,
  differences: ReadonlyMap<string, PathDifference>,
  answer: NetAnswer,
): Static<typeof Checkpoint> {
  const files = checkpoint.files.map((file) => {
    const { found, images } = differences.get(file.path) ?? {};
    if (found === undefined || found === "a folder") return file;
    if (typeof found === "string") return { ...file, note: found, ...(images && { images }) };
    const { diff, added, removed, isTruncated } = found;
    const lines = { ...file, added, removed };
    if (answer === "stat") return lines;
    return { ...lines, diff, ...(isTruncated && { diff_truncated: true }) };
  });
  return { ...checkpoint, files };
}

interface Describing {
  readonly selects: (change: StepNames) => boolean;
  readonly pause: () => Promise<void>;
}

/** Returns the description, or `undefined` if no part of the record is selected and visible. */
async function describe(
  record: JournalRecord,
  { selects, pause }: Describing,
  { jail, namesAuthors, author: own }: CoderContext,
): Promise<Static<typeof Checkpoint> | undefined> {
  const { seq, ts, function_id, caller, author, label, transaction, steps, bytes } = record;
  // Only steps that an undo would revert count: the others do not exist for the call.
  const shown = await stepsOf(record, (step) => isShown(step, jail), pause);
  const visible = await runInSlices(changedPaths(shown), createTimeSlice());
  // A call whose changes take each other back has a checkpoint without files.
  if (!(await someInPauses(visible.length > 0 ? visible : shown, selects, pause))) return undefined;
  const bytesOf = (all: readonly RecordedStep[]) => all.reduce((sum, step) => sum + step.bytes, 0);
  const files = visible.slice(0, maxFiles);
  const more = visible.length - files.length;
  return {
    seq,
    ts: new Date(ts).toISOString(),
    ...(function_id !== undefined && { function_id: function_id.slice(0, maxNameLength) }),
    ...(caller !== undefined && { caller: caller.slice(0, maxNameLength) }),
    ...(namesAuthors && author !== undefined && { author: describeAuthor(author) }),
    ...(namesAuthors && isSameAuthor(own, author) && { mine: true as const }),
    ...(label !== undefined && { label: label.slice(0, maxNameLength) }),
    ...(transaction !== undefined && { transaction }),
    files,
    ...(more > 0 && { more_files: more }),
    bytes: bytes - bytesOf(steps) + bytesOf(shown),
  };
}

/** An undo restores what was deleted or changed, and removes what was created, as its own answer says. */
const wordsOfUndo: Readonly<Record<string, string>> = {
  created: "restored",
  modified: "restored",
  mode: "restored",
  deleted: "removed",
};

function renderCheckpoint(checkpoint: Static<typeof Checkpoint>, sentence: Wording["sentence"]): string {
  const { seq, ts, function_id: id, author, mine: isMine, label, files, more_files: more } = checkpoint;
  const by = author === undefined || isMine ? "" : `by ${renderAuthor(author)}`;
  const head = [`#${seq}`, ts.replace("T", " ").slice(0, 19), sentence(id ?? ""), by, renderName(label ?? "")]
    .filter(Boolean)
    .join("  ");
  const words = id === "coder::undo" ? wordsOfUndo : {};
  const lines = files.flatMap((file) => {
    const { path, from, change, unavailable, added, removed, diff, diff_truncated: isTruncated, note } = file;
    const what = `${from === undefined ? "" : `${renderName(from)} to `}${renderName(path)}`;
    const isSame = change === "mode" && added === 0 && removed === 0;
    const counts = added === undefined || isSame ? "" : ` +${added} -${removed}`;
    const line = `  ${words[change] ?? change}: ${what}${counts}${unavailable ? " (cannot be undone)" : ""}`;
    return [
      line,
      ...(diff === undefined || diff === "" ? [] : [diff.replace(/\n$/, "")]),
      ...(isTruncated ? ["[more of it is not shown]"] : []),
      ...(note === undefined ? [] : [sentence(`[no diff: ${note}]`)]),
    ];
  });
  if (files.length === 0 && more === undefined) lines.push("  its changes took each other back");
  return [head, ...lines, ...(more === undefined ? [] : [`  and ${more} more`])].join("\n");
}
