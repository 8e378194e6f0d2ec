import { type Static, type TOptional, type TSchema, Type } from "@sinclair/typebox";
import { Int64, Named, Nullable, UInt32, UInt64 } from "../../base/schema/fragments.ts";
import type { FileStats } from "../../filesystem/jail/kind.ts";
import type { FileContent } from "../../text/edits/content.ts";
import type { LineWindow } from "../../text/edits/window.ts";
import { jsonBytes, objectBytes } from "../../text/sizes/json-size.ts";
import { LeftOutFields } from "../search/pages.ts";
import type { Dimensions } from "./image-dimensions.ts";

const since = "0.4.0";

/** Returns the schema of a field that every answer of 0.2.0 has. */
const Published = <T extends TSchema>(schema: T): TOptional<T> =>
  Type.Optional({ ...schema, optionalSince: since }) as TOptional<T>;

/** Returns the schema of a field that only answers to requests with later fields have. */
const Later = <T extends TSchema>(schema: T): TOptional<T> =>
  Type.Optional({ ...schema, since }) as TOptional<T>;

const fields = {
  binary: Later(
    Type.String({
      description: "The kind of a file that is not text, empty if unknown. Such a file has no `content`.",
    }),
  ),
  content: Published(
    Type.String({
      description:
        "File content as a UTF-8 string. Binary files are returned with invalid bytes replaced by U+FFFD; use a future binary-aware function if exact bytes matter.",
    }),
  ),
  encoding: Later(
    Type.String({ description: "The encoding that `content` was decoded from, unless UTF-8." }),
  ),
  height: Later(UInt32({ description: "Pixels of an image that `content` does not have." })),
  is_utf8: Published(Type.Boolean({ description: "Whether `content` lost bytes to UTF-8 sanitisation." })),
  kind: Later(Type.Literal("dir", { description: "A folder; `stat` returns its mode and time." })),
  lines_returned: Later(UInt64({ description: "Lines in `content`." })),
  media_type: Later(
    Type.String({ description: "The type of an image or sound, whose bytes `content` has in base64." }),
  ),
  mode: Published(UInt32({ description: "Unix permission bits (lower 9 bits of `st_mode`), e.g. 0o644." })),
  more_lines: Later(Type.Boolean({ description: "Whether the file continues after `content`." })),
  mtime: Published(Int64({ description: "Last-modified time as a Unix epoch in seconds." })),
  path: Published(
    Type.String({ description: "The original `path` argument echoed back for caller correlation." }),
  ),
  revision: Later(Type.String({ description: "SHA-256 of the file." })),
  size: Published(UInt64()),
  text_notes: Later(
    Type.Array(Type.String(), {
      description: "How the text differs from UTF-8 with LF and a final line end.",
    }),
  ),
  total_lines: Later(UInt64({ description: "Lines of the file, if all were counted." })),
  width: Later(UInt32()),
};

const ReadFileResult = Named("ReadFileResult", {
  ...fields,
  error: Type.Optional(Nullable(Type.String())),
  path: Type.String(),
  success: Type.Boolean(),
});

export const ReadResponse = Type.Object(
  {
    ...fields,
    ...LeftOutFields,
    results: Later(
      Type.Array(ReadFileResult, {
        description:
          "One for each of `paths` or `files`, or for the first files that `include_globs` selects.",
      }),
    ),
    total_files: Later(UInt64({ description: "Files that `include_globs` selects." })),
  },
  { title: "ReadFileOutput" },
);

export type ReadResult = Static<typeof ReadFileResult>;
export type ReadAnswer = Static<typeof ReadResponse>;

/** The answer about one file. */
export interface FileView {
  readonly answer: FileAnswer;
  readonly jsonBytes: number;
  readonly content: FileContent | undefined;
}

type FileAnswer = Omit<ReadAnswer, "results" | "total_files" | keyof typeof LeftOutFields> & { path: string };

/** The facts about a file besides its content. Undefined ones are left out of the answer. */
export interface Facts {
  readonly path: string;
  readonly stats: FileStats;
  readonly isUtf8?: boolean | undefined;
  /** The name of the encoding of a decoded text. */
  readonly encoding?: string | undefined;
  readonly revision?: string | undefined;
  /** The kind of a file that is not text. */
  readonly binary?: string | undefined;
  /** The pixels of an image whose format is known. */
  readonly dimensions?: Dimensions | undefined;
  /** The differences from plain text: line ends, byte order mark, missing newline. */
  readonly notes?: readonly string[] | undefined;
  /** The media type of a file that is shown as an image or played as sound. */
  readonly mediaType?: string | undefined;
  /** The number of lines of the file, unless the window has it. */
  readonly totalLines?: number | undefined;
  /** The lines that the content consists of. */
  readonly window?: LineWindow | undefined;
}

export function viewOf(facts: Facts, content?: FileContent): FileView {
  const answer = describe(facts);
  if (content === undefined) return { answer, jsonBytes: objectBytes(answer), content };
  answer.content = content.text;
  const bytes = hasLaterFields(facts)
    ? objectBytes(answer, { content: content.jsonBytes })
    : publishedBytes(facts, content);
  return { answer, jsonBytes: bytes, content };
}

const hasLaterFields = ({
  isUtf8,
  encoding,
  revision,
  mediaType,
  totalLines,
  window,
  notes = [],
}: Facts): boolean =>
  encoding !== undefined ||
  isUtf8 === undefined ||
  notes.length > 0 ||
  revision !== undefined ||
  mediaType !== undefined ||
  totalLines !== undefined ||
  window !== undefined;

/** Bytes of the fields of every answer in 0.2.0, without their values. */
const keyBytes = '{"path":,"is_utf8":,"size":,"mode":,"mtime":,"content":}'.length;

/**
 * Returns the bytes of an answer with these fields as JSON. For a small file, `objectBytes` would take a
 * noticeable part of the time.
 */
function publishedBytes({ path, stats, isUtf8 }: Facts, content: FileContent): number {
  const ofStats = jsonBytes(stats.size) + jsonBytes(stats.mode) + jsonBytes(stats.mtime);
  return keyBytes + jsonBytes(path) + jsonBytes(isUtf8) + ofStats + content.jsonBytes;
}

function describe(facts: Facts): FileAnswer {
  const { path, stats, isUtf8, revision, mediaType, binary, notes = [] } = facts;
  const { window, totalLines = window?.total } = facts;
  const { size, mode, mtime } = stats;
  const answer: FileAnswer =
    isUtf8 === undefined ? { path, size, mode, mtime } : { path, is_utf8: isUtf8, size, mode, mtime };
  if (facts.encoding !== undefined) answer.encoding = facts.encoding;
  if (revision !== undefined) answer.revision = revision;
  if (mediaType !== undefined) answer.media_type = mediaType;
  if (binary !== undefined) answer.binary = binary;
  Object.assign(answer, facts.dimensions);
  if (notes.length > 0) answer.text_notes = [...notes];
  if (totalLines !== undefined) answer.total_lines = totalLines;
  if (window === undefined) return answer;
  return { ...answer, lines_returned: window.lines, more_lines: window.hasMore };
}
