/**
 * Offers files below the base as resources: `coder:///src/main.ts`. Reads and lists them through the
 * functions, so that a resource is exactly what a call would see.
 */
import {
  type CompleteResult,
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isAbsence } from "../../coder/error-codes.ts";
import { listFolder } from "../../coder/list-folder.ts";
import type { ReadAnswer } from "../../coder/read-file/answer.ts";
import { readFile } from "../../coder/read-file.ts";
import { quoteBriefly } from "./messages.ts";
import { pathOf, uriOf, uriTemplate } from "./resource-uris.ts";
import type { ResourceWatch } from "./resource-watch.ts";
import { appUri, readApp } from "./review-app.ts";
import type { CallOptions, ToolHost } from "./tool-host.ts";
import { wording } from "./tools.ts";

/** Maximum values of a completion (MCP 2025-11-25, server/utilities/completion). */
const maxCompletions = 100;

export interface ResourceOptions {
  readonly optionsOf: (context: ServerContext) => CallOptions;
  /** The watch that notifies the session of changes, or `undefined` if no session is needed for that. */
  readonly watch: ResourceWatch | undefined;
}

/** Registers the handlers of resources: a list of the files in the base, and a template for all others. */
export function offerResources(server: Server, host: ToolHost, { optionsOf, watch }: ResourceOptions): void {
  server.setRequestHandler("resources/list", ({ params }, context) =>
    listResources(host, params?.cursor, optionsOf(context)),
  );
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [
      {
        name: "file",
        title: "A file below the base folder",
        uriTemplate,
        description: "Any readable file, as text or as bytes, by its path relative to the base folder.",
      },
    ],
  }));
  server.setRequestHandler("resources/read", ({ params }, context) =>
    params.uri === appUri && host.hasApp ? readApp() : readResource(host, params.uri, optionsOf(context)),
  );
  if (watch !== undefined) {
    server.setRequestHandler("resources/subscribe", async ({ params }) => {
      await watch.subscribe(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      watch.unsubscribe(params.uri);
      return {};
    });
  }
  server.setRequestHandler("completion/complete", ({ params: { ref, argument } }, context) => {
    const isPath = ref.type === "ref/resource" && ref.uri === uriTemplate && argument.name === "path";
    return isPath ? completePath(host, argument.value, optionsOf(context)) : { completion: { values: [] } };
  });
}

async function listResources(
  host: ToolHost,
  cursor: string | undefined,
  options: CallOptions,
): Promise<ListResourcesResult> {
  const page = Number(cursor ?? 1);
  if (!Number.isSafeInteger(page) || page < 1)
    throw invalid(`There is no page ${quoteBriefly(String(cursor))}.`);
  const { entries, has_more: hasMore } = await list(host, { page }, options);
  return {
    resources: entries
      .filter(({ kind, non_accessible: isDenied }) => kind === "file" && !isDenied)
      .map(({ name, size }) => ({ name, size, uri: uriOf(name) })),
    ...(hasMore && { nextCursor: String(page + 1) }),
  };
}

async function readResource(host: ToolHost, uri: string, options: CallOptions): Promise<ReadResourceResult> {
  const answer = await readWhole(host, uri, { options });
  if (answer.binary !== undefined) {
    const { content: blob = "" } = await readWhole(host, uri, { options, encoding: "base64" });
    return { contents: [{ uri, mimeType: "application/octet-stream", blob }] };
  }
  const { content = "", media_type: mimeType } = answer;
  return {
    contents: [
      mimeType === undefined
        ? { uri, mimeType: "text/plain", text: content }
        : { uri, mimeType, blob: content },
    ],
  };
}

interface ResourceRead {
  readonly options: CallOptions;
  readonly encoding?: "base64";
}

async function readWhole(
  host: ToolHost,
  uri: string,
  { options, ...more }: ResourceRead,
): Promise<ReadAnswer> {
  // The profile's budget is for a model's reading. A client that reads a resource decides about its use.
  const request = { path: pathOf(uri), max_output_bytes: 2 ** 32 - 1, revision: false, ...more };
  const outcome = await host.call(readFile, request, options);
  if ("error" in outcome) {
    const sentence = wording.failure(outcome.error);
    throw isAbsence(outcome.error) ? new ResourceNotFoundError(uri, sentence) : invalid(sentence);
  }
  return outcome.answer as ReadAnswer;
}

async function completePath(host: ToolHost, typed: string, options: CallOptions): Promise<CompleteResult> {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const start = typed.slice(folder.length);
  // A missing folder has no completions, because the user is still typing its name.
  const { entries, has_more: hasMore } = await list(
    host,
    { path: folder === "" ? "." : folder, page_size: 1000 },
    options,
  ).catch(() => ({ entries: [], has_more: false }));
  const values = entries
    .filter(({ name, non_accessible: isDenied }) => name.startsWith(start) && !isDenied)
    .map(({ name, kind }) => folder + name + (kind === "dir" ? "/" : ""));
  return {
    completion: {
      values: values.slice(0, maxCompletions),
      hasMore: hasMore || values.length > maxCompletions,
    },
  };
}

interface Listing {
  readonly entries: readonly {
    readonly name: string;
    readonly kind: string;
    readonly size: number;
    readonly non_accessible: boolean;
  }[];
  readonly has_more: boolean;
}

/** Lists a page of a folder. */
async function list(host: ToolHost, request: object, options: CallOptions): Promise<Listing> {
  const outcome = await host.call(listFolder, request, options);
  if ("error" in outcome) throw invalid(wording.failure(outcome.error));
  return outcome.answer as Listing;
}

const invalid = (sentence: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
