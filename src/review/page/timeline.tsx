import { useMemo, useState } from "preact/hooks";
import { type Author, authorId } from "../../base/author.ts";
import { Counts } from "./diff/diff-view.tsx";
import { ListBox } from "./list-box.tsx";
import type { Timeline } from "./use-timeline.ts";
import {
  nameOfAuthor,
  plural,
  renderDeed,
  renderNumber,
  renderShortTime,
  sumLines,
  visible,
} from "./words.ts";
import type { Checkpoint, OutsideChange } from "./worker.ts";

/** Changes that other programs made together. */
export interface OutsideBatch {
  readonly id: number;
  readonly time: Date;
  readonly changes: readonly OutsideChange[];
}

export type Item =
  | { readonly kind: "checkpoint"; readonly checkpoint: Checkpoint }
  | { readonly kind: "outside"; readonly batch: OutsideBatch };

export const keyOf = (item: Item): string =>
  item.kind === "checkpoint" ? String(item.checkpoint.seq) : `outside ${item.batch.id}`;

interface TimelineViewProps {
  readonly timeline: Timeline;
  readonly outside: readonly OutsideBatch[];
  readonly path: string;
  readonly chosen: string | undefined;
  readonly onChoose: (item: Item) => void;
  readonly onPath: (path: string) => void;
}

const itemHeight = 66;

/** Renders the list of changes with their authors, newest first. */
export function TimelineView({ timeline, outside, path, chosen, onChoose, onPath }: TimelineViewProps) {
  const [text, setText] = useState("");
  const [author, setAuthor] = useState("");
  const authors = useMemo(() => authorsOf(timeline.checkpoints), [timeline.checkpoints]);
  const items = useMemo(
    () => itemsOf(timeline.checkpoints, outside).filter((item) => isWanted(item, { text, author, path })),
    [timeline.checkpoints, outside, text, author, path],
  );
  return (
    <section class="timeline" aria-label="Timeline">
      <Filters {...{ text, author, authors, path, onPath }} onText={setText} onAuthor={setAuthor} />
      {items.length === 0 ? (
        <Empty timeline={timeline} isFiltered={text !== "" || author !== "" || path !== ""} />
      ) : (
        <ListBox
          label="Checkpoints"
          items={items}
          height={itemHeight}
          keyOf={keyOf}
          chosen={chosen}
          isPartial={!timeline.isComplete}
          onChoose={onChoose}
          onEnd={timeline.more}
          render={(item) =>
            item.kind === "checkpoint" ? <CheckpointItem {...item} /> : <OutsideItem {...item} />
          }
        />
      )}
      <p class="status quiet" role="status">
        {timeline.isLoading
          ? "Loading …"
          : `${plural(items.length, "change")}${timeline.isComplete ? "" : ", more when you scroll"}`}
      </p>
    </section>
  );
}

interface FiltersProps extends Filter {
  readonly authors: readonly (readonly [id: string, name: string])[];
  readonly onText: (text: string) => void;
  readonly onAuthor: (author: string) => void;
  readonly onPath: (path: string) => void;
}

function Filters({ text, author, authors, path, onText, onAuthor, onPath }: FiltersProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onPath(String(new FormData(event.currentTarget as HTMLFormElement).get("path") ?? "").trim());
  };
  return (
    <div class="filters">
      <input
        type="search"
        aria-label="Filter by text"
        placeholder="Filter"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <select
        aria-label="Author"
        value={author}
        onChange={({ currentTarget }) => onAuthor(currentTarget.value)}
      >
        <option value="">Everyone</option>
        {authors.map(([id, name]) => (
          <option key={id} value={id}>
            {visible(name)}
          </option>
        ))}
        <option value="outside">Other programs</option>
      </select>
      <form onSubmit={submit}>
        <input
          key={path}
          type="text"
          name="path"
          aria-label="Path"
          placeholder="Path, such as src"
          defaultValue={path}
          autocomplete="off"
          spellcheck={false}
        />
        {path !== "" && (
          <button type="button" onClick={() => onPath("")}>
            All paths
          </button>
        )}
      </form>
    </div>
  );
}

function CheckpointItem({ checkpoint }: { readonly checkpoint: Checkpoint }) {
  const { seq, author, files, functionId, label, moreFiles, time } = checkpoint;
  const lines = sumLines(files);
  return (
    <>
      <span class={`dot ${hueOf(author)}`} aria-hidden="true" />
      <span class="deed">{visible(label ?? "") || renderDeed(functionId, files, moreFiles)}</span>
      <span class="when">{renderShortTime(time)}</span>
      <span class="who quiet">
        #{seq} · {visible(nameOfAuthor(author))}
      </span>
      <span class="lines">
        {files.length + moreFiles > 1 && (
          <span class="quiet">{renderNumber(files.length + moreFiles)} paths </span>
        )}
        {lines !== undefined && <Counts file={lines} />}
      </span>
    </>
  );
}

function OutsideItem({ batch: { changes, time } }: { readonly batch: OutsideBatch }) {
  const [first] = changes;
  const others = changes.length - 1;
  return (
    <>
      <span class="dot outside" aria-hidden="true" />
      <span class="deed">
        {first === undefined ? "" : `${first.kind} ${visible(first.path)}`}
        {others > 0 && ` and ${renderNumber(others)} more`}
      </span>
      <span class="when">{renderShortTime(time)}</span>
      <span class="who quiet">another program</span>
      <span class="lines" />
    </>
  );
}

function Empty({ timeline, isFiltered }: { readonly timeline: Timeline; readonly isFiltered: boolean }) {
  if (timeline.isLoading && timeline.error === undefined) return <p class="empty quiet">Loading …</p>;
  if (timeline.error !== undefined) return <p class="empty">{visible(timeline.error.message)}</p>;
  if (isFiltered && !timeline.isComplete)
    return (
      <p class="empty">
        Nothing among the newest {renderNumber(timeline.checkpoints.length)}.{" "}
        <button type="button" onClick={timeline.more}>
          Look further back
        </button>
      </p>
    );
  if (isFiltered) return <p class="empty">Nothing fits this filter.</p>;
  return <p class="empty">Nothing was changed yet. What an agent changes shows up here at once.</p>;
}

/** Returns the text that a filter selects by: clients without a session share it if they claim one name. */
const keyOfAuthor = (author: Author | undefined): string | undefined => authorId(author) ?? author?.client;

/** The number of colours that distinguish authors. */
const hues = 6;

function hueOf(author: Author | undefined): string {
  let sum = 0;
  for (const character of keyOfAuthor(author) ?? "") sum = (sum * 31 + character.charCodeAt(0)) % 9973;
  return `hue${sum % hues}`;
}

function authorsOf(checkpoints: readonly Checkpoint[]): [id: string, name: string][] {
  const found = new Map<string, string>();
  for (const { author } of checkpoints)
    if (author !== undefined) found.set(keyOfAuthor(author) ?? "", nameOfAuthor(author));
  return [...found];
}

/** Puts the changes of other programs among the checkpoints, by time. */
function itemsOf(checkpoints: readonly Checkpoint[], outside: readonly OutsideBatch[]): Item[] {
  const items: Item[] = [];
  let next = 0;
  for (const checkpoint of checkpoints) {
    for (; next < outside.length && outside[next]!.time >= checkpoint.time; next++)
      items.push({ kind: "outside", batch: outside[next]! });
    items.push({ kind: "checkpoint", checkpoint });
  }
  for (; next < outside.length; next++) items.push({ kind: "outside", batch: outside[next]! });
  return items;
}

interface Filter {
  readonly text: string;
  readonly author: string;
  readonly path: string;
}

function isWanted(item: Item, { text, author, path }: Filter): boolean {
  if (item.kind === "outside") {
    const isBelow = item.batch.changes.some((one) => one.path === path || one.path.startsWith(`${path}/`));
    const paths = item.batch.changes.map((one) => one.path);
    return (path === "" || isBelow) && (author === "" || author === "outside") && hasText(paths, text);
  }
  const { checkpoint } = item;
  const isOf =
    author === "" || (checkpoint.author !== undefined && keyOfAuthor(checkpoint.author) === author);
  return isOf && hasText(textsOf(checkpoint), text);
}

const textsOf = ({ seq, label, functionId, author, files, moreFiles }: Checkpoint): string[] => [
  `#${seq}`,
  label ?? "",
  renderDeed(functionId, files, moreFiles),
  nameOfAuthor(author),
  ...files.flatMap(({ path, from = "" }) => [path, from]),
];

const hasText = (texts: readonly string[], text: string): boolean =>
  texts.some((one) => one.toLowerCase().includes(text.toLowerCase()));
