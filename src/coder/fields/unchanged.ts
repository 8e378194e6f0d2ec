import { Type } from "@sinclair/typebox";

/** Whether a change found everything as it would have left it, so that nothing was written. */
export const Unchanged = Type.Optional(
  Type.Boolean({
    since: "0.4.0",
    description: "Present if everything was like that already; of a content, in the profile `agent`.",
  }),
);
