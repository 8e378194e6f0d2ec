import type { Steps } from "../../base/scheduling/time-slice.ts";

/** Items of a list that are written in one step. */
const atOnce = 500;

/** Returns `JSON.stringify(answer)`, written in steps if fields of the answer list very many entries. */
export function* writeJson(answer: object): Steps<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(answer)) {
    const text =
      Array.isArray(value) && value.length > atOnce ? yield* writeList(value) : JSON.stringify(value);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
    yield;
  }
  return `{${members.join(",")}}`;
}

function* writeList(items: readonly unknown[]): Steps<string> {
  const parts: string[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    parts.push(JSON.stringify(items.slice(from, from + atOnce)).slice(1, -1));
    yield;
  }
  return `[${parts.join(",")}]`;
}
