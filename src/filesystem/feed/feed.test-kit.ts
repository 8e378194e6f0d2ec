import type { FeedChange } from "./change.ts";

type Part = Partial<FeedChange> & Pick<FeedChange, "seq" | "path">;

/** Returns a change with the parts that a test is about. */
export const change = (part: Part): FeedChange => ({
  ...{ kind: "modified", isFolder: false, cause: { by: "external" } },
  ...part,
});
