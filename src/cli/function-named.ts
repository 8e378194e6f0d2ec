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
  const ids = functions.map((definition) => definition.id);
  const meant = maxSimilar(
    id.slice(id.indexOf("::")).replaceAll("_", "-"),
    ids.map((one) => one.slice(worker.length)),
  );
  throw new UsageError(
    `${id} is not a function${meant === undefined ? "" : `; did you mean ${worker}${meant}?`}${meant === undefined ? "; they are" : " They are"} ${ids.join(", ")}`,
  );
}
