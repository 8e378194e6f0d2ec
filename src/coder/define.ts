import type { Audit } from "../calls/audit/audit.ts";
import { type Context, definerFor, type FailedCall, type Services } from "../calls/contract/definition.ts";
import type { ConfigStatus } from "../config/status.ts";
import type { Requester } from "../filesystem/disk/mutation.ts";
import type { Feed } from "../filesystem/feed/feed.ts";
import type { Files } from "../filesystem/files/files.ts";
import type { LineCounts } from "../filesystem/files/line-counts.ts";
import type { Jail } from "../filesystem/jail/folder.ts";
import type { Journal } from "../filesystem/journal/journal.ts";
import type { MissingJournal, OtherJournal } from "../filesystem/journal/journal-config.ts";
import type { WritableTree } from "../filesystem/operations/writable-tree.ts";
import type { Transactions } from "../filesystem/transactions/transactions.ts";
import type { SharedTree } from "../filesystem/watch/shared-tree.ts";
import type { IgnoreFiles } from "../search/ignore/ignore-files.ts";
import type { Searcher } from "../search/search.ts";
import type { EncodingRules } from "../text/encodings/encoding-rules.ts";
import type { ExcludeGlobs } from "../text/globs/exclude-globs.ts";
import type { RegexEngine } from "../text/regex/rust-regex.ts";
import type { Config } from "./config.ts";
import type { ProfileDefaults, ProfileName } from "./profiles.ts";
import type { ShownFiles } from "./services/shown-files.ts";
import type { Plans } from "./transact/plans.ts";

export interface ExplainedWith {
  /** The jail under that of a plan. */
  readonly onDisk?: Jail | undefined;
  readonly call?: FailedCall | undefined;
}

/** The services that every call to `coder::*` works with. */
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
  /** The time at which the worker was opened, from `performance.now()`. */
  readonly openedAt: number;
  /** Returns an error with the facts about its path in a tree. */
  readonly explain: (error: unknown, seen: Jail, known?: ExplainedWith) => unknown;
  readonly jail: Jail;
  readonly files: Files;
  /** The tree that functions change: the disk, or in a transaction its plan. */
  readonly tree: WritableTree;
  /** The line counts of the large files that were read last. */
  readonly lineCounts: LineCounts;
  /** `undefined` if no folder can keep their records. */
  readonly transactions: Transactions | undefined;
  /**
   * The plans that dry runs have shown, to be carried out unchanged; `undefined` if the worker ends with this
   * call, and they with it.
   */
  readonly plans: Plans<CoderContext> | undefined;
  /** `undefined` if the configuration disables it, or if no folder can keep it. */
  readonly journal: Journal | undefined;
  /** The reason for a missing journal, unless the configuration simply has none. */
  readonly journalMissing: MissingJournal | undefined;
  /** Returns the roots of other workers that have kept a journal and overlap with those of this one. */
  readonly findOtherJournals: () => readonly OtherJournal[];
  /** Whether checkpoints name their authors. */
  readonly namesAuthors: boolean;
  /** Returns the number of changes of this call so far that an undo cannot take back, though it should. */
  lossesOf(requester: Requester): number;
  /** `undefined` if the configuration disables it. */
  readonly audit: Audit | undefined;
  readonly feed: Feed;
  readonly shownFiles: ShownFiles;
  readonly regex: RegexEngine;
  readonly searcher: Searcher;
  /** The watched tree, which is opened for its first subscriber. */
  readonly watchedTree: SharedTree;
  readonly ignoreFiles: IgnoreFiles;
  /** The encodings of files without a byte order mark, by their paths. */
  readonly encodings: EncodingRules;
  /** The globs that a call leaves out with `use_default_excludes`. */
  readonly defaultExcludes: ExcludeGlobs;
}

/** The context of a call to `coder::*`. A dry run may have a forecast. */
export type CoderContext = Context<CoderServices> & Pick<Requester, "forecast">;

/** Defines a function of `coder::*`. */
export const defineCoderFunction = definerFor<CoderServices>();

/** The estimate for answers whose size is unknown before the work; it is corrected afterwards. */
export const defaultAnswerBytes = { ofTree: 1024 * 1024, ofSearch: 4 * 1024 * 1024 } as const;
