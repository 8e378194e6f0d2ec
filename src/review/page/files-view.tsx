import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem } from "./changes-view.tsx";
import { CodeText } from "./diff/code.tsx";
import { useLanguages } from "./diff/diff-view.tsx";
import { Block, languageOf } from "./highlight.ts";
import { imageTypeOf } from "./images.tsx";
import { RefusedCall } from "./link.ts";
import { ListBox } from "./list-box.tsx";
import { go, renderRoute } from "./route.ts";
import { useLoaded } from "./use-loaded.ts";
import { useVirtual } from "./virtual.ts";
import { parentOf, plural, renderBytes, renderNumber, visible } from "./words.ts";
import {
  type FolderEntry,
  type FoundLine,
  readContent,
  readFolder,
  type ShownContent,
  searchFor,
} from "./worker.ts";

interface FilesViewProps {
  readonly path: string;
  /** The line to show first. */
  readonly line: number | undefined;
  readonly turn: number;
}

/** Renders the current files, read by the functions that agents use. */
export function FilesView({ path, line, turn }: FilesViewProps) {
  const [folder, setFolder] = useState(parentOf(path));
  const [query, setQuery] = useState("");
  useEffect(() => {
    if (path !== "" && parentOf(path) !== folder) setFolder(parentOf(path));
  }, [path]);
  return (
    <>
      <section class="timeline" aria-label="Folder">
        <SearchField query={query} onQuery={setQuery} />
        {query === "" ? (
          <FolderView folder={folder} chosen={path} turn={turn} onFolder={setFolder} />
        ) : (
          <ResultsView query={query} chosen={path} line={line} turn={turn} />
        )}
      </section>
      <div class="detail">
        {path === "" ? <p class="empty quiet">Choose a file.</p> : <FileView {...{ path, line, turn }} />}
      </div>
    </>
  );
}

interface FolderViewProps {
  readonly folder: string;
  readonly chosen: string;
  readonly turn: number;
  readonly onFolder: (folder: string) => void;
}

const joined = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

function FolderView({ folder, chosen, turn, onFolder }: FolderViewProps) {
  const { value, error } = useLoaded(async () => sorted(await readFolder(folder)), folder, turn);
  const open = (entry: FolderEntry) => {
    if (entry.kind === "dir") onFolder(joined(folder, entry.name));
    else go({ view: "files", path: joined(folder, entry.name) });
  };
  const names = folder === "" ? [] : folder.split("/");
  return (
    <>
      <nav class="crumbs" aria-label="Path of the folder">
        <button type="button" class="plain" onClick={() => onFolder("")}>
          Base folder
        </button>
        {names.map((name, index) => (
          <button
            key={index}
            type="button"
            class="plain"
            onClick={() => onFolder(names.slice(0, index + 1).join("/"))}
          >
            / {visible(name)}
          </button>
        ))}
      </nav>
      {error !== undefined && <Problem error={error} />}
      {value !== undefined && (
        <ListBox
          label="Files"
          items={value}
          height={34}
          keyOf={({ name }) => joined(folder, name)}
          chosen={chosen}
          onChoose={open}
          render={(entry) => <EntryItem entry={entry} />}
        />
      )}
      <p class="status quiet" role="status">
        {value === undefined ? "Loading …" : plural(value.length, "entry", "entries")}
      </p>
    </>
  );
}

interface SearchFieldProps {
  readonly query: string;
  readonly onQuery: (query: string) => void;
}

/** Searches while a person types, and a moment after the last key. */
function SearchField({ query, onQuery }: SearchFieldProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = (text: string, milliseconds: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onQuery(text.trim()), milliseconds);
  };
  return (
    <div class="search">
      <input
        type="search"
        aria-label="Search in files"
        placeholder="Search in names and contents"
        defaultValue={query}
        maxLength={maxQueryCharacters}
        spellcheck={false}
        onInput={({ currentTarget }) => search(currentTarget.value, currentTarget.value === "" ? 0 : 200)}
      />
    </div>
  );
}

/** Maximum characters of a search. */
const maxQueryCharacters = 1000;

interface ResultsViewProps {
  readonly query: string;
  readonly chosen: string;
  readonly line: number | undefined;
  readonly turn: number;
}

/** Renders the lines and names that a search finds in the files that agents may see. */
function ResultsView({ query, chosen, line, turn }: ResultsViewProps) {
  const { value, error } = useLoaded(() => searchFor(query), query, turn);
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {value !== undefined && (
        <ListBox
          label="Results"
          items={value.found}
          height={48}
          keyOf={keyOfFound}
          chosen={keyOfFound({ path: chosen, ...(line !== undefined && { line }) })}
          onChoose={({ path, line: at }) => go({ view: "files", path, line: at })}
          render={(one) => <FoundItem found={one} />}
        />
      )}
      <p class="status quiet" role="status">
        {value === undefined
          ? "Searching …"
          : `${plural(value.found.length, "result")}${value.isCut ? ", and more that are not shown" : ""}`}
      </p>
    </>
  );
}

const keyOfFound = ({ path, line = 0 }: FoundLine): string => `${line} ${path}`;

function FoundItem({ found: { path, line, text } }: { readonly found: FoundLine }) {
  return (
    <>
      <span class="arrow" aria-hidden="true" />
      <span class="deed">
        <bdi>{visible(path)}</bdi>
      </span>
      <span class="when quiet">{line === undefined ? "name" : `line ${renderNumber(line)}`}</span>
      <code class="who quiet">{visible(text?.trim() ?? "")}</code>
    </>
  );
}

/** Returns the entries with folders first. */
const sorted = (entries: readonly FolderEntry[]): FolderEntry[] =>
  entries.toSorted((one, other) => Number(other.kind === "dir") - Number(one.kind === "dir"));

const marks: Readonly<Record<FolderEntry["kind"], string>> = { dir: "▸", file: "", symlink: "↪", other: "?" };

function EntryItem({
  entry: { name, kind, size, non_accessible: isDenied },
}: {
  readonly entry: FolderEntry;
}) {
  return (
    <>
      <span class="arrow" aria-hidden="true">
        {marks[kind]}
      </span>
      <span class="deed">
        <bdi>{visible(name)}</bdi>
        {kind === "dir" && "/"}
      </span>
      <span class="when quiet">{isDenied ? "denied" : kind === "file" ? renderBytes(size) : ""}</span>
    </>
  );
}

function FileView({ path, line, turn }: FilesViewProps) {
  const type = imageTypeOf(path);
  const { value, error } = useLoaded(
    () => readContent(path, type === undefined ? undefined : "base64"),
    path,
    turn,
  );
  return (
    <article aria-label={`File ${visible(path)}`}>
      <header class="heading">
        <h2>
          <bdi>{visible(path)}</bdi>
        </h2>
        <div class="actions">
          <a class="button" href={renderRoute({ view: "timeline", path })}>
            History
          </a>
        </div>
      </header>
      {error !== undefined && (
        <Problem error={error instanceof RefusedCall ? error : new Error(error.message)} />
      )}
      {value === undefined && error === undefined && <p class="empty quiet">Loading …</p>}
      {value !== undefined && <Content {...{ path, line, value, type }} />}
    </article>
  );
}

interface ContentProps extends Pick<FilesViewProps, "path" | "line"> {
  readonly value: ShownContent;
  readonly type: string | undefined;
}

function Content({ path, line, value, type }: ContentProps) {
  if (value.content === undefined)
    return (
      <p class="empty">This file is not text{value.kind === undefined ? "" : ` (${visible(value.kind)})`}.</p>
    );
  if (type !== undefined)
    return (
      <div class="scroll image" tabIndex={0} role="region" aria-label="Image">
        <img alt={visible(path)} src={`data:${type};base64,${value.content}`} />
      </div>
    );
  return <TextContent path={path} line={line} text={value.content} />;
}

const lineHeight = () => 20;

/** Lines above the one to show first. */
const linesAbove = 6;

/** Lines whose syntax is coloured at once. */
const blockLines = 400;

interface TextContentProps extends Pick<FilesViewProps, "path" | "line"> {
  readonly text: string;
}

function TextContent({ path, line: first, text }: TextContentProps) {
  const element = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => (text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r\n|\n/), [text]);
  const blocks = useMemo(() => {
    const found: Block[] = [];
    for (let at = 0; at < lines.length; at += blockLines) {
      const block = new Block(languageOf(path));
      block.lines.push(...lines.slice(at, at + blockLines));
      found.push(block);
    }
    return found;
  }, [lines, path]);
  const files = useMemo(() => [{ path }], [path]);
  useLanguages(files);
  const virtual = useVirtual({ count: lines.length, heightOf: lineHeight, element });
  const width = useMemo(() => lines.reduce((most, line) => Math.max(most, line.length), 0) + 10, [lines]);
  useEffect(() => {
    if (first !== undefined) virtual.scrollTo(Math.max(0, first - linesAbove), "start");
  }, [path, first]);
  if (text === "") return <p class="empty quiet">An empty file.</p>;
  return (
    <div class="scroll" ref={element} tabIndex={0} role="region" aria-label="Content">
      <div class="rows" style={{ height: `${virtual.height}px`, minWidth: `${Math.min(width, 5000)}ch` }}>
        {virtual.rows.map(({ index, start }) => (
          <div class="row" key={index} style={{ transform: `translateY(${start}px)` }}>
            <div class={index + 1 === first ? "line found" : "line"}>
              <span class="number">{index + 1}</span>
              <CodeText tokens={blocks[Math.floor(index / blockLines)]!.tokensAt(index % blockLines)} />
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
