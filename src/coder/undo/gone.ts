/** The fate of a change that an undo finds to be gone already: its fields and its text. */
import { type Static, Type } from "@sinclair/typebox";
import { Named, UInt64 } from "../../base/schema/fragments.ts";
import type { LaterRecords } from "../../filesystem/journal/later-records.ts";
import type { RecordedStep } from "../../filesystem/journal/read-record.ts";
import { areCancelledAt } from "../../filesystem/journal/step-effects.ts";
import { renderName } from "../render/entry-text.ts";

export const GoneChange = Named("GoneChange", {
  by: Type.Optional(UInt64({ description: "The later call that changed it." })),
  cancelled: Type.Optional(
    Type.Literal(true, { description: "The undone checkpoints together left the path as before them." }),
  ),
  path: Type.String(),
  redone_by: Type.Optional(
    UInt64({
      description: "The undo of that undo. A command or another program has changed the path since.",
    }),
  ),
  undone_by: Type.Optional(UInt64({ description: "The undo that took it back." })),
  unrecorded: Type.Optional(
    Type.Literal(true, { description: "The last change is by a call, and was not recorded." }),
  ),
});
export type GoneChange = Static<typeof GoneChange>;

/**
 * Returns the fate of the change that the steps `own` of a checkpoint made at a path. `together` has the
 * steps of all checkpoints that are undone, if they are several.
 */
export function goneAmong(
  path: string,
  {
    own,
    together,
  }: { readonly own: readonly RecordedStep[]; readonly together: readonly RecordedStep[] | undefined },
  later: LaterRecords,
): GoneChange | undefined {
  if (together !== undefined && !areCancelledAt(together, path)) return goneAt(path, together, later);
  const one = goneAt(path, own, later);
  return one && { ...one, ...(together && { cancelled: true }) };
}

/** Returns the fate of the change that these steps made at a path, if it is known. */
function goneAt(path: string, steps: readonly RecordedStep[], later: LaterRecords): GoneChange | undefined {
  const last = steps.at(-1)!;
  const past = later.historyOf(path, steps, last.seq);
  if (past === undefined) return undefined;
  const { undoneBy, redoneBy, by } = past;
  const one: GoneChange = {
    ...(by !== undefined && { by }),
    path,
    ...(redoneBy !== undefined && { redone_by: redoneBy }),
    ...(undoneBy !== undefined && { undone_by: undoneBy }),
  };
  return isByRecord(one) || !later.isUnrecorded(path, last) ? one : { ...one, unrecorded: true };
}

/** Returns whether a checkpoint is the last cause of the change being gone. */
const isByRecord = ({ by, undone_by: undo, redone_by: redo }: GoneChange): boolean =>
  by !== undefined || (undo !== undefined && redo === undefined);

/** Returns the undos that took the changes back, or `undefined` if anything else has. */
export function undoesOf(gone: readonly GoneChange[]): number[] | undefined {
  const undos = gone.flatMap((one) => (one.redone_by === undefined ? (one.undone_by ?? []) : []));
  return undos.length === gone.length ? undos : undefined;
}

/** Maximum paths that are named with one reason. */
const maxGone = 3;

/** Renders the reasons for changes being gone, each with its paths. */
export function renderGone(undone: readonly { readonly seq: number }[], gone: readonly GoneChange[]): string {
  const paths = new Map<string, GoneChange[]>();
  for (const one of gone) {
    const reason = renderReason(one);
    const alike = paths.get(reason) ?? [];
    paths.set(reason, alike);
    alike.push(one);
  }
  const reasons = [...paths].map(([reason, all]) => `${renderPaths(all)}: ${reason}.`);
  return [`what ${numbersOf(undone)} changed is no longer there.`, ...reasons].join(" ");
}

/** Renders the paths of changes, each once. */
export function renderPaths(gone: readonly GoneChange[]): string {
  const paths = new Set<string>();
  for (const { path } of gone) {
    paths.add(path);
    if (paths.size > maxGone) break;
  }
  const named = [...paths].slice(0, maxGone).map(renderName).join(", ");
  return paths.size > maxGone ? `${named} and others` : named;
}

/** Renders the numbers of checkpoints. */
export const numbersOf = (undone: readonly { readonly seq: number }[]): string =>
  undone.map(({ seq }) => `#${seq}`).join(", ");

function renderReason({ by, cancelled, undone_by: undo, redone_by: redo, unrecorded }: GoneChange): string {
  if (cancelled) return "as before them, since they took each other back";
  if (by !== undefined) return `changed since by #${by}`;
  if (undo !== undefined && redo === undefined) return `undone by #${undo}`;
  const other = unrecorded ? "a change that was not recorded" : "a command or another program";
  return redo === undefined
    ? `changed since by ${other}`
    : `undone by #${undo} and redone by #${redo}, and changed since by ${other}`;
}

/** Returns the advice to undo the one checkpoint that left what is there now. */
export function redoAdvice(gone: readonly GoneChange[]): string | undefined {
  const [seq, ...others] = new Set(
    gone.map((one) => (one.cancelled ? undefined : (one.by ?? one.undone_by))),
  );
  if (seq === undefined || others.length > 0) return undefined;
  const what = gone.every((one) => one.by === undefined) ? "redo" : "get it back";
  return `To ${what}, undo #${seq}.`;
}
