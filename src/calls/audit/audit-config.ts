/** The configuration key `audit` of both workers, and the trail that it opens. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { Log } from "../../base/log/log.ts";
import { ConfigError } from "../../config/file.ts";
import { errnoOf } from "../../filesystem/jail/errno.ts";
import { Audit } from "./audit.ts";
import { AuditFile, maxKeep } from "./audit-file.ts";

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
}

function contains(root: string, folder: string): boolean {
  const within = relative(root, folder);
  return within !== ".." && !within.startsWith("../");
}

/** Opens the audit trail if it is configured. Throws a `ConfigError` for an unsuitable file. */
export function openAudit({ config, roots, log }: Opening): Audit | undefined {
  if (config === null) return undefined;
  const { file, max_bytes: maxBytes, keep } = config;
  try {
    const folder = realpathSync(dirname(resolve(file)));
    const root = roots.find((one) => contains(one, folder));
    if (root !== undefined)
      throw new ConfigError(
        `audit: file: ${file} lies in the folder that is served, ${root}, where calls could reach it; name another.`,
      );
    return new Audit(new AuditFile(join(folder, basename(file)), { maxBytes, keep }), log);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      `audit: file: ${file} cannot be written (${errnoOf(error) ?? "unknown"}); name a file in a folder that is there.`,
    );
  }
}
