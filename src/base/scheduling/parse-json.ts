/**
 * Parses large JSON in time slices. `JSON.parse` holds the event loop for up to 5 ms per MB of text, and for
 * 20 per MB of small values. The slices take two to five times as long together, and more if most of the text
 * is written in escape sequences.
 */
import { JSONParser } from "@streamparser/json";
import { createTimeSlice, runInSlices, type Steps } from "./time-slice.ts";

/** Minimum bytes of JSON that is worth parsing in slices. */
export const minSliced = 512 * 1024;

/** Maximum bytes of JSON under way beside which another message is parsed in slices. */
const maxUnderWay = 64 * 1024 * 1024;
let underWay = 0;

/**
 * Returns whether to parse `bytes` of JSON in slices, for a transport that cannot stop its senders: it is
 * large, and there is room for it.
 */
export const shouldSlice = (bytes: number): boolean => bytes >= minSliced && underWay + bytes <= maxUnderWay;

/** Bytes of a step, which takes about a millisecond. */
const stepBytes = 8192;

/** JSON has more tokens than it may have. */
export class TooManyTokens extends Error {}

/**
 * Parses JSON in UTF-8 in time slices. Resolves to the value that `JSON.parse` returns, and ignores a byte
 * order mark. Rejects with `TooManyTokens` if it has more than `maxTokens` values, keys and punctuation
 * marks, and with another error for what is not JSON.
 */
export async function parseInSlices(
  bytes: Uint8Array,
  maxTokens = Number.POSITIVE_INFINITY,
): Promise<unknown> {
  underWay += bytes.length;
  try {
    return await runInSlices(parse(bytes, maxTokens), createTimeSlice());
  } finally {
    underWay -= bytes.length;
  }
}

/** Lets the parser keep byte order marks in strings. Its decoder drops one at the beginning of each piece. */
function keepMarks(parser: JSONParser): void {
  const { tokenizer } = parser as unknown as { tokenizer: { bufferedString: { decoder: unknown } } };
  tokenizer.bufferedString.decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}

function* parse(bytes: Uint8Array, maxTokens: number): Steps<unknown> {
  const parser = new JSONParser({ paths: ["$"], stringBufferSize: 64 * 1024 });
  keepMarks(parser);
  let tokens = 0;
  parser.onToken = () => {
    if (++tokens > maxTokens) throw new TooManyTokens();
  };
  let root: { readonly value: unknown } | undefined;
  parser.onValue = ({ value }) => {
    root = { value };
  };
  for (let at = 0; at < bytes.length; at += stepBytes) {
    parser.write(bytes.subarray(at, at + stepBytes));
    yield;
  }
  if (!parser.isEnded) parser.end();
  if (root === undefined) throw new SyntaxError("there is no value");
  return root.value;
}
