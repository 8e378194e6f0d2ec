import type { WorkerName } from "../../base/about.ts";
import { UsageError } from "./usage-error.ts";

interface Alias {
  /** Returns whether a word is a payload, and not a folder. */
  isPayload(word: string): boolean;
  /** Returns the payload that a single word stands for. */
  payloadOf(word: string): object;
}

const aliases: Readonly<Record<string, Alias>> = {
  undo: {
    isPayload: (word) => isJson(word) || isSeq(word),
    payloadOf(word) {
      if (isSeq(word)) return { seq: Number(word.replace("#", "")) };
      const paths = JSON.stringify({ paths: [word] }).replaceAll("'", "'\\''");
      throw new UsageError(
        `undo takes the number of a checkpoint or JSON, and ${JSON.stringify(word)} is neither; to undo the newest change of a path, send '${paths}'; to name the folder that is served, use --base-path`,
      );
    },
  },
  checkpoints: { isPayload: (word) => isJson(word), payloadOf: (word) => ({ path: word }) },
};

const isJson = (word: string): boolean => /^[{@]|^-$/.test(word);
const isSeq = (word: string): boolean => /^#?\d+$/.test(word);

interface Expanded {
  readonly words: readonly string[];
  /** The words that name folders to serve. */
  readonly folders: readonly string[];
}

/**
 * Expands `undo [DIR DIR …] [SEQ | PAYLOAD]` and `checkpoints [DIR DIR …] [PATH | PAYLOAD]` to the calls that
 * they stand for, and finds their folders and those of `mcp` and `review`. Other words stay unchanged. Throws
 * a `UsageError` for a word that `undo` cannot take, for a single folder beside a payload, and for too many
 * words.
 */
export function expandAlias(words: readonly string[], worker: WorkerName): Expanded {
  const [command = "", ...others] = words;
  if (command === "mcp" || command === "review") return { words, folders: others };
  const alias = worker === "coder" && Object.hasOwn(aliases, command) ? aliases[command] : undefined;
  if (alias === undefined) return { words, folders: [] };
  const folders = others.filter((word) => !alias.isPayload(word));
  const hasSeveral = folders.length > 1;
  const [first, ...rest] = hasSeveral ? others.filter(alias.isPayload) : others;
  const [folder] = folders;
  if (!hasSeveral && folder !== undefined && others.length > 1) {
    if (!others.some(isCutJson)) throw singleFolder(command, folder);
    throw tooManyWords(command, folder);
  }
  if (rest.length > 0) throw tooManyWords(command, rest[0]!);
  if (first === undefined) return { words: ["call", command], folders: hasSeveral ? folders : [] };
  const payload = isJson(first) ? first : JSON.stringify(alias.payloadOf(first));
  return { words: ["call", command, payload], folders: hasSeveral ? folders : [] };
}

/** Returns whether a word is the beginning of JSON with blanks that was not quoted. */
const isCutJson = (word: string): boolean => word.startsWith("{") && !word.endsWith("}");

function singleFolder(command: string, word: string): UsageError {
  const path = JSON.stringify(word);
  const inside = command === "checkpoints" ? `, or put a path in it into the JSON, as {"path":${path}}` : "";
  return new UsageError(
    `${command} takes several folders or none, and ${path} is one; name it with --base-path${inside}`,
  );
}

export const tooManyWords = (command: string, word: string): UsageError =>
  new UsageError(
    `${command} takes one payload; ${JSON.stringify(word)} is one argument too many (quote the JSON)`,
  );
