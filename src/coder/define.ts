import type { Audit } from "../audit/audit.ts";
import type { ConfigStatus } from "../config/status.ts";
import { type Context, definerFor, type Services } from "../contract/definition.ts";
import type { Feed } from "../feed/feed.ts";
import type { Files } from "../files/files.ts";
import type { LineCounts } from "../files/line-counts.ts";
import type { ExcludeGlobs } from "../globs/exclude-globs.ts";
import type { IgnoreFiles } from "../ignore/ignore-files.ts";
import type { Jail } from "../jail/folder.ts";
import type { Journal } from "../journal/journal.ts";
import type { RegexEngine } from "../regex/engine.ts";
import type { Searcher } from "../search/search.ts";
import type { PendingFiles } from "../transactions/pending-tree.ts";
import type { Transactions } from "../transactions/transactions.ts";
import type { SharedTree } from "../watch/shared-tree.ts";
import type { Config } from "./config.ts";
import type { ProfileDefaults, ProfileName } from "./profiles.ts";
import type { Plans } from "./transacting/plans.ts";

/** What every call to `coder::*` works with. */
export interface CoderServices extends Services {
  readonly config: Config;
  readonly profileName: ProfileName;
  /** The defaults of later request fields. */
  readonly profile: ProfileDefaults;
  /** The functions that callers are offered. */
  readonly functionIds: readonly string[];
  /** Whether nothing may be written at all. */
  readonly isReadOnly: boolean;
  /** The outcome of the last reading of the configuration. */
  readonly configStatus: ConfigStatus;
  /** When the worker was opened, as `performance.now()` has it. */
  readonly openedAt: number;
  readonly jail: Jail;
  readonly files: Files;
  /** What is known of the large files that were read last. */
  readonly lineCounts: LineCounts;
  /** Undefined where no folder can keep their records. */
  readonly transactions: Transactions | undefined;
  /** What dry runs have shown, to be done exactly so. */
  readonly plans: Plans<CoderContext>;
  /** Undefined where the configuration wants none, or no folder can keep it. */
  readonly journal: Journal | undefined;
  /** Why no folder can keep a journal; undefined if one can. */
  readonly journalMissing: string | undefined;
  /** Undefined where the configuration wants none. */
  readonly audit: Audit | undefined;
  readonly feed: Feed;
  readonly regex: RegexEngine;
  readonly searcher: Searcher;
  /** What changes in the tree; it is opened for the first that subscribes. */
  readonly watchedTree: SharedTree;
  readonly ignoreFiles: IgnoreFiles;
  /** What a call leaves out with `use_default_excludes`. */
  readonly defaultExcludes: ExcludeGlobs;
}

export type CoderContext = Context<CoderServices>;

/** What a change works with: the files on disk, or those of a tree that only shows what the changes would leave. */
export type ChangeContext = Omit<CoderContext, "files"> & { readonly files: PendingFiles };

/** Defines a function of `coder::*`. */
export const defineCoderFunction = definerFor<CoderServices>();

/** The estimate for answers whose size is unknown before the work; it is corrected afterwards. */
export const usualAnswerBytes = { ofTree: 1024 * 1024, ofSearch: 4 * 1024 * 1024 } as const;
