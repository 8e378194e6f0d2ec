import { once } from "node:events";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, startCoder, stateFolder } from "../harness/subject.ts";
import { type McpFolderOptions, makeMcpFolder } from "../mcp/client.ts";

/** An agent in a process of its own that works in the folder of a page. */
export interface Agent {
  readonly name: string;
  /** Calls a tool, and resolves to the text of its answer. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
  leave(): Promise<void>;
}

/** A page over a new folder, served by `coder review`. */
export interface ReviewFixture extends AsyncDisposable {
  readonly base: string;
  /** The address of the page, including its token. */
  readonly url: string;
  join(name: string): Promise<Agent>;
  /** Stops the worker. The folder and the agents stay. */
  stop(): Promise<void>;
  /** Starts another worker at the same address. */
  start(): Promise<void>;
}

const token = "a-token-of-the-tests-of-the-page";

export async function openReview(folder: McpFolderOptions = {}): Promise<ReviewFixture> {
  const { base, file, remove } = makeMcpFolder(folder);
  const environment = { XDG_STATE_HOME: stateFolder(), CODER_TOKEN: token };
  const agents = new Set<Agent>();
  const startWorker = async (port: string) => {
    const worker = startCoder("executable", ["review", "--config", file, "--port", port], {
      env: environment,
    });
    await worker.waitForStderr(/"message":"serving"/);
    return worker;
  };
  let worker = await startWorker("0");
  const url = worker.stdout().trim();
  const stop = async () => {
    if (worker.child.exitCode !== null) return;
    worker.child.kill("SIGTERM");
    await worker.exited;
  };
  return {
    base,
    url,
    async join(name) {
      const [command, ...before] = commandOf("executable");
      const transport = new StdioClientTransport({
        command,
        args: [...before, "mcp", "--config", file],
        stderr: "ignore",
        env: environment,
      });
      const client = new Client({ name, version: "2.1" });
      await client.connect(transport);
      const agent: Agent = {
        name,
        async call(tool, args) {
          const { content } = await client.callTool({ name: tool, arguments: args });
          return (content as { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
        },
        leave: () => client.close(),
      };
      agents.add(agent);
      return agent;
    },
    stop,
    async start() {
      worker = await startWorker(new URL(url).port);
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) await agent.leave();
      await stop();
      remove();
    },
  };
}

/** Sends a request with any headers, without the rules of a browser. */
export async function request(
  url: URL | string,
  {
    method = "GET",
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  const { request: open } = await import("node:http");
  const sending = open(url, { method, headers, agent: false });
  sending.end(body);
  const [response] = await once(sending, "response");
  let text = "";
  for await (const piece of response) text += piece;
  return { status: response.statusCode as number, headers: response.headers, text };
}
