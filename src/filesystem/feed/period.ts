/** The causes of changes by programs: the commands that ran at that time. */
import type { Cause, Period, RunningCommand } from "./change.ts";

export const idle: Period = { commands: [], isIdle: true };

/** Returns a period of these commands, or an idle one if none are given. */
export const periodOf = (commands: readonly RunningCommand[]): Period =>
  commands.length === 0 ? idle : { commands, isIdle: false };

export function joinPeriods(one: Period, other: Period): Period {
  if (one === other) return one;
  const known = new Set(one.commands);
  const more = other.commands.filter((command) => !known.has(command));
  const isIdle = one.isIdle || other.isIdle;
  if (more.length === 0 && isIdle === one.isIdle) return one;
  return { commands: [...one.commands, ...more], isIdle };
}

/** Maximum commands that are named as the cause of one change. */
const maxNamed = 10;

/**
 * Returns the cause of a change in this time. Several commands are all named, because each may have made it.
 * If none ran in a part of the time, another program may have made it, and is the cause.
 */
export function causeIn({ commands, isIdle }: Period): Cause {
  const causes = commands.flatMap(({ cause }) => cause ?? []);
  const isKnown = causes.length === commands.length && causes.length <= maxNamed;
  if (isIdle || !isKnown) return { by: "external" };
  return causes.length === 1 ? causes[0]! : { by: "call", commands: causes };
}
