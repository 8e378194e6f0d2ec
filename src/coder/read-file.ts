import { Type } from "@sinclair/typebox";
import { Measured } from "../contract/definition.ts";
import { decodeForAnswer } from "../edits/json-text.ts";
import { Int64, UInt32, UInt64 } from "../schema/fragments.ts";
import { jsonBytes } from "../text/json-size.ts";
import { defineCoderFunction } from "./define.ts";

const request = Type.Object(
  { path: Type.String({ description: "File to read, relative to `base_path`." }) },
  { title: "ReadFileInput" },
);

const response = Type.Object(
  {
    content: Type.String({
      description:
        "File content as a UTF-8 string. Binary files are returned with invalid bytes replaced by U+FFFD; use a future binary-aware function if exact bytes matter.",
    }),
    is_utf8: Type.Boolean({ description: "Whether `content` lost bytes to UTF-8 sanitisation." }),
    mode: UInt32({ description: "Unix permission bits (lower 9 bits of `st_mode`), e.g. 0o644." }),
    mtime: Int64({ description: "Last-modified time as a Unix epoch in seconds." }),
    path: Type.String({ description: "The original `path` argument echoed back for caller correlation." }),
    size: UInt64(),
  },
  { title: "ReadFileOutput" },
);

/** What the answer takes besides its values. */
const envelopeBytes = '{"path":,"is_utf8":,"size":,"mode":,"mtime":,"content":}'.length;

/** `coder::read-file`: one file as text (coder §8). */
export const readFile = defineCoderFunction({
  id: "coder::read-file",
  publishedIn: "coder 0.2.0",
  description:
    "Read a file relative to base_path. Returns content plus size/mtime/mode. Capped by max_read_bytes; non-accessible paths return C211.",
  summary: "one file as text, with size, mode and time",
  effect: "reads",
  paths: [{ at: "/path", access: "read" }],
  request,
  response,
  examples: [{ title: "Read one file", request: { path: "src/main.ts" } }],
  answerBytes({ path }, { jail }) {
    using seen = jail.resolveForRead(path);
    return envelopeBytes + (seen.stats?.size ?? 0);
  },
  handle({ path }, { files, config }) {
    return files.read(path, { key: "max_read_bytes", bytes: config.max_read_bytes }, (bytes, stats) => {
      const { text, isUtf8, jsonBytes: ofText } = decodeForAnswer(bytes);
      const { size, mode, mtime } = stats;
      const ofNumbers = jsonBytes(size) + jsonBytes(mode) + jsonBytes(mtime);
      return new Measured(
        { path, is_utf8: isUtf8, size, mode, mtime, content: text },
        envelopeBytes + jsonBytes(path) + jsonBytes(isUtf8) + ofNumbers + ofText,
      );
    });
  },
  render({ content, is_utf8 }) {
    if (content === "") return "[the file is empty]";
    return is_utf8
      ? content
      : `${content}\n[the file is not UTF-8: U+FFFD stands for what could not be shown]`;
  },
});
