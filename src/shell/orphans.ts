import type { ShellContext } from "./define.ts";

/** How long the engine may take to list its connections, in milliseconds. */
const patience = 2000;

/**
 * Finds the jobs whose owner has left. A client gets a new id with each connection, and no worker is notified when one
 * leaves: this queries the engine, and only when jobs are private and there are some of others.
 */
export async function findOrphans({ bus, caller, config, jobs }: ShellContext): Promise<void> {
  if (!config.private_jobs || bus === undefined || !jobs.hasForeign(caller)) return;
  try {
    jobs.disown(idsIn(await bus.call("engine::workers::list", {}, patience)));
  } catch {
    // An engine that does not say leaves things as they are.
  }
}

/** Throws when the answer is not a list of workers: then no owner is known to have left. */
function idsIn(answer: unknown): Set<string> {
  const { workers } = answer as { readonly workers: readonly { readonly id: string }[] };
  return new Set(workers.map(({ id }) => id));
}
