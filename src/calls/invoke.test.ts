import { expect, spyOn, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { refuse } from "../base/errors.ts";
import { createLog } from "../base/log/log.ts";
import { renderCoderError } from "../coder/error-codes.ts";
import { functions as ofCoder } from "../coder/functions.ts";
import { shellFunctions as ofShell } from "../shell/functions.ts";
import { refuseUnread } from "./admission-errors.ts";
import { AnswerBudget } from "./answer-budget.ts";
import type { CallStatus } from "./contract/call-status.ts";
import { type Context, definerFor, type FunctionDefinition, type Services } from "./contract/definition.ts";
import type { Origin } from "./contract/origin.ts";
import { UnreadPayload } from "./contract/unread-payload.ts";
import { createInvoke } from "./invoke.ts";

type Handle = (request: { word: string }, context: Context) => unknown;

/** Calls a function with the handler `handle`, and returns the outcome with the log's lines. */
async function call(
  handle: Handle,
  payload: unknown = { word: "hello" },
  { effect = "reads", ...more }: Partial<Services> & { readonly effect?: "reads" | "writes" } = {},
) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: "info", form: "json", write: (line) => lines.push(JSON.parse(line)) });
  const definition = definerFor<Services>()({
    id: "test::echo",
    since: "0.0.0",
    description: "",
    effect,
    paths: [],
    request: Type.Object({ word: Type.String() }),
    response: Type.Unknown(),
    examples: [],
    handle,
  });
  const services: Services = { callMilliseconds: 25_000, renderError: renderCoderError, ...more };
  const outcome = await createInvoke(services, log)(definition, payload);
  return {
    outcome: outcome as { answer?: unknown; bytes?: number; error?: string; status: CallStatus },
    lines,
  };
}

test("answers, and logs one line without the contents", async () => {
  const { outcome, lines } = await call(({ word }) => ({ said: word }));
  expect(outcome).toEqual({
    answer: { said: "hello" },
    bytes: 16,
    status: { outcome: "ok", code: undefined, failed: undefined },
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ message: "call", function: "test::echo", outcome: "ok", bytes: 16 });
  expect(JSON.stringify(lines)).not.toContain("hello");
});

test("a call that writes waits until it is prepared, until its deadline, and one that reads does not", async () => {
  const order: string[] = [];
  const prepareWriting = () => setImmediate().then(() => void order.push("prepared"));
  const handle = () => void order.push("handled");
  await call(handle, undefined, { effect: "writes", prepareWriting });
  expect(order.splice(0)).toEqual(["prepared", "handled"]);
  await call(handle, undefined, { prepareWriting });
  const never = { prepareWriting: () => new Promise<void>(() => {}), callMilliseconds: 1 };
  const { outcome } = await call(handle, undefined, { effect: "writes", ...never });
  expect(JSON.parse(outcome.error!).message).toBe(refuse.timeout(1).message);
  expect(order).toEqual(["handled"]);
});

/** Runs calls that begin together, each for some milliseconds. Returns the turns that they ran in. */
async function turnsOfCalls(originOf: () => Origin): Promise<number[]> {
  let turn = 0;
  const ran: number[] = [];
  const definition = definerFor<Services>()({
    id: "test::busy",
    since: "0.0.0",
    description: "",
    effect: "reads",
    paths: [],
    request: Type.Object({}),
    response: Type.Unknown(),
    examples: [],
    handle: () => {
      ran.push(turn);
      for (const until = performance.now() + 3; performance.now() < until; );
      return {};
    },
  });
  const log = createLog({ level: "error", form: "json", write: () => {} });
  const invoke = createInvoke({ callMilliseconds: 25_000, renderError: renderCoderError }, log);
  const calls = Promise.all(Array.from({ length: 10 }, () => invoke(definition, {}, originOf())));
  let isDone = false;
  void calls.then(() => {
    isDone = true;
  });
  for (; !isDone; turn++) await setImmediate();
  return ran;
}

test("calls that begin together run in several turns", async () => {
  const ran = await turnsOfCalls(() => ({}));
  expect(ran).toHaveLength(10);
  expect(new Set(ran).size).toBeGreaterThan(5);
});

test("calls that have waited for the same call run in several turns", async () => {
  const earlier = setImmediate().then(() => setImmediate());
  const ran = await turnsOfCalls(() => ({ ordered: { enter: () => earlier, leave: () => {} } }));
  expect(ran).toHaveLength(10);
  expect(new Set(ran).size).toBeGreaterThan(5);
});

test("a payload that does not fit is C210 with the field and what was expected", async () => {
  const { outcome, lines } = await call(() => "never", { word: 1 });
  expect(outcome.error).toBe(
    '{"code":"C210","message":"The field word is 1; expected a string.","reason":"invalid_argument"}',
  );
  expect(lines[0]).toMatchObject({ outcome: "error", code: "C210" });
});

test("a refusal is answered with its code", async () => {
  const { outcome } = await call(() => {
    throw refuse.exists("a.txt");
  });
  expect(JSON.parse(outcome.error as string).code).toBe("C217");
});

test("an unexpected error is answered neutrally and logged in full", async () => {
  const { outcome, lines } = await call(() => Promise.reject(new TypeError("secret /home/x")));
  expect(JSON.parse(outcome.error as string)).toEqual({
    code: "C216",
    message: refuse.unexpected().message,
    reason: "io",
  });
  expect(lines[0]).toMatchObject({ level: "error", function: "test::echo" });
  expect(lines[0]?.["failure"]).toContain("secret /home/x");
});

test("a system call that fails for want of something is said to be that, and logged in full", async () => {
  const failure = Object.assign(new Error("EMFILE: open '/home/x'"), { code: "EMFILE" });
  const { outcome, lines } = await call(() => Promise.reject(failure));
  const { code, message } = JSON.parse(outcome.error as string);
  expect([code, message]).toEqual(["C216", expect.stringContaining("too many files open (EMFILE)")]);
  expect(message).not.toContain("/home/x");
  expect(lines[0]?.["failure"]).toContain("/home/x");
});

test("an answer too large for one message is refused", async () => {
  const { outcome } = await call(() => ({ text: "\u0001".repeat(3_000_000) }));
  expect(JSON.parse(outcome.error as string).code).toBe("C213");
});

test("an answer larger than the operator chose is refused, and handlers learn how large it may be", async () => {
  const { outcome } = await call(() => "x".repeat(1000), { word: "x" }, { maxAnswerBytes: 1001 });
  expect(JSON.parse(outcome.error as string).code).toBe("C213");
  const received = await call(
    (_, { maxAnswerBytes }) => maxAnswerBytes,
    { word: "x" },
    { maxAnswerBytes: 1001 },
  );
  expect(received.outcome.answer).toBe(1001);
});

test("a refused payload that is an HTTP request is told from others", async () => {
  const http = {
    path: "/coder/read-file",
    method: "POST",
    headers: {},
    body: { word: "x" },
    query_params: {},
  };
  const { outcome } = await call(() => "never", http);
  expect(JSON.parse(outcome.error as string)).toEqual({
    code: "C210",
    message: refuse.httpRequest().message,
    reason: "invalid_argument",
  });
  expect((await call(({ word }) => word, { ...http, word: "x" })).outcome.answer).toBe("x");
  const { body: _, ...other } = http;
  expect((await call(() => "never", other)).outcome.error).toContain("The field word is missing");
});

test("a handler that never ends is answered for", async () => {
  const { outcome } = await call(() => new Promise(() => {}), { word: "x" }, { callMilliseconds: 100 });
  expect(JSON.parse(outcome.error as string)).toEqual({
    code: "C216",
    message: refuse.timeout(100).message,
    reason: "deadline_exceeded",
  });
});

test("of one that writes, nobody knows whether it has: each such function of both workers", async () => {
  const writers = [...ofCoder, ...ofShell].filter(({ effect }) => effect === "writes");
  const log = createLog({ level: "error", form: "json", write: () => undefined });
  const services = { callMilliseconds: 1, renderError: renderCoderError, config: {}, profile: {} };
  const invoke = createInvoke(services as Services, log);
  const answers = writers.map(async (definition) => {
    const neverEnds = { ...definition, handle: () => new Promise(() => {}) };
    const outcome = await invoke(neverEnds as FunctionDefinition, definition.examples[0]!.request);
    return "error" in outcome ? `${definition.id} ${outcome.error}` : definition.id;
  });
  const text = "Its changes may have been made, or may still be: read the files";
  for (const answer of await Promise.all(answers)) expect(answer).toContain(text);
  expect(writers.length).toBeGreaterThan(18);
});

test("an entry of a batch fails alone", async () => {
  const { outcome } = await call(async (_, { attempt }) => [
    await attempt(() => {
      throw refuse.emptyPath();
    }),
    await attempt(() => 7),
  ]);
  expect(outcome.answer).toEqual([
    { error: { code: "C210", text: expect.stringContaining(`{"code":"C210"`) } },
    { value: 7 },
  ]);
});

test("the first entry of a batch waits for a turn if the slice was used up before it", async () => {
  const order: string[] = [];
  const begun = performance.now();
  let used = 0;
  using clock = spyOn(performance, "now").mockImplementation(() => begun + used);
  const turn = setImmediate().then(() => void order.push("turn"));
  await call((_, { attempt }) => attempt(async () => void order.push("entry")), undefined, {
    narrow() {
      used += 10;
      return undefined;
    },
  });
  await turn;
  expect(order).toEqual(["turn", "entry"]);
  expect(clock).toHaveBeenCalled();
});

test("sessions have their turns beside each other, and quotas count them as one", async () => {
  const begun: string[] = [];
  const callers: unknown[] = [];
  const ends: (() => void)[] = [];
  const definition = definerFor<Services>()({
    ...{ id: "test::long", since: "0.0.0", description: "", effect: "reads", isLong: true },
    ...{ paths: [], examples: [], request: Type.Object({ word: Type.String() }), response: Type.Unknown() },
    handle: ({ word }) => {
      begun.push(word);
      return new Promise<object>((resolve) => ends.push(() => resolve({})));
    },
  });
  const admit = (caller: string | undefined) => {
    callers.push(caller);
    return { end: () => {} };
  };
  const services = { callMilliseconds: 25_000, renderError: renderCoderError, quotas: { admit } };
  const log = createLog({ level: "error", form: "json", write: () => {} });
  const invoke = createInvoke(services, log);
  const sent = [..."aaaaaaaaaaab"].map((session) => invoke(definition, { word: session }, { session }));
  while (!begun.includes("b")) await setImmediate();
  expect(begun).toEqual([..."aaaaaaaab"]);
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await setImmediate();
  }
  await Promise.all(sent);
  expect(new Set(callers)).toEqual(new Set([undefined]));
});

test("the size of an answer is estimated only while another one is held, and for a long call", async () => {
  const estimates: string[] = [];
  const define = (id: string, isLong: boolean) =>
    definerFor<Services>()({
      ...{ id, since: "0.0.0", description: "", effect: "reads", isLong },
      ...{ paths: [], examples: [], request: Type.Object({}), response: Type.Unknown() },
      answerBytes() {
        estimates.push(id);
        return 1000;
      },
      handle: () => lease.bytes,
    });
  const invoke = createInvoke(
    { callMilliseconds: 25_000, renderError: renderCoderError },
    createLog({ level: "error", form: "json", write: () => {} }),
  );
  const budget = new AnswerBudget();
  let lease = budget.lease("a");
  const call = async (definition: FunctionDefinition) => {
    lease = budget.lease("a");
    const outcome = await invoke(definition, {}, { lease, maxAnswerBytes: 2 ** 20 });
    return "answer" in outcome && outcome.answer;
  };
  const [short, long] = [define("test::short", false), define("test::long", true)];
  expect(await call(short)).toBe(2 ** 20);
  // The answer of the first call is not sent.
  expect(await call(short)).toBe(1000);
  expect(estimates).toEqual(["test::short"]);
  expect(await call(long)).toBe(1000);
  expect(estimates).toEqual(["test::short", "test::long"]);
});

test("a payload that was not read is refused like any other", async () => {
  const { outcome, lines } = await call(() => ({}), new UnreadPayload(refuseUnread.manyTokens(10)));
  expect(JSON.parse(outcome.error!)).toMatchObject({
    code: "C210",
    message: expect.stringContaining("at most 10 values"),
  });
  expect(lines[0]).toMatchObject({ message: "call", outcome: "error", code: "C210" });
});

test("a scope has at most 100 grants", async () => {
  const scopeOf = (grants: number) => ({
    word: "x",
    fs_scope: { root: ".", grants: Array(grants).fill("a") },
  });
  expect((await call(() => ({}), scopeOf(100))).outcome.error).toBeUndefined();
  const { outcome } = await call(() => ({}), scopeOf(101));
  expect(JSON.parse(outcome.error!).message).toBe(
    "`fs_scope` has 101 grants; the maximum is 100. Send fewer, such as the folders around them.",
  );
});
