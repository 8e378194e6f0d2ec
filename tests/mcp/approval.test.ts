/** `--approval`: calls that wait for the approval of a client's user by elicitation. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { runCoder } from "../harness/subject.ts";
import { buildTree } from "../harness/tree.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";
import { startHttp } from "./http-fixture.ts";

const tree = { "a.txt": "one\n", "docs/b.md": "b\n" };

interface User {
  readonly questions: string[];
  answer(): Promise<"accept" | "decline" | "cancel"> | "accept" | "decline" | "cancel";
}

/** Makes `user` answer the elicitations that the client receives. */
function ask(client: Client, user: User): void {
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    user.questions.push(params.message);
    expect(params.mode ?? "form").toBe("form");
    return { action: await user.answer() };
  });
}

describe("a client that can ask its user", () => {
  const settings = mkdtempSync(join(tmpdir(), "coder-"));
  const auditFile = join(settings, "audit.jsonl");
  const user = { questions: [] as string[], answer: (() => "accept") as User["answer"] };
  let connected: McpFixture;

  beforeAll(async () => {
    connected = await connectStdio("executable", {
      args: ["--approval", "destructive", "--commands", "--allow", "sh"],
      config: { audit: { file: auditFile }, profile: "auto" },
      client: { capabilities: { elicitation: { form: {} } } },
    });
    ask(connected.client, user);
  });
  afterAll(async () => {
    await connected[Symbol.asyncDispose]();
    rmSync(settings, { recursive: true });
  });
  beforeEach(() => {
    buildTree(connected.root, tree);
    user.questions.length = 0;
    user.answer = () => "accept";
  });

  const at = (path: string) => join(connected.base, path);
  const newestApproval = () => {
    const lines = readFileSync(auditFile, "utf8").trimEnd().split("\n");
    return (JSON.parse(lines.at(-1)!) as { readonly approval?: unknown }).approval;
  };
  const by = expect.stringMatching(/^the user of tests 1\.0\.0 \(session [0-9a-f]{8}\)$/);

  test("is told so, by the instructions and by coder_info", async () => {
    expect(connected.client.getInstructions()).toContain("The user is asked to approve");
    expect(textOf(await connected.call("coder_info", {}))).toContain("destructive");
  });

  test("an edit and a new file need no approval", async () => {
    await connected.call("coder_update_file", { path: "a.txt", old_str: "one", new_str: "two" });
    await connected.call("coder_create_file", { path: "new.txt", content: "" });
    expect(user.questions).toEqual([]);
    expect(newestApproval()).toBeUndefined();
  });

  test("a deletion waits for the user, who sees what it does", async () => {
    const result = await connected.call("coder_delete_file", { paths: ["a.txt", "docs"], recursive: true });
    expect(result.isError).toBeUndefined();
    expect(textOf(result)).toStartWith("a.txt: removed\ndocs: removed, with 1 file in it\n");
    const [question = ""] = user.questions;
    expect(question).toContain(
      "calls coder_delete_file, which would:\n- delete a.txt +0 -1\n- delete docs/ with 1 file\n",
    );
    expect(question).toContain("\n-one\n");
    expect(newestApproval()).toEqual({ verdict: "approved", by });
  });

  test.each([
    [
      "decline",
      "C224 declined: The user declined this call. Nothing was changed.",
      { verdict: "declined", by },
    ],
    ["cancel", "C224 declined: The user closed the question about this call", { verdict: "unanswered" }],
  ] as const)("%s leaves everything as it was", async (answer, sentence, verdict) => {
    user.answer = () => answer;
    const result = await connected.call("coder_delete_file", { paths: ["a.txt"] });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toStartWith(sentence);
    expect(existsSync(at("a.txt"))).toBe(true);
    expect(newestApproval()).toEqual(verdict);
  });

  test("a call that is cancelled while it waits changes nothing, and others go on", async () => {
    const asked = Promise.withResolvers<void>();
    user.answer = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const leaving = new AbortController();
    const call = { name: "coder_delete_file", arguments: { paths: ["a.txt"] } };
    const waiting = connected.client.callTool(call, { signal: leaving.signal });
    await asked.promise;
    expect(textOf(await connected.call("coder_read_file", { path: "docs/b.md" }))).toBe("b\n");
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    user.answer = () => "accept";
    expect(textOf(await connected.call("coder_delete_file", { paths: ["a.txt"] }))).toStartWith(
      "a.txt: removed",
    );
  });

  test("files that change while the user thinks are left as they are", async () => {
    user.answer = () => {
      writeFileSync(at("a.txt"), "by hand\n");
      return "accept";
    };
    const result = await connected.call("coder_delete_file", { paths: ["a.txt"] });
    expect(textOf(result)).toStartWith("C221 revision_mismatch: Files changed after the user was shown");
    expect(readFileSync(at("a.txt"), "utf8")).toBe("by hand\n");
    expect(newestApproval()).toEqual({ verdict: "approved", by });
  });

  test("a command waits, with its arguments shown, and one that may not run is not asked about", async () => {
    const args = ["-c", "echo hello > made.txt"];
    await connected.call("shell_exec", { command: "sh", args, cwd: "docs" });
    expect(user.questions[0]).toContain('- run sh -c "echo hello > made.txt"\n- in "docs"\n');
    expect(existsSync(at("docs/made.txt"))).toBe(true);
    user.answer = () => "decline";
    const declined = await connected.call("shell_exec_bg", { command: "sh", args: ["-c", "rm a.txt"] });
    expect(textOf(declined)).toStartWith("S215: The user declined this call.");
    const hidden = { command: "sh", stdin: "rm a.txt\u202e\n", env: { LANG: "C\u2028" } };
    for (const tool of ["shell_exec", "shell_exec_bg"]) await connected.call(tool, hidden);
    const shown =
      '- run sh\n- with LANG="C\\u2028"\n- with the standard input "rm a.txt\\u202e\\n"\n\nAccept';
    expect(user.questions.splice(2).map((question) => question.includes(shown))).toEqual([true, true]);
    const long = { command: "sh", stdin: `${"#".repeat(5000)}\nrm a.txt` };
    await connected.call("shell_exec", long);
    expect(user.questions.pop()).toContain(
      `${"#".repeat(4000)}"… (5009 characters)\n[more of it is not shown]`,
    );
    const spread = ["-c", "rm a.txt", "#".repeat(40_000), "#".repeat(40_000)];
    await connected.call("shell_exec", { command: "sh", args: spread });
    expect(user.questions.pop()).toMatch(
      /- run sh -c "rm a.txt" "#{40000}" "#{25520}"… \(80016 characters\)\n\[more of it is not shown\]/,
    );
    const refused = await connected.call("shell_exec", { command: "nothing" });
    expect(refused.isError).toBe(true);
    expect(user.questions.length).toBe(2);
    expect(existsSync(at("a.txt"))).toBe(true);
  });
});

test("no answer within approval_timeout_ms is a refusal, and takes nothing of the call's own time", async () => {
  await using connected = await connectStdio("executable", {
    args: ["--approval", "all"],
    tree,
    config: { profile: "auto", approval_timeout_ms: 1500, call_timeout_ms: 1000 },
    client: { capabilities: { elicitation: { form: {} } } },
  });
  ask(connected.client, { questions: [], answer: () => new Promise(() => {}) });
  const deleted = await connected.call("coder_delete_file", { paths: ["a.txt"] });
  expect(textOf(deleted)).toStartWith(
    "C224 declined: Nobody answered the question about this call within 1.5 s",
  );
  expect(existsSync(join(connected.base, "a.txt"))).toBe(true);
});

test("a client that cannot ask gets a plan", async () => {
  await using connected = await connectStdio("executable", {
    args: ["--approval", "all"],
    tree,
    config: { profile: "auto" },
  });
  const result = await connected.call("coder_update_file", { path: "a.txt", old_str: "one", new_str: "two" });
  expect(result.isError).toBe(true);
  const [, plan] = /^C224 approval_required: .*\nplan: ([0-9a-f]{32})$/.exec(textOf(result))!;
  expect(textOf(result)).toContain(`The plan "${plan}" does exactly this.`);
  expect(textOf(result)).toContain("send the plan to coder_commit.");
  const again = await connected.call("coder_commit", { plan: plan! });
  expect(textOf(again)).toBe(textOf(result));
  expect(readFileSync(join(connected.base, "a.txt"), "utf8")).toBe("one\n");
});

test("over HTTP the user is asked on the stream of the call", async () => {
  await using server = await startHttp("executable", {
    args: ["--http", "0", "--no-token", "--approval", "destructive"],
    tree,
    config: { profile: "auto" },
  });
  const client = new Client(
    { name: "tests", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } } },
  );
  const user: User = { questions: [], answer: () => "accept" };
  ask(client, user);
  const transport = new StreamableHTTPClientTransport(server.url);
  await client.connect(transport);
  const result = await client.callTool({ name: "coder_delete_file", arguments: { paths: ["a.txt"] } });
  expect(result.isError).toBeUndefined();
  expect(user.questions.length).toBe(1);
  const asked = Promise.withResolvers<void>();
  user.answer = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const abandoned = client
    .callTool({ name: "coder_delete_file", arguments: { paths: ["docs"], recursive: true } })
    .catch(() => {});
  await asked.promise;
  // Ends the session, which cancels the elicitation. A lost connection alone would not end the call.
  await transport.terminateSession();
  await client.close();
  await abandoned;
  await server.waitForStderr(/"outcome":"error"/);
  expect(existsSync(join(server.base, "docs/b.md"))).toBe(true);
});

test("the flag says which values it takes, and goes with mcp and the coder worker", async () => {
  for (const [args, sentence] of [
    [["mcp", "--approval", "some"], '--approval is "some"; it must be none, destructive, all'],
    [["mcp", "--worker", "shell", "--approval", "all"], "--approval is for the worker coder"],
    [["--approval", "all"], "--approval only goes with mcp"],
  ] as const) {
    const { code, stderr } = await runCoder("executable", args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  }
});
