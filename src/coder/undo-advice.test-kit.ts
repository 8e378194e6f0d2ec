/** For tests: follows the advice of a refused undo literally. */
import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import type { AuthorCalls, SessionsFixture } from "./sessions.test-kit.ts";
import { undo } from "./undo.ts";

const listOf = (named: string) => named.replace(/ and others$/, "").split(", ");

/** The advice of a refused undo, read from its text. */
interface Advice {
  readonly away: readonly string[];
  readonly folders: readonly string[];
  /** Whether something has to be brought back by hand. */
  readonly isByHand: boolean;
  /** The lists of undos that are advised, each in order. */
  readonly ways: readonly (readonly object[])[];
}

/** Reads the advice of a text. Throws for a text that advises no undo. */
export function parseAdvice(said: string): Advice {
  const advice = said.split("\n").findLast((line) => line.startsWith("Nothing was undone"))!;
  const away = /move away (.*?) with coder::move/.exec(advice)?.[1];
  const folders = /make (.*?) with the op make-folder of coder::transact/.exec(advice)?.[1];
  const ways = advice
    .split(", or coder::undo")
    .map((way) => [...way.matchAll(/(?<=[{])[^}]*(?=[}])/g)].map(([fields]) => JSON.parse(`{${fields}}`)));
  if (ways.some((calls) => calls.length === 0)) throw new Error(said);
  return {
    away: away === undefined ? [] : listOf(away),
    folders: folders === undefined ? [] : listOf(folders),
    isByHand: advice.includes("no calls are known that undo it"),
    ways,
  };
}

/** Returns whether an undo has changed nothing that it could have. */
export const isRefused = (answer: never): boolean => undo.isFailure!(answer);

interface Following {
  readonly calls: AuthorCalls;
  /** Whether to choose the last way, not the first. */
  readonly takesLast: boolean;
}

/** Makes the advised calls, which must work. Returns whether one of them had `force`. */
export async function follow(said: string, { calls, takesLast }: Following): Promise<boolean> {
  const { away, folders, ways } = parseAdvice(said);
  for (const path of away)
    await calls.call("coder::move", { from: path, to: `away/${randomUUID()}`, parents: true });
  const made = folders.map((path) => ({ op: "make-folder", path }));
  if (made.length > 0) await calls.call("coder::transact", { changes: made });
  const way = ways.at(takesLast ? -1 : 0)!;
  for (const payload of way) {
    const answer = (await calls.call("coder::undo", payload)) as never;
    if (isRefused(answer)) throw new Error(`${said}\n${JSON.stringify(payload)}: ${JSON.stringify(answer)}`);
  }
  return way.some((payload) => "force" in payload);
}

/** Returns the kinds, modes and contents of paths. */
export function statesOf(paths: Iterable<string>, fixture: SessionsFixture): Record<string, string> {
  return Object.fromEntries([...paths].map((path) => [path, stateAt(fixture.at(path))]));
}

function stateAt(at: string): string {
  const stats = lstatSync(at, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  const mode = (stats.mode & 0o777).toString(8);
  if (stats.isDirectory()) return `folder ${mode}`;
  return stats.isFile() ? `file ${mode} ${readFileSync(at)}` : "other";
}
