/** The author of a call, as journal, feed, audit trail and log name it. */
export interface Author {
  /** The name and version that a client of MCP claims. */
  readonly client?: string;
  /** The name of its session, which confers no rights; absent if the client has none. */
  readonly session?: string;
  /** The id of a worker on the bus. */
  readonly worker?: string;
  /** The user who ran the command line. */
  readonly user?: string;
}

/**
 * Returns the text that distinguishes an author from others; `undefined` if nothing does. The claimed name of
 * a client does not: two clients may have one name.
 */
export const authorId = ({ session, worker, user }: Author = {}): string | undefined =>
  session ?? worker ?? user;

/** Returns whether an author is a client without a session, which only claims a name. */
export const isWithoutSession = (author: Author = {}): boolean =>
  author.client !== undefined && authorId(author) === undefined;

/** Returns whether two calls have the same known author. */
export function isSameAuthor(one: Author | undefined, other: Author | undefined): boolean {
  const id = authorId(one);
  return id !== undefined && id === authorId(other);
}

/** Renders an author for people, such as `claude-code 2.1 (session 5f0c1a2b)`. */
export function renderAuthor({ client, session, worker, user }: Author = {}): string {
  if (session !== undefined) return `${client ?? "a client"} (session ${session})`;
  if (worker !== undefined) return `worker ${worker}`;
  if (user !== undefined) return `user ${user}`;
  return client === undefined ? "an unknown caller" : `${client} (without a session)`;
}

/** Maximum characters of a name that a client claims. */
const maxNameLength = 60;

/**
 * Returns a claimed name in a form that other clients can be shown: on one line, short, and without
 * characters that could end a sentence of the worker or begin another one.
 */
export const claimedName = (name: string): string =>
  name.slice(0, maxNameLength).replace(/[^\p{L}\p{N} ._/@+-]/gu, "?");
