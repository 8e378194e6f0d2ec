/** Parses patches as callers send them: bare, in a code fence, or surrounded by prose. */

import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { lineFeed } from "../edits/lines.ts";
import { type LineTable, tabulateLines } from "./line-table.ts";
import type { FilePatch, Patch, PatchFormat } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";
import { isUnifiedHeader, parseUnified } from "./unified.ts";
import { isV4aHeader, parseV4a } from "./v4a.ts";

const linesPerStep = 16_384;

/**
 * Reads a whole patch. `auto` takes it for V4A if some line names a file as V4A does. Throws a refusal for
 * text that is not a patch, for one with more than 50,000 hunks, for a hunk without a file, and for a change
 * that patches cannot make here.
 */
export function* parsePatch(text: Buffer, format: PatchFormat | "auto"): Steps<Patch> {
  const lines = yield* tabulateLines(withFinalNewline(text));
  yield* requireFewHunks(lines);
  const found = format === "auto" ? yield* formatOf(lines) : format;
  if (found === undefined) throw refusePatch.noPatch(lines.count < 2 && text.includes("\\n"));
  const files: FilePatch[] = yield* found === "v4a" ? parseV4a(lines) : parseUnified(lines);
  if (files.length === 0) throw refusePatch.wrongFormat(found);
  for (const file of files) requireChange(file);
  return { format: found, lines, files };
}

/**
 * Adds a final newline. The last line of a patch often lost its ending, and is marked if the file has none.
 */
const withFinalNewline = (text: Buffer): Buffer =>
  text.length === 0 || text.at(-1) === lineFeed ? text : Buffer.concat([text, Buffer.from("\n")]);

/** Maximum lines that begin with "@@". Each may begin a hunk, which takes some 500 bytes of memory. */
const maxHunkLines = 50_000;

function* requireFewHunks(lines: LineTable): Steps<void> {
  let count = 0;
  for (let line = 0; line < lines.count; line++) {
    if (line % linesPerStep === linesPerStep - 1) yield;
    if (lines.startsWith(line, "@@")) count++;
  }
  if (count > maxHunkLines) throw refusePatch.manyHunks(count, maxHunkLines);
}

function* formatOf(lines: LineTable): Steps<PatchFormat | undefined> {
  let isUnified = false;
  const steps = new LineSteps();
  for (let line = 0; line < lines.count; line++) {
    if (steps.isDueAfter(lines.endOf(line) - lines.startOf(line))) yield;
    if (isV4aHeader(lines, line)) return "v4a";
    isUnified ||= isUnifiedHeader(lines, line);
  }
  return isUnified ? "unified" : undefined;
}

function requireChange(file: FilePatch): void {
  if (file.change !== "update" || file.hunks.length > 0) return;
  if (file.mode === undefined && file.target === undefined) throw refusePatch.emptyFilePatch(file.path);
}
