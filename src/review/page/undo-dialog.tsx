import { useEffect, useRef, useState } from "preact/hooks";
import { DiffView } from "./diff/diff-view.tsx";
import type { ReadImages } from "./images.tsx";
import { plural, visible } from "./words.ts";
import {
  type ChangedFile,
  readNet,
  readNetImages,
  sendUndo,
  type UndoChoice,
  type Undone,
} from "./worker.ts";

/** An undo that a person considers. */
export interface UndoProposal {
  readonly title: string;
  readonly choice: UndoChoice;
  /** The changes to take back, with their diffs. */
  readonly files: readonly ChangedFile[];
  readonly readImages: ReadImages;
}

interface UndoDialogProps extends UndoProposal {
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

/** Renders the outcome of an undo, found by a dry run, and the button that carries it out. */
export function UndoDialog({ title, choice, files, readImages, onClose, onDone }: UndoDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  const { trial, error, isBusy, carryOut } = useUndo(choice, onDone);
  const isForced = trial !== undefined && trial.conflicts.length > 0;
  const changes = trial === undefined ? 0 : countOf(trial);
  return (
    <dialog ref={dialog} class="undo" aria-labelledby="undo-title" onClose={onClose}>
      <header>
        <h2 id="undo-title">{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current!.close()}>
          ✕
        </button>
      </header>
      <div class="body">
        {trial === undefined && error === undefined && (
          <p class="quiet">Trying it out, without changing anything …</p>
        )}
        {trial !== undefined && <Preview trial={trial} />}
        {isForced && <Conflicts conflicts={trial.conflicts} {...{ files, readImages }} />}
        {!isForced && changes > 0 && files.length > 0 && (
          <DiffView files={files} isReversed label="What would change" readImages={readImages} />
        )}
        {error !== undefined && (
          <p class="problem" role="alert">
            {visible(error.message)}
          </p>
        )}
      </div>
      <footer>
        <span class="quiet">An undo is a checkpoint too: undoing it is redo.</span>
        <span class="spring" />
        <button type="button" onClick={() => dialog.current!.close()}>
          Cancel
        </button>
        <button
          type="button"
          class={isForced ? "danger" : "primary"}
          disabled={(changes === 0 && !isForced) || isBusy}
          onClick={carryOut}
        >
          {isForced ? "Undo anyway" : "Undo"}
        </button>
      </footer>
    </dialog>
  );
}

/** Tries an undo, and returns the way to carry it out. Conflicts that arise before that are shown first. */
function useUndo(choice: UndoChoice, onDone: (sentence: string) => void) {
  const [trial, setTrial] = useState<Undone>();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    sendUndo(choice, { dry_run: true }).then(setTrial, setError);
  }, [choice]);
  const isForced = trial !== undefined && trial.conflicts.length > 0;
  const carryOut = () => {
    setBusy(true);
    setError(undefined);
    sendUndo(choice, isForced ? { force: true } : {})
      .then((done) => {
        if (done.conflicts.length > 0 && !isForced) setTrial(done);
        else onDone(sentenceOf(done));
      }, setError)
      .finally(() => setBusy(false));
  };
  return { trial, error, isBusy, carryOut };
}

function Preview({ trial: { undone, conflicts } }: { readonly trial: Undone }) {
  const restored = undone.flatMap((one) => one.restored);
  const removed = undone.flatMap((one) => one.removed);
  const skipped = undone.flatMap((one) => one.skipped);
  const by = undone.flatMap((one) => one.undone_by ?? []);
  if (conflicts.length > 0) return null;
  if (restored.length + removed.length === 0)
    return (
      <p>
        {by.length > 0
          ? `Nothing to undo: #${by[0]} has undone it already.`
          : "Nothing to undo: everything is as it was before."}
      </p>
    );
  return (
    <div class="effects">
      <Paths title="Would be restored" paths={restored} />
      <Paths title="Would be removed" paths={removed} />
      <Paths
        title="Would be left alone"
        paths={skipped.map(({ path, reason }) => `${path} (${reasons[reason] ?? reason})`)}
      />
    </div>
  );
}

const reasons: Readonly<Record<string, string>> = {
  unavailable: "the journal no longer keeps it",
  "in-the-way": "something else is there",
  protected: "it is protected",
  "root-gone": "the folder of its root is not there",
};

/** Paths that a list shows at once. */
const shownPaths = 6;

function Paths({ title, paths }: { readonly title: string; readonly paths: readonly string[] }) {
  if (paths.length === 0) return null;
  const more = paths.length - shownPaths;
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {paths.slice(0, shownPaths).map((path) => (
          <li key={path}>
            <bdi>{visible(path)}</bdi>
          </li>
        ))}
        {more > 0 && <li class="quiet">and {more} more</li>}
      </ul>
    </div>
  );
}

interface ConflictsProps extends Pick<UndoProposal, "files" | "readImages"> {
  readonly conflicts: Undone["conflicts"];
}

/**
 * Renders the files that differ from their state after the checkpoint, with its changes and the later ones.
 */
function Conflicts({ conflicts, files, readImages }: ConflictsProps) {
  const [later, setLater] = useState<readonly ChangedFile[]>();
  const [first] = conflicts;
  const newest = Math.max(...conflicts.map(({ seq }) => seq));
  const paths = conflicts.map(({ path }) => path);
  useEffect(() => {
    readNet(newest).then(
      (all) => setLater(all.filter(({ path, from = path }) => paths.includes(path) || paths.includes(from))),
      () => setLater([]),
    );
  }, [first]);
  const own = files.filter(({ path }) => paths.includes(path));
  return (
    <>
      <p class="problem" role="alert">
        {plural(conflicts.length, "path")} changed since. Nothing is undone unless you say so, and then what
        came later is lost too; undoing the undo brings it back.
      </p>
      <ul class="conflicts">
        {conflicts.map(({ path, by, found, expected }) => (
          <li key={path}>
            <bdi>{visible(path)}</bdi>:{" "}
            {by === undefined ? "another program has changed it" : `#${by} has changed it`}
            {found !== expected && ` (it was ${wordOf(expected)}, and is ${wordOf(found)})`}
          </li>
        ))}
      </ul>
      {own.length > 0 && (
        <DiffView files={own} isReversed label="What this undo takes back" readImages={readImages} />
      )}
      {later !== undefined && later.length > 0 && (
        <DiffView
          files={later}
          label="What was changed since"
          readImages={(file) => readNetImages(newest, file.path)}
        />
      )}
    </>
  );
}

const kindWords: Readonly<Record<string, string>> = {
  absent: "not there",
  file: "a file",
  dir: "a folder",
  symlink: "a link",
  other: "a special file",
};

const wordOf = (kind: string): string => kindWords[kind] ?? kind;

const countOf = ({ undone }: Undone): number =>
  undone.reduce((sum, { restored, removed }) => sum + restored.length + removed.length, 0);

const sentenceOf = (done: Undone): string => `Undone: ${plural(countOf(done), "path")}.`;
