import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Lets `act` use an empty folder, which is removed afterwards. Its path has no links in it. */
export async function inTemporaryFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "coder-"));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
