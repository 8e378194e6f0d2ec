import type { WorkerName } from "../about.ts";

/** What a word after a command is the value of, when it is no payload. */
const aliases = {
  undo: (word: string) => (/^\d+$/.test(word) ? { seq: Number(word) } : undefined),
  checkpoints: (word: string) => ({ path: word }),
} as const;

const isPayload = (word: string): boolean => /^[{@]|^-$/.test(word);

/** `undo [SEQ | PAYLOAD]` and `checkpoints [PATH | PAYLOAD]` as the calls that they stand for; other words as they are. */
export function expandAlias(words: readonly string[], worker: WorkerName): readonly string[] {
  const [command = "", argument, ...rest] = words;
  if (worker !== "coder" || !Object.hasOwn(aliases, command)) return words;
  if (argument === undefined) return ["call", command];
  const fields = isPayload(argument) ? undefined : aliases[command as keyof typeof aliases](argument);
  return ["call", command, fields === undefined ? argument : JSON.stringify(fields), ...rest];
}
