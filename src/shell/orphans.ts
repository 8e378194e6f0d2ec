import type { ShellContext } from "./define.ts";

/** Milliseconds within which the engine has to list its connections. */
const patience = 2000;

/**
 * Finds the jobs whose owner has left. A client gets a new id with each connection, and the engine notifies
 * no worker when one leaves, so this queries the engine, but only when jobs are private and other callers
 * have some.
 */
export async function findOrphans({ bus, caller, config, jobs }: ShellContext): Promise<void> {
  if (!config.private_jobs || bus === undefined || !jobs.hasForeign(caller)) return;
  try {
    jobs.disown(idsIn(await bus.call("engine::workers::list", {}, patience)));
  } catch {
    // Without an answer the owners stay unchanged.
  }
}

/** Throws if the answer is not a list of workers: then no owner is known to have left. */
function idsIn(answer: unknown): Set<string> {
  const { workers } = answer as { readonly workers: readonly { readonly id: string }[] };
  return new Set(workers.map(({ id }) => id));
}
