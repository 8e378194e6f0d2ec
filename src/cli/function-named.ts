import type { WorkerName } from "../base/about.ts";
import { maxSimilar } from "../base/similar-name.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { UsageError } from "../config/arguments/usage-error.ts";

/**
 * Returns the function with the id `name`, which may lack the name of the worker. Throws a `UsageError` that
 * names the most similar one.
 */
export function functionNamed(
  name: string,
  worker: WorkerName,
  functions: readonly FunctionDefinition[],
): FunctionDefinition {
  const found = functions.find(({ id }) => id === name || id === `${worker}::${name}`);
  if (found !== undefined) return found;
  const id = name.includes("::") ? name : `${worker}::${name}`;
  const meant = similarFunction(name, worker, functions);
  const ids = functions.map((definition) => definition.id).join(", ");
  throw new UsageError(
    meant === undefined
      ? `${id} is not a function; they are ${ids}`
      : `${id} is not a function; did you mean ${meant.id}? They are ${ids}`,
  );
}

/** Returns the function that a mistyped name most likely stands for, if any. */
export function similarFunction(
  name: string,
  worker: WorkerName,
  functions: readonly FunctionDefinition[],
): FunctionDefinition | undefined {
  const start = name.includes("::") ? name.indexOf("::") + 2 : 0;
  const names = functions.map(({ id }) => id.slice(worker.length + 2));
  const meant = maxSimilar(name.slice(start).replaceAll("_", "-"), names);
  return functions.find(({ id }) => id === `${worker}::${meant}`);
}
