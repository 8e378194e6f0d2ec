/** The answer of `coder::undo` as text. */
import { renderAuthor } from "../../base/author.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Wording } from "../../calls/contract/wording.ts";
import { isUnrecorded } from "../checkpoints/with-checkpoint.ts";
import { renderName } from "../render/entry-text.ts";
import { joinLines, renderEach } from "../render/lines.ts";
import {
  type ConflictFields,
  isAllSkipped,
  isChanging,
  type Resolved,
  type UndoAnswer,
  type UndoneCheckpoint,
  type UndoWay,
} from "./answer.ts";
import { numbersOf, redoAdvice, renderGone, renderPaths } from "./gone.ts";
import { missingFolders, pathsInTheWay } from "./preparation.ts";

/** The parts of the request that the text depends on. */
interface UndoForm {
  readonly isTrial: boolean;
  /** Whether only some paths were to be undone. */
  readonly isLimited: boolean;
  /** The paths that were sent, if only some were to be undone. */
  readonly paths?: readonly string[] | undefined;
}

/** Renders what an undo has changed, or why it has changed nothing, and what to do next. */
export function* renderUndo(
  answer: UndoAnswer,
  form: UndoForm,
  sentence: Wording["sentence"],
): Steps<string> {
  const { undone, conflicts, resolved, commands, passed_over: passed, untouched, unrecorded } = answer;
  if (resolved !== undefined) return sentence(renderResolved(resolved));
  const changes = yield* renderEach(undone, renderUndone);
  return yield* joinLines([
    ...(passed === undefined ? [] : [renderPassed(passed)]),
    ...changes,
    ...conflicts.map(renderConflict),
    ...(untouched === undefined ? [] : [renderUntouched(untouched, undone)]),
    ...(commands === undefined ? [] : [renderCommands(commands, conflicts)]),
    ...(unrecorded === undefined ? [] : [renderUnrecorded(unrecorded)]),
    sentence(
      verdict(answer, {
        ...form,
        isRecorded: !isUnrecorded(answer),
        checkpoint: (answer as { readonly checkpoint?: number }).checkpoint,
      }),
    ),
  ]);
}

function renderResolved({ outcome, paths, more = 0 }: Resolved): string {
  const list = `${paths.map(renderName).join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
  switch (outcome) {
    case "taken-back":
      return "The transaction is taken back.";
    case "in-conflict":
      return `Nothing was changed${list === "" ? "" : `: another program has changed ${list}`}. Send force to keep what is there now, and to get back what the transaction had taken away.`;
    case "given-up":
      return `The transaction is given up: what is there now stays${list === "" ? "" : `, and what it had taken away is ${list}`}.`;
  }
}

/** Maximum number of programs that are named. */
const maxPrograms = 5;

function renderCommands(programs: readonly string[], conflicts: readonly ConflictFields[]): string {
  const named = programs.slice(0, maxPrograms).join(", ");
  const others = conflicts.some(({ outcome }) => outcome === "overwritten") ? " elsewhere" : "";
  return `[not undone${others}: the newer changes while commands (${named}) ran, which have no checkpoint]`;
}

/** Renders the newer checkpoints that an undo has passed over. */
function renderPassed(passed: readonly number[]): string {
  const what = passed.length === 1 ? "it" : "them";
  return `[passed over ${numbersOf(passed.map((seq) => ({ seq })))}: nothing of ${what} is left to undo]`;
}

const renderUnrecorded = (calls: number): string =>
  `[not undone: ${calls === 1 ? "a newer change that was" : `${calls} newer changes that were`} not recorded]`;

function renderConflict({ path, seq, by, unrecorded: isUnrecordedCall, ...rest }: ConflictFields): string {
  const unknown = isUnrecordedCall ? "a change that was not recorded" : "a command or another program";
  const cause = by === undefined ? unknown : `#${by}`;
  if (rest.below !== undefined)
    return `conflict: ${renderName(path)} was a folder when #${seq} changed what is in it, and is ${nowInstead[rest.found]}`;
  if (isGone(rest))
    return `conflict: ${renderName(path)} is not where #${seq} left it: ${cause} has taken it away`;
  return `conflict: ${renderName(path)} is not what #${seq} left there: ${cause} has changed it since${renderInTheWay(rest)}${renderHolding(rest)}${renderOutcome(rest)}`;
}

/** Describes what is at a path that would have to be a folder. */
const nowInstead: Readonly<Record<ConflictFields["found"], string>> = {
  absent: "not there now",
  dir: "another folder now",
  file: "a file now",
  other: "neither a folder nor a file now",
  symlink: "a link now",
};

/** Returns whether the entry that a step moved, or whose mode it changed, is not there. */
const isGone = ({ expected, found, stays, below }: Partial<ConflictFields>): boolean =>
  stays === true && below === undefined && expected !== "absent" && found !== "file" && found !== "dir";

/** Renders the kind of entry that stays where another one would return. */
const renderInTheWay = ({ expected, found, stays, holds }: Partial<ConflictFields>): string =>
  stays !== true || expected !== "absent" || found === undefined || holds !== undefined
    ? ""
    : `, and it is ${found === "dir" ? "a folder now" : nowInstead[found]}`;

const renderHolding = ({ holds }: Pick<ConflictFields, "holds">): string =>
  holds === undefined ? "" : `; ${renderName(holds)} is in it`;

function renderOutcome({ outcome, kept_at: at }: Pick<ConflictFields, "outcome" | "kept_at">) {
  if (outcome === undefined) return "";
  return `; that change is ${outcome}${at === undefined ? "" : ` in ${renderName(at)}`}`;
}

function renderUntouched(paths: readonly string[], undone: readonly { readonly seq: number }[]): string {
  const who = undone.length === 1 ? `#${undone[0]!.seq} has` : "these checkpoints have";
  return `[${who} not changed ${paths.map(renderName).join(", ")}]`;
}

function renderUndone(record: UndoneCheckpoint): string {
  const { seq, author, restored, removed, skipped, more } = record;
  return [
    `#${seq}${author === undefined ? "" : ` by ${renderAuthor(author)}`}`,
    ...restored.map((path) => `  restored: ${renderName(path)}`),
    ...removed.map((path) => `  removed: ${renderName(path)}`),
    ...skipped.map(({ path, reason }) => `  skipped: ${renderName(path)} (${reason})`),
    ...(more === undefined || restored.length + removed.length + skipped.length === 0
      ? []
      : [`  and ${more} more`]),
  ].join("\n");
}

/** Returns the ways to undo what was refused, or what a person may do if no calls are known that do it. */
function adviceOn({ conflicts, ways = [], more_later: isCut }: Lists, { paths }: UndoForm): string {
  const [way, other] = ways;
  const staying = conflicts.filter(({ stays }) => stays);
  if (way === undefined) {
    const searched = isCut ? " among the newest 200 checkpoints" : "";
    return `no calls are known${searched} that undo it. ${adviceByHand(conflicts, paths)}`;
  }
  if (way.prepare) {
    const isForced = way.calls.some(({ force }) => force);
    return `${preparationFor(staying)}, then ${renderCalls(way)}${isForced ? "" : ": force leaves that as it is"}`;
  }
  const calls = `send ${ways.map(renderCalls).join(", or ")}`;
  return (other ?? way).calls.some(({ force }) => force) ? `${calls} to undo over conflicts` : calls;
}

const renderCalls = ({ calls }: UndoWay): string =>
  calls.map((call) => `coder::undo ${JSON.stringify(call)}`).join(", then ");

/** Returns what a person may do where no calls are known. */
function adviceByHand(conflicts: readonly ConflictFields[], limit: readonly string[] | undefined): string {
  const seqs = [...new Set(conflicts.map(({ seq }) => seq))].sort((one, other) => other - one);
  const paths = named(conflicts.map(({ path }) => path));
  const state = seqs.length === 1 ? `#${seqs[0]} left` : "these checkpoints left";
  const calls = seqs
    .slice(0, maxNamed)
    .map((seq) => ({ seq, ...(limit !== undefined && { paths: [...limit] }) }));
  return `Ask the user to bring ${paths} into the state that ${state}, then send ${renderCalls({ calls })}`;
}

/** Returns what makes room for an undo that `force` does not carry out either. */
function preparationFor(staying: readonly ConflictFields[]): string {
  const [inTheWay, folders] = [pathsInTheWay(staying), missingFolders(staying)];
  return [
    ...(inTheWay.length === 0 ? [] : [`move away ${named(inTheWay)} with coder::move`]),
    ...(folders.length === 0 ? [] : [`make ${named(folders)} with the op make-folder of coder::transact`]),
  ].join(", ");
}

function named(all: readonly string[]): string {
  const paths = [...new Set(all)];
  return `${paths.slice(0, maxNamed).map(renderName).join(", ")}${paths.length > maxNamed ? " and others" : ""}`;
}

/** Maximum paths that the advice on conflicts names. */
const maxNamed = 3;

const nothingUndone = (isTrial: boolean): string => `Nothing ${isTrial ? "would be" : "was"} undone`;

type Lists = Pick<UndoAnswer, "undone" | "conflicts" | "ways" | "more_later">;

/** Returns why nothing of these checkpoints is left to undo, and what to do; `undefined` if something is. */
export function reasonOfNothing(lists: Lists, form: UndoForm): string | undefined {
  const { undone, conflicts } = lists;
  const { isTrial, isLimited } = form;
  if (undone.length === 0 || undone.some(isChanging)) return undefined;
  const nothing = nothingUndone(isTrial);
  if (isAllSkipped(undone) && conflicts.some(({ stays }) => stays))
    return `${nothing}; ${adviceOn(lists, form)}.`;
  if (isAllSkipped(undone))
    return `${nothing}. To undo another checkpoint, send its seq; coder::checkpoints lists them.`;
  const undos = new Set(undone.flatMap(({ undone_by: one }) => one ?? []));
  const by = [...undos].map((one) => `#${one}`);
  if (undone.length > 1 && undone.some(({ seq }) => undos.has(seq)))
    return `${nothing}: these took each other back, since an undo is a checkpoint too. Send the seq of the one to undo.`;
  if (undone.every((one) => one.undone_by !== undefined))
    return `${nothing}: undone already by ${by.join(", ")}. To redo, undo ${by.length === 1 ? by[0] : "those"}.`;
  const gone = undone.flatMap((one) => one.gone ?? []);
  if (gone.length > 0 && gone.every(({ cancelled }) => cancelled))
    return `${nothing}: ${numbersOf(undone)} took each other back, so nothing is left of them at ${renderPaths(gone)}. To undo #${undone[0]!.seq} alone, send its seq.`;
  const next = isLimited
    ? "coder::checkpoints with path lists what changed there; send its seq."
    : "Send the seq of the one to undo; coder::checkpoints lists them.";
  if (gone.length > 0) return `${nothing}: ${renderGone(undone, gone)} ${redoAdvice(gone) ?? next}`;
  if (isLimited) return `${nothing}: nothing at these paths is left to undo. ${next}`;
  return `${nothing}: what ${numbersOf(undone)} changed is no longer there. ${next}`;
}

interface VerdictOptions extends UndoForm {
  /** Whether the undo has a checkpoint, if it has changed anything. */
  readonly isRecorded: boolean;
  /** The number of its own checkpoint, if the answer has it. */
  readonly checkpoint: number | undefined;
}

function verdict(lists: Lists, options: VerdictOptions): string {
  const { undone, conflicts } = lists;
  const { isTrial, isRecorded, checkpoint } = options;
  if (undone.length === 0) return `${nothingUndone(isTrial)}; ${adviceOn(lists, options)}.`;
  const reason = reasonOfNothing(lists, options);
  if (reason !== undefined) return reason;
  const isOver = conflicts.some(({ outcome }) => outcome !== "kept");
  const over = isOver ? ", over what was changed since" : "";
  if (!isRecorded) return `Undone${over}.`;
  // Without fields, it would take back a later change of the caller, and a client without a session has none.
  const again = checkpoint === undefined ? "without fields" : `with seq ${checkpoint}`;
  return isTrial ? `Would be undone${over}.` : `Undone${over}; coder::undo ${again} takes this undo back.`;
}
