/** Edits a file without a transport, so that a test can act at each step. */

import type { CoderRuntime } from "../../src/coder/services.ts";
import { FileEdit } from "../../src/filesystem/operations/update.ts";

/**
 * Replaces the content of a file by the result of `change`, which is called again if another program was
 * faster.
 */
export async function edit(
  { tree }: Pick<CoderRuntime, "tree">,
  path: string,
  change: (before: Buffer) => Buffer | Promise<Buffer>,
  requester: Parameters<typeof FileEdit.begin>[2],
): Promise<void> {
  await using file = await FileEdit.begin(tree, path, requester);
  while (!(await file.write([await change(file.before)])));
}
