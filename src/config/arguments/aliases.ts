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
        `undo takes the number of a checkpoint or JSON, and ${JSON.stringify(word)} is neither; to undo the newest change of a path, send '${paths}'`,
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
 * a `UsageError` for a word that `undo` cannot take, and for a single folder beside a number.
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
  if (!hasSeveral && folder !== undefined && others.some((word) => isSeq(word) && alias.isPayload(word)))
    throw new UsageError(
      `${command} takes several folders or none, and ${JSON.stringify(folder)} is one; name it with --base-path`,
    );
  if (first === undefined) return { words: ["call", command], folders: hasSeveral ? folders : [] };
  const payload = isJson(first) ? first : JSON.stringify(alias.payloadOf(first));
  return { words: ["call", command, payload, ...rest], folders: hasSeveral ? folders : [] };
}
