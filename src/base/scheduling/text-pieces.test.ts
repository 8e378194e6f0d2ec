import { expect, test } from "bun:test";
import { piecesOf } from "./text-pieces.ts";

const length = 128 * 1024;

test.each([
  ["no character", ""],
  ["one piece", "é".repeat(length)],
  ["a character more", "é".repeat(length + 1)],
  ["surrogate pairs at the ends of pieces", `x${"🙂".repeat(length)}`],
  ["surrogate pairs between the ends", "🙂".repeat(length)],
  ["half a pair at the end of a piece", `${"x".repeat(length - 1)}\ud83d`],
  ["half a pair before another piece", `${"x".repeat(length - 1)}\ud83dx`],
])("the pieces of a text with %s, each encoded by itself, are its encoding", (_, text) => {
  const encoded = [...piecesOf(text)].map((piece) => Buffer.from(piece));
  expect(Buffer.concat(encoded).equals(Buffer.from(text))).toBeTrue();
});

test("no piece is longer than what one step encodes, and a pair's other half", () => {
  const pieces = [...piecesOf(`x${"🙂".repeat(300_000)}`)];
  expect(pieces.map((piece) => piece.length)).toEqual([length + 1, length, length, length, 75_712]);
});

test("no CRLF is split, nor a piece lost after a CR at the end", () => {
  const pieces = (text: string) => [...piecesOf(text)].map((piece) => piece.length);
  expect(pieces(`${"x".repeat(length - 1)}\r\n${"x".repeat(5)}`)).toEqual([length + 1, 5]);
  expect(pieces(`${"x".repeat(length - 1)}\r`)).toEqual([length]);
});
