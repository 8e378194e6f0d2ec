import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Checkpoint, readCheckpoints } from "./worker.ts";

/** Checkpoints of one page. The first page has their lines; it is read again after each change. */
const pageSize = 100;

/** Checkpoints with their lines: counting those of older ones means going back through all newer ones. */
const withLines = 300;

export interface Timeline {
  /** The loaded checkpoints, newest first. */
  readonly checkpoints: readonly Checkpoint[];
  readonly isComplete: boolean;
  readonly isLoading: boolean;
  readonly error: Error | undefined;
  /** Loads older checkpoints, if any. */
  more(): void;
  /** Loads the checkpoints that are new. */
  refresh(): void;
}

interface Loaded {
  readonly checkpoints: readonly Checkpoint[];
  readonly next: number | undefined;
}

/** Loads the checkpoints of a path, or all, page by page. */
export function useTimeline(path: string): Timeline {
  const [loaded, setLoaded] = useState<Loaded | undefined>();
  const [error, setError] = useState<Error>();
  const [isLoading, setLoading] = useState(true);
  const current = useRef({ path, loaded, isBusy: false, isStale: false });
  current.current.loaded = loaded;

  const load = useCallback(
    async (isRefresh: boolean) => {
      const state = current.current;
      if (state.isBusy) {
        state.isStale ||= isRefresh;
        return;
      }
      state.isBusy = true;
      setLoading(true);
      try {
        const known = state.loaded;
        const before = isRefresh ? undefined : known?.next;
        const count = isRefresh ? 0 : (known?.checkpoints.length ?? 0);
        const answer = count < withLines ? "stat" : "names";
        const limit = answer === "stat" ? pageSize : 1000;
        const page = await readCheckpoints({ before, path, limit, answer });
        if (current.current !== state) return;
        setLoaded(isRefresh ? merge(page, known) : append(known, page));
        setError(undefined);
      } catch (reason) {
        if (current.current === state) setError(reason as Error);
      } finally {
        state.isBusy = false;
        if (current.current === state) setLoading(false);
        if (state.isStale) {
          state.isStale = false;
          if (current.current === state) void load(true);
        }
      }
    },
    [path],
  );

  useEffect(() => {
    current.current = { path, loaded: undefined, isBusy: false, isStale: false };
    setLoaded(undefined);
    void load(true);
  }, [path, load]);

  return {
    checkpoints: loaded?.checkpoints ?? [],
    isComplete: loaded !== undefined && loaded.next === undefined,
    isLoading,
    error,
    more: () => {
      if (loaded?.next !== undefined) void load(false);
    },
    refresh: () => void load(true),
  };
}

/** Puts a page of the newest checkpoints before the known ones, unless some between them are missing. */
function merge(page: Loaded, known: Loaded | undefined): Loaded {
  const oldest = page.checkpoints.at(-1)?.seq;
  const newest = known?.checkpoints[0]?.seq;
  if (known === undefined || oldest === undefined || newest === undefined || oldest > newest) return page;
  return {
    checkpoints: [...page.checkpoints, ...known.checkpoints.filter(({ seq }) => seq < oldest)],
    next: known.checkpoints.at(-1)!.seq < oldest ? known.next : page.next,
  };
}

const append = (known: Loaded | undefined, page: Loaded): Loaded => ({
  checkpoints: [...(known?.checkpoints ?? []), ...page.checkpoints],
  next: page.next,
});
