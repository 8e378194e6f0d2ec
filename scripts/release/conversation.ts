import { deepStrictEqual } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type IIIClient, registerWorker } from "iii-sdk";

/** A worker that has not ended by then has hung; an emulated one takes its time. */
const longest = 120_000;

/**
 * Starts the worker of `command` with its own engine over the empty folder `base`, and has a client of the official
 * SDK create, edit, find and delete a file there. Throws what did not go as it should.
 */
export async function converse(command: readonly string[], base: string): Promise<void> {
  const worker = Bun.spawn([...command, "--engine", "embedded:0", "--base-path", base], {
    cwd: base,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longest,
    killSignal: "SIGKILL",
  });
  try {
    const client = connect(await readUrl(worker.stderr));
    await exchange(client, base);
    await client.shutdown();
    worker.kill("SIGTERM");
    const ended = { code: await worker.exited, stdout: await worker.stdout.text() };
    deepStrictEqual(ended, { code: 0, stdout: "" });
  } finally {
    worker.kill("SIGKILL");
  }
}

async function exchange(client: IIIClient, base: string): Promise<void> {
  const path = "notes/tea.txt";
  await ask(client, "coder::create-file", { files: [{ path, content: "green\nblack\n" }] });
  const ops = [{ op: "replace", pattern: "(?m)^(?P<first>[gb])", replacement: "${first}." }];
  await ask(client, "coder::update-file", { files: [{ path, ops }] });
  deepStrictEqual(readFileSync(join(base, path), "utf8"), "g.reen\nb.lack\n");
  const query = { query: "B\\.(?:l|r)ac", regex: true, ignore_case: true, search_paths: false };
  const { content_matches } = await ask(client, "coder::search", query);
  deepStrictEqual(
    content_matches?.map(({ path, line }) => ({ path, line })),
    [{ path, line: 2 }],
  );
  await ask(client, "coder::delete-file", { paths: ["notes"], recursive: true });
  deepStrictEqual(existsSync(join(base, "notes")), false);
}

/** The parts of answers that are looked at. */
interface Answer {
  readonly results?: readonly { readonly success: boolean }[];
  readonly content_matches?: readonly { readonly path: string; readonly line: number }[];
}

/** Calls a function, and again while the worker is only about to be there. Throws when an entry has failed. */
async function ask(client: IIIClient, id: string, payload: object): Promise<Answer> {
  try {
    const answer = await client.trigger<object, Answer>({ function_id: id, payload });
    if (answer.results?.some(({ success }) => !success)) throw new Error(`${id}: ${JSON.stringify(answer)}`);
    return answer;
  } catch (error) {
    if ((error as { code?: string }).code === "function_not_found") return ask(client, id, payload);
    throw error;
  }
}

/** The address in the log line that says that the worker serves. */
async function readUrl(log: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of log) {
    text += decoder.decode(bytes, { stream: true });
    const url = text.match(/"message":"serving","url":"([^"]+)"/)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`the worker ended before it served: ${text}`);
}

function connect(url: string): IIIClient {
  console.debug = () => undefined; // the SDK says there that it has connected
  return registerWorker(url, {
    workerName: "try-targets",
    otel: { enabled: false },
    enableMetricsReporting: false,
  });
}
