/** Converts answers and errors of functions to results of tools. */
import { setImmediate } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { type AnsweredCall, renderAnswer } from "../../calls/contract/answer-text.ts";
import { hasFailedEntry } from "../../calls/contract/failed-entry.ts";
import type { Image } from "../../calls/contract/wording.ts";
import { jsonPartsOf } from "../../text/sizes/json-parts.ts";
import { measureJson } from "../../text/sizes/json-size.ts";
import { wording } from "./tools.ts";

/** The form in which results are sent. */
export interface ResultForm {
  /**
   * Whether to use the forms of the bus too: answers as `structuredContent` beside the text, errors as JSON.
   */
  readonly isStructured: boolean;
  /** The corrections that were made to the request, such as `file_path as path`. */
  readonly notes?: readonly string[];
}

/** Renders a call that failed. */
export const renderFailure = (error: string, { isStructured, notes }: ResultForm): CallToolResult => ({
  content: [textBlock(isStructured ? error : [wording.failure(error), ...renderNotes(notes)].join("\n"))],
  isError: true,
});

export interface AnswerForm extends ResultForm {
  /** Maximum bytes of everything shown, as JSON. */
  readonly shownBytes: number;
}

/** Length of a text that takes some milliseconds to render or to send. */
const longText = 1024 * 1024;

/**
 * Renders an answer. Its `isError` is true if an entry has `success: false`, or if the answer reports a
 * failure by the function's own rule, and absent otherwise. Entries of a transaction have no such field,
 * because they fail together, with the call.
 */
export async function renderResult(
  call: AnsweredCall,
  { isStructured, shownBytes, notes }: AnswerForm,
): Promise<CallToolResult> {
  const { answer, definition } = call;
  const isFailure = hasFailedEntry(answer) || definition.isFailure?.(answer as never) === true;
  const rendered =
    (await renderAnswer(call, wording)) ?? (await runInSlices(renderJson(answer), createTimeSlice()));
  const cut = isStructured ? cutCopy : cutText;
  // The turns that render and send a long text each last long enough.
  if (rendered.length > longText) await setImmediate();
  const said = renderNotes(notes);
  return {
    content:
      typeof rendered === "string"
        ? [textBlock([await cut(rendered, shownBytes), ...said].join("\n"))]
        : [...rendered, ...said].map(block),
    ...(isStructured && { structuredContent: answer as Record<string, unknown> }),
    ...(isFailure && { isError: true }),
  };
}

/** Renders the answer as JSON, with the client's names of functions in the errors of entries. */
function* renderJson(answer: unknown): Steps<string> {
  const parts: string[] = [];
  for (const part of jsonPartsOf(answer, hasFailedEntry(answer) ? nameTools : undefined)) {
    parts.push(part);
    yield;
  }
  return parts.join("");
}

const nameTools = (key: string, value: unknown): unknown =>
  key === "error" && typeof value === "string" ? wording.sentence(value) : value;

const renderNotes = (notes: readonly string[] = []): string[] =>
  notes.length === 0 ? [] : [`[read ${notes.join(", ")}]`];

type Block = CallToolResult["content"][number];

const textBlock = (text: string): Block => ({ type: "text", text });

/** Returns a block of content. The functions that return images and sounds limit their size. */
function block(piece: string | Image): Block {
  if (typeof piece === "string") return textBlock(piece);
  const { data, mediaType: mimeType } = piece;
  return { type: mimeType.startsWith("audio/") ? "audio" : "image", data, mimeType };
}

/**
 * Maximum characters of the text beside an answer. It is there to be read, so text beyond a model's capacity
 * is not sent a second time.
 */
const maxCharacters = 1024 * 1024;

async function cutCopy(text: string, bytes: number): Promise<string> {
  const shown = await startOf(text.slice(0, maxCharacters), bytes);
  if (shown.length === text.length) return text;
  return `${shown}\n[cut: ${shown.length} of ${text.length} characters; structuredContent has them all]`;
}

async function cutText(text: string, bytes: number): Promise<string> {
  const shown = await startOf(text, bytes);
  if (shown.length === text.length) return text;
  return `${shown}\n[cut: ${shown.length} of ${text.length} characters, as many as one message carries; ask for less at once]`;
}

/** Maximum bytes of a character in JSON, as in `\u0001`. */
const maxBytesOfCharacter = 6;

/** Returns the longest beginning of `text` with at most `bytes` as JSON, or a somewhat shorter one. */
async function startOf(text: string, bytes: number): Promise<string> {
  let shown = text;
  while (
    shown.length * maxBytesOfCharacter > bytes &&
    (await runInSlices(measureJson(shown), createTimeSlice())) > bytes
  )
    shown = shown.slice(0, shown.length / 2);
  return shown.length === text.length ? text : shown.toWellFormed();
}
