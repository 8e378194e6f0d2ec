import type { WorkerName } from "../../base/about.ts";
import { UsageError } from "./usage-error.ts";

/** The meaning of a word after a command that is not a payload. */
const aliases = {
  undo: (word: string) => {
    if (/^#?\d+$/.test(word)) return { seq: Number(word.replace("#", "")) };
    const paths = JSON.stringify({ paths: [word] }).replaceAll("'", "'\\''");
    throw new UsageError(
      `undo takes the number of a checkpoint or JSON, and ${JSON.stringify(word)} is neither; to undo the newest change of a path, send '${paths}'`,
    );
  },
  checkpoints: (word: string) => ({ path: word }),
} as const;

const isPayload = (word: string): boolean => /^[{@]|^-$/.test(word);

/**
 * Expands `undo [SEQ | PAYLOAD]` and `checkpoints [PATH | PAYLOAD]` to the calls that they stand for. Other
 * words stay unchanged. Throws a `UsageError` for a word that `undo` cannot take.
 */
export function expandAlias(words: readonly string[], worker: WorkerName): readonly string[] {
  const [command = "", argument, ...rest] = words;
  if (worker !== "coder" || !Object.hasOwn(aliases, command)) return words;
  if (argument === undefined) return ["call", command];
  const payload = isPayload(argument)
    ? argument
    : JSON.stringify(aliases[command as keyof typeof aliases](argument));
  return ["call", command, payload, ...rest];
}
