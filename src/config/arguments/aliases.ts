import type { WorkerName } from "../../base/about.ts";

/** The meaning of a word after a command that is not a payload. */
const aliases = {
  undo: (word: string) => (/^\d+$/.test(word) ? { seq: Number(word) } : undefined),
  checkpoints: (word: string) => ({ path: word }),
} as const;

const isPayload = (word: string): boolean => /^[{@]|^-$/.test(word);

/**
 * Expands `undo [SEQ | PAYLOAD]` and `checkpoints [PATH | PAYLOAD]` to the calls that they stand for. Other
 * words stay unchanged.
 */
export function expandAlias(words: readonly string[], worker: WorkerName): readonly string[] {
  const [command = "", argument, ...rest] = words;
  if (worker !== "coder" || !Object.hasOwn(aliases, command)) return words;
  if (argument === undefined) return ["call", command];
  const fields = isPayload(argument) ? undefined : aliases[command as keyof typeof aliases](argument);
  return ["call", command, fields === undefined ? argument : JSON.stringify(fields), ...rest];
}
