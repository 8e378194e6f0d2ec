/** What other programs have changed since a transaction was stopped, of that which taking it back would touch. */
import { readEntries } from "../files/entries.ts";
import { pathIn } from "../jail/backend.ts";
import type { Jail } from "../jail/folder.ts";
import { inodeOf } from "../jail/inode.ts";
import { runAtOnce } from "../scheduling/time-slice.ts";
import { holdFolderAt, withFolderOf } from "./hold-folder.ts";
import { isUnchanged, statsAt } from "./identity.ts";
import type { RecordedEntry } from "./record.ts";
import { isListedPath, statPath, type Trace, traceSteps } from "./survey.ts";

/** The paths of what is not as the first `done` steps left it. */
export function findConflicts(jail: Jail, trace: Trace, done: number): string[] {
  const conflicts = new Set([...vacatedAgain(jail, trace, done), ...changedModes(jail, trace, done)]);
  const known = knownIn(trace, done);
  for (const { staged } of trace.entries.slice(0, done))
    if (staged !== undefined)
      for (const path of changesIn(jail, { recorded: staged.recorded!, path: staged.pathAfter(done), known }))
        conflicts.add(path);
  return [...conflicts].sort();
}

/** Names that were taken away, and that something has again, or whose folder is gone. */
function vacatedAgain(jail: Jail, { steps }: Trace, done: number): string[] {
  const { vacated } = traceSteps(steps, done).tree;
  return vacated.flatMap(({ folder, name }) => {
    if (folder.inside.has(name)) return [];
    const outer = folder.pathAfter(done);
    const isThere = outer === "" || statPath(jail, outer)?.isDirectory() === true;
    const path = pathIn(outer, name);
    const isFree = statPath(jail, path) === undefined || !isListedPath(jail, path);
    return isThere && isFree ? [] : [path];
  });
}

function changedModes(jail: Jail, { steps, entries }: Trace, done: number): string[] {
  return steps.slice(0, done).flatMap((step, index) => {
    if (step.kind !== "chmod") return [];
    const path = entries[index]!.entry!.pathAfter(done);
    const now = Number(statPath(jail, path)?.mode ?? 0n) & 0o7777;
    return modesOf(steps, step.entry).has(now) ? [] : [path];
  });
}

/** All modes that the transaction gives an entry, and those that it had. */
export function modesOf(steps: Trace["steps"], { dev, ino }: RecordedEntry): Set<number> {
  return new Set(
    steps.flatMap((step) =>
      step.kind === "chmod" && step.entry.ino === ino && step.entry.dev === dev
        ? [step.before, step.after]
        : [],
    ),
  );
}

/** What in staged folders the transaction itself may have changed since they were staged. */
interface Known {
  /** Entries, by device and inode. */
  readonly entries: ReadonlySet<string>;
  /** Paths of folders that got names or lost them. */
  readonly folders: ReadonlySet<string>;
  /** When the last entry was staged, in nanoseconds since 1970. */
  readonly newest: bigint;
}

function knownIn({ steps, tracked }: Trace, done: number): Known {
  const recorded = [...tracked].map((entry) => entry.recorded!);
  const folders = [...tracked].flatMap(({ places }) => places.map(({ folder }) => folder.pathAfter(done)));
  const times = steps.flatMap((step) => ("staged" in step ? [BigInt(step.staged.ctime)] : []));
  return {
    entries: new Set(recorded.map(inodeOf)),
    folders: new Set(folders),
    newest: times.reduce((latest, time) => (time > latest ? time : latest), 0n),
  };
}

interface StagedEntry {
  readonly recorded: RecordedEntry;
  readonly path: string;
  readonly known: Known;
}

/** A file that was staged must have its content still, and a folder must hold no more than what was staged in it. */
function changesIn(jail: Jail, { recorded, path, known }: StagedEntry): string[] {
  if (recorded.kind === "dir") return additionsTo(jail, path, known);
  const isKept = withFolderOf(jail, path, ({ folder, name }) =>
    folder.enter((at) => isUnchanged(at(name), recorded)),
  );
  return isKept ? [] : [path];
}

function additionsTo(jail: Jail, path: string, known: Known): string[] {
  using folder = holdFolderAt(jail, path);
  return runAtOnce(readEntries(folder)).flatMap(({ name, raw }) => {
    if (jail.isTemporary(name)) return [];
    const stats = folder.enter((at) => statsAt(at(raw)));
    // What the steps know is looked at for itself.
    if (stats === undefined || known.entries.has(inodeOf(stats))) return [];
    const inner = pathIn(path, name);
    if (stats.ctimeNs > known.newest && !known.folders.has(inner)) return [inner];
    return stats.isDirectory() ? additionsTo(jail, inner, known) : [];
  });
}
