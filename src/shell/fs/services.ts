import type { RuntimeOptions } from "../../config/environment.ts";
import { ConfigError } from "../../config/file.ts";
import type { OpenOptions } from "../../contract/definition.ts";
import { createFiles, type Files } from "../../files/files.ts";
import { compileGlobSet } from "../../globs/glob-set.ts";
import { trialFor } from "../../jail/case-sensitivity.ts";
import { globsForPaths } from "../../jail/denylist.ts";
import type { Jail } from "../../jail/folder.ts";
import { openJail } from "../../jail/jail.ts";
import type { Journal } from "../../journal/journal.ts";
import { locateState, openJournal } from "../../journal/journal-config.ts";
import type { Log } from "../../log/log.ts";
import type { RegexEngine } from "../../regex/engine.ts";
import { createSearcher, type Searcher } from "../../search/search.ts";
import type { ShellConfig } from "../config.ts";
import { Transfers } from "./transfers.ts";

/** The services of `shell::fs::*` on the host. */
export interface FsServices {
  readonly jail: Jail;
  readonly files: Files;
  readonly searcher: Searcher;
  readonly transfers: Transfers;
  close(): Promise<void>;
}

/** Largest file, in bytes, to edit or search as a whole when the configuration sets no limit. */
export const largestWhole = 64 * 1024 * 1024;

interface FsDependencies {
  readonly regex: RegexEngine;
  readonly runtimeOptions: RuntimeOptions;
  readonly opening: Partial<Pick<OpenOptions, "configFiles" | "mode" | "readOnly">>;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** Opens the jail around `fs.host_root`, or around everything. Throws a `ConfigError`. */
export function openFsServices(config: ShellConfig, dependencies: FsDependencies): FsServices {
  const { fs } = config;
  const { regex, runtimeOptions, log } = dependencies;
  const jail = openShellJail(fs, dependencies);
  const journal = journalFor(config, jail, dependencies);
  const files = createFiles({
    jail,
    config: { max_write_bytes: fs.max_write_bytes || largestWhole, fsync: true },
    ...(journal && { listeners: [journal] }),
    onListenerError: (error) => log.error("the journal failed", { reason: String(error) }),
  });
  const searcher = createSearcher({ jail, files, regex, threads: runtimeOptions.threads });
  const transfers = new Transfers();
  return {
    jail,
    files,
    searcher,
    transfers,
    async close() {
      transfers.close();
      await searcher.close();
      journal?.close();
      jail.close();
    },
  };
}

/** The journal that the configuration asks for, if it does: `coder::undo` of a worker for the same folder finds it. */
function journalFor(
  { journal: config }: ShellConfig,
  jail: Jail,
  { environment, log }: FsDependencies,
): Journal | undefined {
  if (config === null) return undefined;
  const state = locateState({ config, root: jail.hostPath(""), environment, log });
  return openJournal({ config, state, byDefault: false, log });
}

function openShellJail(
  { host_root, denylist_paths, fold_deny }: ShellConfig["fs"],
  { opening, runtimeOptions: { backend } }: FsDependencies,
): Jail {
  const basePath = host_root ?? "/";
  try {
    return openJail({
      basePath,
      deny: compileGlobSet(globsForPaths(basePath, denylist_paths)),
      foldDeny: fold_deny,
      protectedFiles: opening.configFiles,
      trial: trialFor(opening),
      paths: "absolute",
      backend,
    });
  } catch (error) {
    throw new ConfigError((error as Error).message.replace("base_path", "fs.host_root"));
  }
}
