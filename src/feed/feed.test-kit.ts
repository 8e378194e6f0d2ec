/** Changes for tests. */
import type { FeedChange } from "./change.ts";

type Part = Partial<FeedChange> & Pick<FeedChange, "seq" | "path">;

/** A change with what matters for a test. */
export const change = (part: Part): FeedChange => ({
  ...{ kind: "modified", isFolder: false, cause: { by: "external" } },
  ...part,
});
