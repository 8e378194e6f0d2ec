import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logFaults } from "../harness/clean-run.ts";
import { errorFaults, parseError, parseWireError } from "../harness/errors.ts";
import { type Outcome, type Served, serve } from "../harness/served.ts";
import { runCoder } from "../harness/subject.ts";
import { expandBase, expandPayload } from "../harness/tree.ts";
import { usualOthers } from "../harness/ways.ts";
import { backends } from "./backends.ts";
import { verdictOn, type Way, ways } from "./calls.ts";
import { type Call, type EscapeCase, surroundings, type Verdict } from "./escape-case.ts";
import { escapeCases } from "./escape-cases.ts";
import { changedKeys, leaksIn, stampsOutside } from "./probe.ts";

const schema = JSON.parse((await runCoder("source", ["--print-schema"])).stdout) as {
  functions: { name: string }[];
};
const functions = schema.functions.map(({ name }) => name);

test("each function of the worker is called on each escape case", () => {
  expect([...new Set(ways.map(({ id }) => id))].sort()).toEqual([...functions].sort());
});

let cells = 0;

describe.each(backends)("%s", (backend) => {
  let served: Served;
  /** The escape case that stands in the base as it was built. */
  let standing: EscapeCase | undefined;
  /** The sentence for a path where nothing is. */
  let absence: string;

  beforeAll(async () => {
    served = await serve("source", { fsync: false }, { env: { CODER_JAIL: backend } });
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
        for (const way of ways.filter(({ id }) => id === name)) {
          const found = await judge(escapeCase, way);
          faults.push(...found.map((fault) => `${way.name}: ${fault}`));
        }
        cells++;
      }
      expect(faults).toEqual([]);
    },
  );

  /** What is wrong with a call on an escape case: its answer, what the answer gives away, what the call changed. */
  async function judge(escapeCase: EscapeCase, way: Way): Promise<string[]> {
    if (standing !== escapeCase) served.build({ ...surroundings, ...escapeCase.tree });
    const [before, stamps] = [served.snapshot(), stampsOutside(served.root)];
    const payload = expandPayload(way.payload(escapeCase.path), served.base);
    const outcome = await served.call(way.id, payload);
    const changed = changedKeys(before, served.snapshot());
    const isSameOutside = Bun.deepEquals(stampsOutside(served.root), stamps);
    standing = changed.length === 0 && isSameOutside ? escapeCase : undefined;
    const given = { payload, root: served.root };
    const shown = JSON.stringify(outcome.answer ?? outcome.error?.message);
    return [
      ...verdictFaults(outcome, verdictOn(escapeCase, way), expandBase(escapeCase.path, served.base)),
      ...errorFaults(outcome, given),
      ...leaksIn(shown, JSON.stringify(payload), served.root).map((leak) => `shows ${leak}: ${shown}`),
      ...changeFaults(escapeCase, way, changed),
      ...(isSameOutside ? [] : ["changed something outside"]),
    ];
  }

  function verdictFaults(outcome: Outcome, expected: Verdict, path: string): string[] {
    const { verdict, message } = verdictOf(outcome);
    if (verdict !== expected) return [`${verdict}, should be ${expected}: ${message}`];
    const sentence = absence.replaceAll('"nowhere"', () => JSON.stringify(path));
    return verdict !== "C211" || message === sentence ? [] : [`tells denied from missing: ${message}`];
  }
});

test("no cell was left out", () => {
  expect(escapeCases.length).toBeGreaterThanOrEqual(60);
  expect(cells).toBe(escapeCases.length * functions.length * backends.length);
});

interface Result {
  readonly success?: boolean;
  readonly removed?: boolean;
  readonly error?: string;
}

function verdictOf({ answer, error }: Outcome): { verdict: string; message: string } {
  if (error !== undefined) {
    const { code, message } = parseWireError(error);
    return { verdict: code, message };
  }
  const result = (answer as { results?: [Result] }).results?.[0];
  const failure = result?.error === undefined ? undefined : parseError(result.error);
  if (failure !== undefined) return { verdict: failure.code, message: failure.message };
  return { verdict: result?.removed === false ? "nothing" : "ok", message: "" };
}

const writes: readonly Call[] = ["update", "create", "overwrite"];
const deletes: readonly Call[] = ["delete", "remove"];

/** A call that works changes the one place it is meant for, and all others change nothing. */
function changeFaults(escapeCase: EscapeCase, way: Way, changed: readonly string[]): string[] {
  const { call } = way;
  const isChange = verdictOn(escapeCase, way) === "ok" && [...writes, ...deletes].includes(call);
  if (!isChange) return changed.map((key) => `changed ${key}`);
  const { path, place = path, entry = path } = escapeCase;
  const meant = way.isPaired
    ? [place, entry, ...Object.values(usualOthers)]
    : [deletes.includes(call) ? entry : place];
  const isMeant = (key: string) =>
    meant.some(
      (one) => key === one || key.startsWith(`${one}/`) || (key.endsWith("/") && one.startsWith(key)),
    );
  const astray = changed.filter((key) => !isMeant(key)).map((key) => `changed ${key}`);
  return changed.length > 0 ? astray : ["did nothing"];
}
