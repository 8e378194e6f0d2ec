import type { WorkerName } from "./about.ts";
import { UsageError } from "./arguments/usage-error.ts";
import type { FunctionDefinition } from "./contract/definition.ts";
import { mostSimilar } from "./similar-name.ts";

/**
 * Returns the function with the id `name`, which may lack the name of the worker. Throws a `UsageError` that
 * names the most similar one.
 */
export function functionNamed(
  name: string,
  worker: WorkerName,
  functions: readonly FunctionDefinition[],
): FunctionDefinition {
  const id = name.includes("::") ? name : `${worker}::${name}`;
  const found = functions.find((definition) => definition.id === id);
  if (found !== undefined) return found;
  const ids = functions.map((definition) => definition.id);
  const meant = mostSimilar(
    id.slice(id.indexOf("::")).replaceAll("_", "-"),
    ids.map((one) => one.slice(worker.length)),
  );
  throw new UsageError(
    `${id} is not a function${meant === undefined ? "" : `; did you mean ${worker}${meant}?`}${meant === undefined ? "; they are" : " They are"} ${ids.join(", ")}`,
  );
}
