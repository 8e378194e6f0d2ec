/**
 * Serves the page for people on loopback: its files, the calls that it makes, and the changes of the tree as
 * server-sent events. A call of the page is run like any other, so rules, quotas and audit apply.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Author, renderAuthor } from "../base/author.ts";
import type { Log } from "../base/log/log.ts";
import { maxDepth, parseJson } from "../base/scheduling/parse-json.ts";
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import type { Approvals } from "../calls/approval/approvals.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import type { TreeChanges } from "../calls/contract/tree-changes.ts";
import { InFlight } from "../calls/in-flight.ts";
import type { Invoke } from "../calls/invoke.ts";
import { ChunkLimit } from "../serve/http-walls/chunk-limit.ts";
import { createNameCheck, createTokenCheck, type Denial } from "../serve/http-walls/guard.ts";
import {
  createGuardedServer,
  defaultServerLimits,
  type Exchanged,
  listen,
  makeToken,
} from "../serve/http-walls/guarded-server.ts";
import { jsonPartsOf } from "../text/sizes/json-parts.ts";
import { calledByPage } from "./called-by-page.ts";
import { EventStreams } from "./event-streams.ts";
import { type PageFile, readPage } from "./page-files.ts";

export interface ReviewOptions {
  /** The port, 0 for any free one. */
  readonly port: number;
  /** The token in the address; if absent, one is generated. */
  readonly token?: string | undefined;
  /** The name of the option that chose the port, for error sentences. */
  readonly option: string;
  /** The functions that the worker offers. */
  readonly functions: readonly FunctionDefinition[];
  readonly invoke: Invoke;
  /** Returns the changes of the tree, which a reload replaces. */
  readonly treeChanges: () => TreeChanges | undefined;
  /**
   * Returns the calls that wait for approval, which a reload replaces too. They can be
   * answered at the page while it is open.
   */
  readonly approvals: () => Approvals | undefined;
  /** The author of the page's changes. */
  readonly author: Author;
  readonly log: Log;
  /** The files of the page, by default those of the build. */
  readonly files?: Readonly<Record<string, PageFile>>;
}

export interface Review {
  /** The address with its token, for one person only. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The only address that it listens on. */
const host = "127.0.0.1";

/** Listens on loopback. Throws an Error of one sentence if it cannot. */
export async function serveReview(options: ReviewOptions): Promise<Review> {
  const { files = readPage?.().files, token = makeToken(), log, option } = options;
  if (files === undefined)
    throw new Error("the page is not part of these sources; npm run build makes a program that has it");
  const folder = folderOf(token);
  const calls = new InFlight();
  const events = new EventStreams(options.treeChanges, options.approvals);
  const routes: Routes = { ...options, files, folder, calls, events };
  const checkNames = createNameCheck(host);
  const isToken = createTokenCheck(token);
  const server = createGuardedServer({
    limits: defaultServerLimits,
    log,
    sendRefusal,
    answer(exchanged) {
      const { incoming, outgoing, path, refuse } = exchanged;
      const { origin } = incoming.headers;
      const denial = checkNames({ host: incoming.headers.host, origin }) ?? checkSite(incoming);
      if (denial !== undefined) return refuse(denial.status, denial.sentence);
      const sent = new URL(incoming.url ?? "/", "http://localhost").searchParams.get("token");
      if (incoming.method === "GET" && path === folder && sent !== null && isToken(sent))
        return enter(outgoing, folder, token);
      if (!isToken(cookieOf(incoming)))
        return refuse(401, `${sent === null ? "No" : "Wrong"} token. ${advice}`);
      exchanged.admit();
      if (!path.startsWith(folder)) return refuse(404, "There is nothing at this address.");
      answer(exchanged, routes);
    },
  });
  const port = await listen(server, { host, port: options.port }, option);
  return {
    url: `http://${host}:${port}${folder}?token=${token}`,
    async stop() {
      server.close();
      events.close();
      await calls.settled();
      server.closeAllConnections();
    },
  };
}

const advice = "Open the address that the program has printed at its start.";

/**
 * Returns the folder of all addresses, which is as secret as the token. Browsers send a cookie to all ports
 * of a host, so that of another port could otherwise read it.
 */
const folderOf = (token: string): string =>
  `/${createHash("sha256").update(`folder of ${token}`).digest("hex").slice(0, 32)}/`;

const cookieName = "coder_review";

function cookieOf({ headers }: IncomingMessage): string {
  const cookies = headers.cookie?.split("; ") ?? [];
  const prefix = `${cookieName}=`;
  return cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length) ?? "";
}

/** Stores the token in a cookie, and removes it from the address. */
function enter(outgoing: ServerResponse, folder: string, token: string): void {
  const cookie = `${cookieName}=${token}; Path=${folder}; HttpOnly; SameSite=Strict`;
  outgoing.writeHead(303, { ...safeHeaders, location: folder, "set-cookie": cookie }).end();
}

/** Refuses requests of other pages, even those from another port of this machine. */
function checkSite({ headers }: IncomingMessage): Denial | undefined {
  const { origin, host: name } = headers;
  const site = headers["sec-fetch-site"];
  const isOwn = origin === undefined || origin === `http://${name}`;
  const isOpened = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  if (isOwn && (site === undefined || site === "same-origin" || site === "none" || isOpened))
    return undefined;
  return { status: 403, sentence: "Another page than this server's own has sent this request." };
}

interface Routes extends Pick<ReviewOptions, "functions" | "invoke" | "author" | "approvals" | "log"> {
  readonly files: Readonly<Record<string, PageFile>>;
  readonly folder: string;
  readonly calls: InFlight;
  readonly events: EventStreams;
}

function answer(exchanged: Exchanged, routes: Routes): void {
  const { incoming, outgoing, path, refuse } = exchanged;
  const { folder, events } = routes;
  const name = path.slice(folder.length);
  if (name.startsWith("call/")) {
    if (incoming.method !== "POST") refuse(405, "A call is a POST of its payload.");
    else
      void call(name.slice("call/".length), exchanged, routes).catch((error: Error) => {
        exchanged.fail(error);
        outgoing.destroy();
      });
  } else if (name === "approvals") void answerApprovals(exchanged, routes).catch(() => outgoing.destroy());
  else if (incoming.method !== "GET") refuse(405, "Files of the page are read with GET.");
  else if (name === "events") events.open(outgoing, safeHeaders);
  else sendFile(name, exchanged, routes);
}

/** Sends the calls that wait for approval, or takes the answer of the person at the page. */
async function answerApprovals(
  { incoming, outgoing }: Exchanged,
  { approvals, author }: Routes,
): Promise<void> {
  if (incoming.method === "GET") return sendJson(outgoing, approvals()?.pending() ?? []);
  const isJson = incoming.headers["content-type"] === "application/json";
  const answer = isJson ? parse((await readBody(incoming)) ?? "") : undefined;
  const { id, verdict } = (answer ?? {}) as { readonly id?: unknown; readonly verdict?: unknown };
  if (typeof id !== "string" || (verdict !== "yes" && verdict !== "no"))
    return sendRefusal(outgoing, 400, "An answer is JSON with an id and a verdict, yes or no.");
  await sendJson(outgoing, approvals()?.answer(id, verdict, renderAuthor(author)) ?? "gone");
}

function sendFile(name: string, { outgoing, refuse }: Exchanged, { files }: Routes): void {
  const found = name === "" ? "index.html" : name;
  const file = Object.hasOwn(files, found) ? files[found] : undefined;
  if (file === undefined) refuse(404, "There is nothing at this address.");
  else outgoing.writeHead(200, { ...safeHeaders, "content-type": file.type }).end(file.text);
}

/** Maximum bytes of a payload: the page sends paths and numbers. */
const maxBodyBytes = 1024 * 1024;

async function call(
  id: string,
  { incoming, outgoing }: Pick<Exchanged, "incoming" | "outgoing">,
  { functions, invoke, author, calls }: Routes,
): Promise<void> {
  const definition = calledByPage.includes(id) ? functions.find((one) => one.id === id) : undefined;
  if (definition === undefined)
    return sendRefusal(outgoing, 404, "The worker offers no such function to this page.");
  if (incoming.headers["content-type"] !== "application/json")
    return sendRefusal(outgoing, 415, "A payload is application/json.");
  const left = new AbortController();
  outgoing.once("close", () => left.abort());
  const body = await readBody(incoming);
  const payload = body === undefined ? undefined : parse(body);
  if (payload === undefined)
    return sendRefusal(outgoing, 400, `The payload is not JSON of at most 1 MiB and ${maxDepth} levels.`);
  // The person at the page has approved an undo in its dialog.
  const promptUser = async () => "yes" as const;
  const origin = { author, session: "review", cancelled: left.signal, promptUser };
  const outcome = await calls.add(invoke(definition, payload, origin));
  await sendJson(outgoing, "error" in outcome ? { error: outcome.error } : { answer: outcome.answer });
}

async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const limit = new ChunkLimit();
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    limit.add(piece);
    bytes += piece.length;
    if (bytes > maxBodyBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Headers that confine the page to its own address, and prevent others from showing or reading it. Styles and
 * scripts are files.
 */
const safeHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Sends a value in parts, each encoded by itself, with other calls in between. */
async function sendJson(outgoing: ServerResponse, value: unknown): Promise<void> {
  const slice = createTimeSlice();
  outgoing.writeHead(200, { ...safeHeaders, "content-type": "application/json" });
  let last = "";
  for (const part of jsonPartsOf(value)) {
    if (last !== "") outgoing.write(last);
    last = part;
    if (slice.isDue) await slice.yieldIfDue();
    if (outgoing.destroyed) return;
  }
  outgoing.end(last);
}

function sendRefusal(outgoing: ServerResponse, status: number, sentence: string): void {
  const headers = { ...safeHeaders, "content-type": "text/plain; charset=utf-8", connection: "close" };
  outgoing.writeHead(status, headers).end(`${sentence}\n`);
}
