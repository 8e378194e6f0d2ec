import type { WorkerName } from "../../src/base/about.ts";
import type { ReleaseTarget } from "./targets.ts";

/** An archive of a release. */
export interface Artefact {
  readonly worker: WorkerName;
  readonly target: ReleaseTarget;
  /** The absolute path of the archive. */
  readonly archive: string;
  /** The SHA-256 of the archive, in hexadecimal. */
  readonly digest: string;
  readonly archiveBytes: number;
  readonly executableBytes: number;
  /** The size of the part of it that is not the runtime. */
  readonly programBytes: number;
}
