/** The configuration key `audit` of both workers, and the trail that it opens. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { Log } from "../../base/log/log.ts";
import { ConfigError } from "../../config/file.ts";
import { errnoOf } from "../../filesystem/jail/errno.ts";
import { otherOwnerOf } from "../../filesystem/jail/other-owner.ts";
import { Audit, type AuditTarget } from "./audit.ts";
import { AuditFile, maxKeep, newestHashIn } from "./audit-file.ts";

const mebibyte = 1024 * 1024;

/** Returns the schema of the key. The description ends with the part that is specific to one worker. */
export const AuditKey = (ofWorker: string) =>
  Type.Union(
    [
      Type.Null(),
      Type.Object({
        file: Type.String({ minLength: 1 }),
        max_bytes: Type.Integer({ minimum: 4096, maximum: 65_536 * mebibyte, default: 64 * mebibyte }),
        keep: Type.Integer({ minimum: 0, maximum: maxKeep, default: 8 }),
      }),
    ],
    {
      default: null,
      description: `A file that gets a line of JSON for each call: when, which function, for which caller, the paths, the outcome, and each change with the revisions before and after it; never contents. Each line has the hash of the line before. A mapping of file, which lies outside of the folder that is served, max_bytes (67108864), at which a new file is begun, and keep (8), the number of older files. null keeps none. ${ofWorker}`,
    },
  );

type AuditConfig = Static<ReturnType<typeof AuditKey>>;

interface Opening {
  readonly config: AuditConfig;
  /** Canonical host paths of the folders that are served. */
  readonly roots: readonly string[];
  readonly log: Log;
  /** Whether no call is to be recorded, and no file made. */
  readonly onlyReads?: boolean | undefined;
}

function contains(root: string, folder: string): boolean {
  const within = relative(root, folder);
  return within !== ".." && !within.startsWith("../");
}

/** Opens the audit trail if it is configured. Throws a `ConfigError` for an unsuitable file. */
export function openAudit({ config, roots, log, onlyReads = false }: Opening): Audit | undefined {
  if (config === null) return undefined;
  const { file, max_bytes: maxBytes, keep } = config;
  try {
    const folder = realpathSync(dirname(resolve(file)));
    const root = roots.find((one) => contains(one, folder));
    if (root !== undefined)
      throw new ConfigError(
        `audit: file: ${file} lies in the folder that is served, ${root}, where calls could reach it; name another.`,
      );
    const path = join(folder, basename(file));
    return new Audit(
      onlyReads ? unrecorded(newestHashIn(path)) : new AuditFile(path, { maxBytes, keep }),
      log,
    );
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = errnoOf(error) ?? "unknown";
    const owner = code === "EACCES" ? otherOwnerOf(resolve(file)) : undefined;
    const advice =
      owner === undefined
        ? "; name a file in a folder that is there."
        : `: ${owner}; give that to the user of this worker, or name another file.`;
    throw new ConfigError(`audit: file: ${file} cannot be written (${code})${advice}`);
  }
}

/** Returns the trail of a process whose only call changes nothing, and has no line. */
const unrecorded = (newest: string): AuditTarget => ({ newest, append() {}, close() {} });
