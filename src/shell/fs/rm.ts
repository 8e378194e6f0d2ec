import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { explainStop } from "../../filesystem/operations/partly-removed.ts";
import { unlinkPath } from "../../filesystem/operations/remove.ts";
import type { RemovalProgress } from "../../filesystem/operations/require-allowed.ts";
import type { ShellContext } from "../define.ts";
import { defineFsFunction, foundPaths, shortDeadline } from "./define.ts";
import { inShellWords } from "./fs-errors.ts";

/** `shell::fs::rm`: removes a file, a link or a folder (shell §9.4). */
export const rm = defineFsFunction({
  op: "rm",
  description: "Remove a path on host or sandbox",
  effect: "writes",
  paths: [
    { at: "/path", access: "remove", when: { recursive: false } },
    { at: "/path", access: "remove-tree", when: { recursive: true } },
  ],
  fields: { path: Type.String(), recursive: Type.Boolean({ default: false }) },
  response: Type.Object({ removed: Type.Boolean() }, { title: "RmResponse" }),
  examples: [
    { title: "A folder with everything in it", request: { path: "/srv/data/old", recursive: true } },
  ],
  async handle({ path, recursive }, context) {
    using deadline = shortDeadline(context);
    const progress: RemovalProgress = { removed: 0 };
    try {
      await unlinkPath(context.fs.tree, { path, recursive, progress }, { ...context, deadline });
    } catch (error) {
      throw error instanceof Refusal ? explained(error, { path, progress }, context) : error;
    }
    return { removed: true };
  },
});

/** Returns the refusal of a removal, in the profile `agent` with what is gone and how it comes back. */
function explained(
  refusal: Refusal,
  { path, progress }: { readonly path: string; readonly progress: RemovalProgress },
  { fs: { jail, journal }, profile, ...call }: ShellContext,
): Refusal {
  if (!profile["fs.rm.progress"]) return refusal;
  return explainStop(refusal, path, progress, {
    seq: journal?.checkpointOf(call),
    losses: journal?.lossesOf(call) ?? 0,
    // Without its path, since that sentence is complete.
    inWords: (cause) => {
      const { reason, message, details } = inShellWords(cause, profile);
      return new Refusal(reason, message, undefined, { ...(details && { details }) });
    },
    nameOf: foundPaths(jail, path),
  });
}
