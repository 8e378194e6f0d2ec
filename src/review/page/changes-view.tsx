import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { authorId } from "../../base/author.ts";
import { DiffView } from "./diff/diff-view.tsx";
import { go, renderRoute } from "./route.ts";
import type { OutsideBatch } from "./timeline.tsx";
import type { UndoProposal } from "./undo-dialog.tsx";
import { useLoaded } from "./use-loaded.ts";
import { nameOfAuthor, plural, renderDeed, renderWholeTime, visible } from "./words.ts";
import {
  type ChangedFile,
  type Checkpoint,
  readAfter,
  readCheckpoint,
  readCheckpointImages,
  readCheckpoints,
  readContent,
  readNet,
  readNetImages,
} from "./worker.ts";

interface ActingProps {
  /** Absent if nothing may be changed. */
  readonly onUndo: ((proposal: UndoProposal) => void) | undefined;
}

interface CheckpointViewProps extends ActingProps {
  readonly seq: number;
  readonly path: string;
}

/** Renders a checkpoint: its author, its changes, and their undo. */
export function CheckpointView({ seq, path, onUndo }: CheckpointViewProps) {
  const { value, error } = useLoaded(
    () => readCheckpoint(seq, path === "" ? undefined : path),
    `${seq} ${path}`,
  );
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="empty quiet">Loading …</p>;
  const { author, files, functionId, label, moreFiles, time } = value;
  const isUndo = functionId === "coder::undo";
  const verb = isUndo ? "Redo" : "Undo";
  const readImages = (file: ChangedFile) => readCheckpointImages(seq, file.path);
  const propose = (only?: ChangedFile) =>
    onUndo?.({
      title: `${verb} #${seq}${only === undefined ? "" : `: ${visible(only.path)}`}?`,
      choice: { seq, ...(only !== undefined ? { paths: [only.path] } : path !== "" && { paths: [path] }) },
      files: only === undefined ? files : [only],
      readImages,
    });
  const session = author === undefined ? undefined : authorId(author);
  return (
    <article aria-label={`Checkpoint ${seq}`}>
      <Heading title={visible(label ?? "") || renderDeed(functionId, files, moreFiles)}>
        <p class="quiet">
          #{value.seq} · {visible(nameOfAuthor(author))} · <time>{renderWholeTime(time)}</time> · {functionId}
          {moreFiles > 0 && ` · ${plural(moreFiles, "more path")} not listed`}
        </p>
        <div class="actions">
          {onUndo !== undefined && (
            <button type="button" class="primary" onClick={() => propose()}>
              {verb} …
            </button>
          )}
          <a class="button" href={renderRoute({ view: "since", seq: seq - 1 })}>
            Compare from here to now
          </a>
          {session !== undefined && (
            <a class="button" href={renderRoute({ view: "session", session })}>
              Everything of this author
            </a>
          )}
        </div>
      </Heading>
      <DiffView
        files={files}
        label="Changes"
        readWhole={({ path: changed }) => readAfter(seq, changed)}
        readImages={readImages}
        actions={(file) => (
          <FileActions file={file} verb={verb} onUndo={onUndo && files.length > 1 ? propose : undefined} />
        )}
      />
    </article>
  );
}

interface FileActionsProps {
  readonly file: ChangedFile;
  readonly verb: string;
  readonly onUndo: ((file: ChangedFile) => void) | undefined;
}

function FileActions({ file, verb, onUndo }: FileActionsProps) {
  const name = visible(file.path);
  return (
    <>
      <a href={renderRoute({ view: "timeline", path: file.path })} aria-label={`History of ${name}`}>
        History
      </a>
      {file.kind !== "deleted" && (
        <a href={renderRoute({ view: "files", path: file.path })} aria-label={`Look at ${name}`}>
          Look
        </a>
      )}
      {onUndo !== undefined && (
        <button type="button" class="plain" aria-label={`${verb} ${name}`} onClick={() => onUndo(file)}>
          {verb} …
        </button>
      )}
    </>
  );
}

interface SinceViewProps {
  readonly seq: number;
  /** Differs after each change of the tree. */
  readonly turn: number;
}

/** Renders the difference between the tree after a checkpoint and the current tree. */
export function SinceView({ seq, turn }: SinceViewProps) {
  const { value, error } = useLoaded(() => readNet(seq), String(seq), turn);
  return (
    <article aria-label="Comparison">
      <Heading
        title={seq === 0 ? "Everything since the journal began" : `Everything since checkpoint #${seq}`}
      >
        <p class="quiet">Each file once, as it differs now, whoever changed it.</p>
        <form
          class="actions"
          onSubmit={(event) => {
            event.preventDefault();
            const given = Number(new FormData(event.currentTarget).get("seq"));
            go({ view: "since", seq: Number.isSafeInteger(given) ? Math.max(0, given) : 0 });
          }}
        >
          <label>
            After checkpoint <input key={seq} type="number" name="seq" min="0" defaultValue={seq} />
          </label>
          <button type="submit">Compare</button>
        </form>
      </Heading>
      {error !== undefined && <Problem error={error} />}
      {value === undefined && error === undefined && <p class="empty quiet">Loading …</p>}
      {value?.length === 0 && <p class="empty">Nothing differs.</p>}
      {value !== undefined && value.length > 0 && (
        <DiffView
          files={value}
          label="Differences"
          readWhole={readNow}
          readImages={(file) => readNetImages(seq, file.path)}
          actions={(file) => (
            <>
              <span class="quiet">{visible((file.by ?? []).map(renderBy).join(", "))}</span>
              <FileActions file={file} verb="Undo" onUndo={undefined} />
            </>
          )}
        />
      )}
    </article>
  );
}

const readNow = async ({ path }: ChangedFile) => (await readContent(path)).content;

const renderBy = (by: string): string => (by === "me" ? "you" : by);

interface SessionViewProps extends ActingProps {
  readonly session: string;
  readonly turn: number;
}

/** Renders everything that one author has changed, each file once. */
export function SessionView({ session, turn, onUndo }: SessionViewProps) {
  const { value, error } = useLoaded(() => readSession(session), session, turn);
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="empty quiet">Loading …</p>;
  const { checkpoints, files } = value;
  const [newest] = checkpoints;
  if (newest === undefined) return <p class="empty">The journal has no checkpoint of this author.</p>;
  const name = visible(nameOfAuthor(newest.author));
  const readImages = (file: ChangedFile) => readNetImages(checkpoints.at(-1)!.seq - 1, file.path);
  return (
    <article aria-label={`Session ${session}`}>
      <Heading title={name}>
        <p class="quiet">
          {plural(checkpoints.length, "checkpoint")}, from #{checkpoints.at(-1)!.seq} to #{newest.seq}; each
          file once, as it differs now.
        </p>
        <div class="actions">
          {onUndo !== undefined && (
            <button
              type="button"
              class="primary"
              onClick={() =>
                onUndo({
                  title: `Undo all ${plural(checkpoints.length, "checkpoint")} of ${name}?`,
                  choice: { author: session, steps: checkpoints.length },
                  files,
                  readImages,
                })
              }
            >
              Undo all …
            </button>
          )}
        </div>
      </Heading>
      {files.length === 0 ? (
        <p class="empty">Nothing of it is left: every file is as it was before.</p>
      ) : (
        <DiffView
          files={files}
          label="Net changes"
          readWhole={readNow}
          readImages={readImages}
          actions={(file) => <FileActions file={file} verb="Undo" onUndo={undefined} />}
        />
      )}
    </article>
  );
}

interface Session {
  readonly checkpoints: readonly Checkpoint[];
  readonly files: readonly ChangedFile[];
}

async function readSession(session: string): Promise<Session> {
  const checkpoints: Checkpoint[] = [];
  let before: number | undefined;
  do {
    const page = await readCheckpoints({ before, limit: 1000, answer: "names" });
    checkpoints.push(...page.checkpoints.filter(({ author }) => author && authorId(author) === session));
    before = page.next;
  } while (before !== undefined);
  if (checkpoints.length === 0) return { checkpoints, files: [] };
  const own = new Set(checkpoints.map(({ seq }) => seq));
  const net = await readNet(checkpoints.at(-1)!.seq - 1);
  return { checkpoints, files: net.filter((file) => file.checkpoints.some((seq) => own.has(seq))) };
}

/** Changes of other programs, which the journal does not keep. */
export function OutsideView({ batch: { changes, time } }: { readonly batch: OutsideBatch }) {
  const files = useMemo(
    () => changes.map(({ path, kind }) => ({ path, kind, note: "the journal keeps changes of calls only" })),
    [changes],
  );
  return (
    <article aria-label="Changes of other programs">
      <Heading title="Changed by another program">
        <p class="quiet">{renderWholeTime(time)} · not through the worker, so it cannot be undone here.</p>
      </Heading>
      <DiffView
        files={files}
        label="Changes"
        actions={(file) => <FileActions file={file} verb="Undo" onUndo={undefined} />}
      />
    </article>
  );
}

function Heading({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <header class="heading">
      <h2>
        <bdi>{title}</bdi>
      </h2>
      {children}
    </header>
  );
}

export function Problem({ error }: { readonly error: Error }) {
  return (
    <p class="empty problem" role="alert">
      {visible(error.message)}
    </p>
  );
}
