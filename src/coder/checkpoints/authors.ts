/** The authors of checkpoints, in requests and in answers. */
import { type Static, Type } from "@sinclair/typebox";
import { type Author, authorId, isSameAuthor, isWithoutSession, renderAuthor } from "../../base/author.ts";
import { Named } from "../../base/schema/fragments.ts";
import type { Journal } from "../../filesystem/journal/journal.ts";
import type { JournalRecord } from "../../filesystem/journal/read-record.ts";
import { recentRecords } from "../../filesystem/journal/recent-records.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";
import { isShown } from "./recorded-paths.ts";

export const AuthorFields = Named("Author", {
  client: Type.Optional(Type.String({ description: "The name and version that a client of MCP claims." })),
  session: Type.Optional(Type.String({ description: "The session of MCP." })),
  user: Type.Optional(Type.String({ description: "The user who ran the command line." })),
  worker: Type.Optional(Type.String({ description: "The worker that sent the call over the bus." })),
});

/** The authors that `by` selects. */
export const By = (isRare?: true) =>
  Type.Optional(
    Type.Union([Type.Literal("me"), Type.Literal("others")], {
      ...(isRare && { isRare }),
    }),
  );

export type By = "me" | "others" | undefined;

/** Throws a refusal if `by` needs the author of a call that cannot be distinguished from others. */
export function requireOwnAuthor(by: By, { author }: Pick<CoderContext, "author">): void {
  if (by !== undefined && isWithoutSession(author)) throw refuseCoder.byWithoutSession(by);
}

/**
 * Returns whether an author is selected. An unknown caller selects everything. Throws a refusal for a client
 * without a session.
 */
export function selectsAuthor(by: By, { author: own }: Pick<CoderContext, "author">) {
  requireOwnAuthor(by, { author: own });
  return (author: Author | undefined): boolean =>
    by === undefined || authorId(own) === undefined || isSameAuthor(own, author) === (by === "me");
}

/** Returns the author of a record as an answer has it, cut to a bounded length. */
export const describeAuthor = (author: Author): Static<typeof AuthorFields> =>
  Object.fromEntries(
    (["client", "session", "user", "worker"] as const).flatMap((field) => {
      const value = author[field];
      return value === undefined ? [] : [[field, value.slice(0, 200)]];
    }),
  );

/** The newest checkpoints of others. */
export interface OthersWork {
  readonly count: number;
  /** Whether there may be more. */
  readonly isMore: boolean;
  readonly newest: JournalRecord;
}

/** Returns the checkpoints of others than this author, if any. Throws the errno error. */
export function findOthersWork(
  { journal, jail }: Pick<CoderContext, "jail"> & { readonly journal: Journal },
  own: Author | undefined,
): OthersWork | undefined {
  const records = recentRecords(journal);
  const others = records.filter(
    ({ author, steps }) => !isSameAuthor(own, author) && steps.some((step) => isShown(step, jail)),
  );
  const [newest] = others;
  if (newest === undefined) return undefined;
  return { count: others.length, isMore: (records.at(-1)?.seq ?? 1) > 1, newest };
}

/** Renders the number of checkpoints, such as `8 checkpoints of others`. */
export const renderCount = ({ count, isMore }: Pick<OthersWork, "count" | "isMore">): string =>
  `${count}${isMore ? " or more" : ""} ${count === 1 && !isMore ? "checkpoint" : "checkpoints"} of others`;

/** Renders what a new session should know about the checkpoints of others. */
export function renderOthersWork(work: OthersWork): string {
  const { seq, author, function_id: id, label } = work.newest;
  const what = [id, ...(label === undefined ? [] : [JSON.stringify(label)])].filter(Boolean).join(" ");
  return `The journal has ${renderCount(work)}, the newest #${seq} by ${renderAuthor(author)} (${what}). coder::checkpoints lists them. coder::undo takes back your own changes, and those of others only with seq.`;
}
