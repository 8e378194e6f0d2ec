import type { DiskTree } from "./disk-tree.ts";

/** The sweep of a tree when a worker starts, which ends with the worker. */
export interface Sweeper {
  /** Removes everything that killed processes left. Returns the number of files. */
  sweep(): Promise<number>;
  /** Stops the sweep, and resolves when it has ended. */
  stop(): Promise<void>;
}

export function openSweeper(tree: Pick<DiskTree, "sweep">): Sweeper {
  const stopping = new AbortController();
  let sweeping: Promise<number> | undefined;
  return {
    sweep() {
      sweeping = tree.sweep(stopping.signal);
      return sweeping;
    },
    async stop() {
      stopping.abort();
      await sweeping?.catch(() => {});
    },
  };
}
