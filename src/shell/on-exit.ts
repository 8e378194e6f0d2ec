import type { Programs } from "./programs/programs.ts";

/**
 * Kills all programs when this process ends by itself or by a signal without another handler: in sessions of
 * their own, they would outlive it. Returns a function that removes the handlers.
 */
export function killOnExit(programs: Programs): () => void {
  const killAll = () => programs.killAll();
  const die = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    killAll();
    process.off(signal, die);
    process.kill(process.pid, signal);
  };
  process.on("exit", killAll);
  for (const signal of endings) process.on(signal, die);
  return () => {
    process.off("exit", killAll);
    for (const signal of endings) process.off(signal, die);
  };
}

const endings = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
