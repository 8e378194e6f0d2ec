import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { languageOf, loadLanguage } from "../highlight.ts";
import { ComparedImagesView, type ReadImages } from "../images.tsx";
import { useVirtual } from "../virtual.ts";
import { plural, renderNumber, visible } from "../words.ts";
import type { ChangedFile } from "../worker.ts";
import { CodeText } from "./code.tsx";
import {
  type DiffLine,
  type DiffOfFile,
  openLines,
  type Row,
  readLines,
  rowsOf,
  withContext,
} from "./lines.ts";
import { marksOf } from "./marks.ts";

interface DiffViewProps {
  readonly files: readonly ChangedFile[];
  /** Whether to show what taking the changes back would do. */
  readonly isReversed?: boolean;
  readonly label: string;
  /** Renders what can be done with a file, at the end of its line. */
  readonly actions?: ((file: ChangedFile) => ComponentChildren) | undefined;
  /**
   * Reads a file as the changes left it, for the lines that its diff leaves out. Resolves to `undefined` if
   * that is not known. If absent, these lines cannot be shown.
   */
  readonly readWhole?: ((file: ChangedFile) => Promise<string | undefined>) | undefined;
  /** If absent, images are not shown. */
  readonly readImages?: ReadImages | undefined;
}

const heights: Readonly<Record<Row["kind"], number>> = {
  file: 40,
  note: 36,
  images: 280,
  gap: 26,
  line: 20,
  pair: 20,
};

/** The narrowest view in which two sides have room beside each other. */
const splitWidth = 900;

/** Renders the differences of files as one list. The document contains only visible lines. */
export function DiffView({
  files,
  isReversed = false,
  label,
  actions,
  readWhole,
  readImages,
}: DiffViewProps) {
  const element = useRef<HTMLDivElement>(null);
  const [wantsSplit, setSplit] = useState(false);
  const isWide = useIsWide(element);
  const isSplit = wantsSplit && isWide;
  const { contents, unfold } = useContents(files, readWhole);
  const { rows, width, toggle } = useRows(files, { isReversed, isSplit, contents, readImages });
  useLanguages(files);
  const heightOf = useMemo(() => (index: number) => heights[rows[index]!.kind], [rows]);
  const shown = { actions, isReversed, contents, unfold, readImages };
  const virtual = useVirtual({ count: rows.length, heightOf, element });
  const step = (by: 1 | -1) => {
    const top = element.current!.scrollTop + 1;
    const at = virtual.rows.find((row) => row.end > top)?.index ?? 0;
    const starts = rows.flatMap((row, index) => (row.kind === "file" ? [index] : []));
    const next = by > 0 ? starts.find((start) => start > at) : starts.findLast((start) => start < at);
    if (next !== undefined) virtual.scrollTo(next, "start");
  };
  return (
    <section class="diff" aria-label={label}>
      <div class="bar">
        <span>
          {label} <span class="quiet">in {plural(files.length, "file")}</span>
        </span>
        <span class="spring" />
        {files.length > 1 && <Steps onStep={step} />}
        {isWide && <Layout isSplit={isSplit} onSplit={setSplit} />}
      </div>
      <div class="scroll" ref={element} tabIndex={0} role="region" aria-label={`${label}, lines`}>
        <div
          class="rows"
          style={{ height: `${virtual.height}px`, minWidth: isSplit ? undefined : `${width}ch` }}
        >
          {virtual.rows.map(({ index, start }) => (
            <div
              class="row"
              key={`${index} ${isSplit}`}
              data-index={index}
              // Lines of two sides wrap, so that their heights differ.
              ref={isSplit ? virtual.measure : null}
              style={{ transform: `translateY(${start}px)` }}
            >
              <RowView row={rows[index]!} onToggle={toggle} {...shown} />
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}

/** The contents of files after their changes, by path; `undefined` if one is not known. */
type Contents = ReadonlyMap<string, string | undefined>;

const noContents: Contents = new Map();

/** Returns the contents that were read of these files, and how to read that of another one. */
function useContents(files: readonly ChangedFile[], readWhole: DiffViewProps["readWhole"]) {
  const [read, setRead] = useState({ files, contents: noContents });
  const contents = read.files === files ? read.contents : noContents;
  const set = (path: string, content: string | undefined) =>
    setRead((before) => ({
      files,
      contents: new Map(before.files === files ? before.contents : noContents).set(path, content),
    }));
  const unfold = (file: ChangedFile) => {
    readWhole!(file).then(
      (content) => set(file.path, content),
      () => set(file.path, undefined),
    );
  };
  return { contents, unfold: readWhole && unfold };
}

interface RowsOptions extends Pick<DiffViewProps, "readImages"> {
  readonly isReversed: boolean;
  readonly isSplit: boolean;
  readonly contents: Contents;
}

/** Returns the rows of files, and how to open or close one of these. */
function useRows(files: readonly ChangedFile[], { isReversed, isSplit, contents, readImages }: RowsOptions) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const diffs = useMemo(() => files.map((file) => readLines(file, isReversed)), [files, isReversed]);
  const read = useMemo(
    () =>
      diffs.map((diff) => {
        const content = contents.get(diff.file.path);
        return content === undefined ? diff : withContext(diff, content);
      }),
    [diffs, contents],
  );
  const width = useMemo(() => longest(read), [read]);
  const withImages = readImages !== undefined;
  const rows = useMemo(() => {
    const isOpen = ({ file, count }: DiffOfFile) =>
      toggled.has(file.path) !== (count <= openLines || files.length === 1);
    return rowsOf(read, { isSplit, withImages, isOpen });
  }, [read, isSplit, withImages, toggled, files.length]);
  const toggle = (path: string) => {
    const changed = new Set(toggled);
    if (!changed.delete(path)) changed.add(path);
    setToggled(changed);
  };
  return { rows, width, toggle };
}

function Steps({ onStep }: { readonly onStep: (by: 1 | -1) => void }) {
  return (
    <span class="group">
      <button type="button" onClick={() => onStep(-1)}>
        Previous file
      </button>
      <button type="button" onClick={() => onStep(1)}>
        Next file
      </button>
    </span>
  );
}

interface LayoutProps {
  readonly isSplit: boolean;
  readonly onSplit: (isSplit: boolean) => void;
}

function Layout({ isSplit, onSplit }: LayoutProps) {
  return (
    <span class="group" role="group" aria-label="Layout">
      <button type="button" aria-pressed={!isSplit} onClick={() => onSplit(false)}>
        Unified
      </button>
      <button type="button" aria-pressed={isSplit} onClick={() => onSplit(true)}>
        Side by side
      </button>
    </span>
  );
}

interface RowViewProps extends Pick<DiffViewProps, "actions" | "readImages"> {
  readonly row: Row;
  readonly contents: Contents;
  /** Shows the lines that the diff of a file leaves out, if that can be. */
  readonly unfold: ((file: ChangedFile) => void) | undefined;
  readonly onToggle: (path: string) => void;
  readonly isReversed: boolean;
}

function RowView({ row, onToggle, actions, isReversed, contents, unfold, readImages }: RowViewProps) {
  switch (row.kind) {
    case "file":
      return <FileRow {...row} onToggle={onToggle} actions={actions} isReversed={isReversed} />;
    case "note":
      return <div class="note quiet">{visible(row.text)}</div>;
    case "images":
      return <ComparedImagesView file={row.file} isReversed={isReversed} read={readImages!} />;
    case "gap":
      return <GapRow {...row} isUnknown={contents.has(row.file.path)} unfold={unfold} />;
    case "line":
      return <LineRow line={row.line} />;
    case "pair":
      return (
        <div class="pair">
          <Side line={row.left} side="old" />
          <Side line={row.right} side="now" />
        </div>
      );
  }
}

interface GapRowProps extends Pick<RowViewProps, "unfold"> {
  readonly file: ChangedFile;
  readonly count: number;
  /** Whether reading the lines has failed. */
  readonly isUnknown: boolean;
}

function GapRow({ file, count, isUnknown, unfold }: GapRowProps) {
  const lines = plural(count, "unchanged line");
  if (isUnknown) return <div class="gap">{lines}, not kept: the file has changed since</div>;
  if (unfold === undefined) return <div class="gap">{lines}</div>;
  return (
    <div class="gap">
      <button
        type="button"
        class="plain"
        aria-label={`Show all lines of ${visible(file.path)}`}
        onClick={() => unfold(file)}
      >
        ⋯ {lines}
      </button>
    </div>
  );
}

const kindsReversed: Readonly<Record<ChangedFile["kind"], string>> = {
  created: "removed",
  deleted: "restored",
  modified: "restored",
  moved: "moved back",
  mode: "mode restored",
};

const kinds: Readonly<Record<ChangedFile["kind"], string>> = {
  created: "new",
  deleted: "deleted",
  modified: "",
  moved: "moved",
  mode: "mode",
};

interface FileRowProps extends Pick<DiffViewProps, "actions"> {
  readonly file: ChangedFile;
  readonly isOpen: boolean;
  readonly isReversed: boolean;
  readonly onToggle: (path: string) => void;
}

function FileRow({ file, isOpen, isReversed, onToggle, actions }: FileRowProps) {
  const { path, from, kind } = file;
  const word = (isReversed ? kindsReversed : kinds)[kind];
  return (
    <div class="file">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => onToggle(path)}>
        <span class="arrow" aria-hidden="true">
          {isOpen ? "▾" : "▸"}
        </span>
        <bdi>
          {from !== undefined && `${visible(from)} → `}
          {visible(path)}
          {file.isFolder && "/"}
        </bdi>
      </button>
      {word !== "" && <span class={`tag ${kind}`}>{word}</span>}
      <Counts file={file} isReversed={isReversed} />
      <span class="spring" />
      {actions?.(file)}
    </div>
  );
}

/** Renders the numbers of lines that were added and removed. */
export function Counts({
  file: { added, removed },
  isReversed = false,
}: {
  readonly file: Pick<ChangedFile, "added" | "removed">;
  readonly isReversed?: boolean;
}) {
  if (added === undefined || removed === undefined || added + removed === 0) return null;
  const [plus, minus] = isReversed ? [removed, added] : [added, removed];
  return (
    <span class="counts">
      <span class="plus">+{renderNumber(plus)}</span> <span class="minus">−{renderNumber(minus)}</span>
    </span>
  );
}

const classes: Readonly<Record<DiffLine["sign"], string>> = { "+": "added", "-": "removed", " ": "same" };

function LineRow({ line }: { readonly line: DiffLine }) {
  return (
    <div class={`line ${classes[line.sign]}`}>
      <span class="number">{line.old}</span>
      <span class="number">{line.now}</span>
      <span class="sign">{line.sign}</span>
      <Text line={line} />
    </div>
  );
}

function Side({ line, side }: { readonly line: DiffLine | undefined; readonly side: "old" | "now" }) {
  if (line === undefined) return <div class="line side empty" />;
  return (
    <div class={`line side ${classes[line.sign]}`}>
      <span class="number">{line[side]}</span>
      <span class="sign">{line.sign}</span>
      <Text line={line} />
    </div>
  );
}

function Text({ line }: { readonly line: DiffLine }) {
  return (
    <>
      <CodeText tokens={line.block.tokensAt(line.at)} marks={marksOf(line)} />
      {line.isUnended && <span class="quiet"> no line end</span>}
    </>
  );
}

function useIsWide(element: { readonly current: HTMLElement | null }): boolean {
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWide(entry!.contentRect.width >= splitWidth));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return isWide;
}

/** Loads the languages of files, and renders again with their colours. */
export function useLanguages(files: readonly Pick<ChangedFile, "path">[]): void {
  const [, render] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => {
    const names = new Set(files.flatMap(({ path }) => languageOf(path) ?? []));
    for (const name of names) void loadLanguage(name).then(() => render(undefined));
  }, [files]);
}

/** Columns that the numbers and the sign of a line take. */
const gutterColumns = 16;

/** Returns the columns of the longest line, so that all lines are as wide as it. */
function longest(files: readonly DiffOfFile[]): number {
  let columns = 0;
  for (const { hunks } of files)
    for (const { lines } of hunks) for (const { text } of lines) columns = Math.max(columns, text.length);
  return Math.min(columns, 5000) + gutterColumns;
}
