import type { FeedChange } from "./change.ts";
import { idle } from "./period.ts";

type Part = Partial<FeedChange> & Pick<FeedChange, "seq" | "path">;

/** Returns a change with the parts that a test is about. */
export const change = (part: Part): FeedChange => ({
  ...{ kind: "modified", isFolder: false, cause: { by: "external" } },
  ...part,
});

/** The periods of a tree beside which no commands run. */
export const atRest = { period: () => idle, latePeriod: () => idle };
