import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorFaults, parseEntryError, parseWireError } from "../harness/errors.ts";
import { defaultOtherPaths } from "../harness/path-arguments.ts";
import { runCoder } from "../harness/subject.ts";
import { expandBase, expandPayload, type Snapshot } from "../harness/tree.ts";
import { logFaults } from "../harness/with-worker.ts";
import { type ClientOutcome, startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { backends } from "./backends.ts";
import { expectedResult, type PathCall, pathCalls } from "./calls.ts";
import {
  type Call,
  type CallResult,
  commonTree,
  type EscapeCase,
  isForbidden,
  secrets,
} from "./escape-case.ts";
import { escapeCases } from "./escape-cases.ts";
import { changedKeys, leaksIn, stampsOutside } from "./probe.ts";

const schema = JSON.parse((await runCoder("source", ["--print-schema"])).stdout) as {
  functions: { name: string }[];
};
const functions = schema.functions.map(({ name }) => name);

test("each function of the worker that takes a path is called on each escape case", () => {
  // These take a plan, paths that are compared with those of the journal as text, and nothing.
  const others = ["coder::commit", "coder::checkpoints", "coder::undo", "coder::info"];
  expect(functions.filter((id) => !pathCalls.some((call) => call.id === id))).toEqual(others);
});

let cells = 0;

describe.each(backends)("%s", (backend) => {
  let served: WorkerFixture;
  /** The escape case that stands in the base as it was built. */
  let standing: EscapeCase | undefined;
  /** The sentence for a path where nothing is. */
  let absence: string;

  beforeAll(async () => {
    served = await startWorker("source", { fsync: false }, { env: { CODER_JAIL: backend } });
    const { error } = await served.call("coder::read-file", { path: "nowhere" });
    absence = parseWireError(error!).message;
  });
  afterAll(async () => {
    expect(await served.stop()).toBe(0);
    expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
  });

  test.each(escapeCases.map((escapeCase) => [escapeCase.name, escapeCase] as const))(
    "%s",
    async (_, escapeCase) => {
      const faults: string[] = [];
      for (const name of functions) {
        for (const pathCall of pathCalls.filter(({ id }) => id === name)) {
          const found = await judge(escapeCase, pathCall);
          faults.push(...found.map((fault) => `${pathCall.name}: ${fault}`));
        }
        cells++;
      }
      expect(faults).toEqual([]);
    },
  );

  /** What is wrong with a call on an escape case: its answer, what the answer gives away, what the call changed. */
  async function judge(escapeCase: EscapeCase, pathCall: PathCall): Promise<string[]> {
    if (standing !== escapeCase) served.build({ ...commonTree, ...escapeCase.tree });
    const [before, stamps] = [served.snapshot(), stampsOutside(served.root)];
    const payload = expandPayload(pathCall.payload(escapeCase.path), served.base);
    const outcome = await served.call(pathCall.id, payload);
    const after = served.snapshot();
    const changed = changedKeys(before, after);
    const isSameOutside = Bun.deepEquals(stampsOutside(served.root), stamps);
    standing = changed.length === 0 && isSameOutside ? escapeCase : undefined;
    const given = { payload, root: served.root };
    const shown = JSON.stringify(outcome.answer ?? outcome.error?.message);
    return [
      ...verdictFaults(
        outcome,
        expectedResult(escapeCase, pathCall),
        expandBase(escapeCase.path, served.base),
      ),
      ...errorFaults(outcome, given),
      ...leaksIn(shown, JSON.stringify(payload), served.root).map((leak) => `shows ${leak}: ${shown}`),
      ...changeFaults(escapeCase, pathCall, changed),
      ...changed.filter((key) => isSecret(key, after)).map((key) => `put a secret into ${key}`),
      ...(isSameOutside ? [] : ["changed something outside"]),
    ];
  }

  function verdictFaults(outcome: ClientOutcome, expected: CallResult, path: string): string[] {
    const { verdict, message } = verdictOf(outcome);
    if (verdict !== expected) return [`${verdict}, should be ${expected}: ${message}`];
    // A patch below a folder names the file that it would make there.
    const sentences = [path, `${path}/notes.md`].map((name) =>
      absence.replaceAll('"nowhere"', () => JSON.stringify(name)),
    );
    return verdict !== "C211" || sentences.includes(message) ? [] : [`tells denied from missing: ${message}`];
  }
});

/** A forbidden file may have such content, and no other. */
const isSecret = (key: string, snapshot: Snapshot): boolean =>
  !isForbidden(key) && secrets.some((secret) => snapshot.get(key)?.content.includes(secret));

test("no cell was left out", () => {
  expect(escapeCases.length).toBeGreaterThanOrEqual(60);
  expect(cells).toBe(escapeCases.length * functions.length * backends.length);
});

interface Result {
  readonly success?: boolean;
  readonly removed?: boolean;
  readonly created?: boolean;
  readonly error?: unknown;
}

function verdictOf({ answer, error }: ClientOutcome): { verdict: string; message: string } {
  if (error !== undefined) {
    const { code, message } = parseWireError(error);
    return { verdict: code, message };
  }
  const result = (answer as { results?: [Result] }).results?.[0];
  const failure = result?.error === undefined ? undefined : parseEntryError(result.error);
  if (failure !== undefined) return { verdict: failure.code, message: failure.message };
  const isDone = result?.removed !== false && result?.created !== false;
  return { verdict: isDone ? "ok" : "nothing", message: "" };
}

const writes: readonly Call[] = ["update", "create", "overwrite"];
const deletes: readonly Call[] = ["delete", "remove"];

/** A call that works changes the one place it is meant for, and all others change nothing. */
function changeFaults(escapeCase: EscapeCase, pathCall: PathCall, changed: readonly string[]): string[] {
  const { call } = pathCall;
  const isChange = expectedResult(escapeCase, pathCall) === "ok" && [...writes, ...deletes].includes(call);
  if (!isChange) return changed.map((key) => `changed ${key}`);
  // A link to a folder leads on, to one inside: its own mode changes, and nothing else.
  if (pathCall.access === "change-mode" && escapeCase.expected.list === "ok")
    return changed.filter((key) => changed.length > 1 || !key.endsWith("/") || key.startsWith("../"));
  const { path, place = path, entry = path } = escapeCase;
  const meant = meantBy(pathCall, { place, entry });
  const isMeant = (key: string) =>
    meant.some(
      (one) => key === one || key.startsWith(`${one}/`) || (key.endsWith("/") && one.startsWith(key)),
    );
  const astray = changed.filter((key) => !isMeant(key)).map((key) => `changed ${key}`);
  return changed.length > 0 ? astray : ["did nothing"];
}

/** The places that a call may change. */
function meantBy(
  { call, access, hasOtherPaths }: PathCall,
  { place, entry }: Record<"place" | "entry", string>,
) {
  if (access === "copy") return [defaultOtherPaths.free];
  if (hasOtherPaths) return [place, entry, ...Object.values(defaultOtherPaths)];
  return [deletes.includes(call) ? entry : place];
}
