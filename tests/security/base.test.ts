/** The base itself: it is moved, removed or replaced while the worker runs, or is the root of the system. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEntryError, parseWireError } from "../harness/errors.ts";
import {
  type ClientOutcome,
  startWorker,
  temporaryFolder,
  type WorkerFixture,
} from "../harness/worker-fixture.ts";
import { backends } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import type { Call } from "./escape-case.ts";
import { leaksIn } from "./probe.ts";

let house: string;

beforeAll(() => {
  house = temporaryFolder();
});
afterAll(() => rmSync(house, { recursive: true, force: true }));

const isOnFolder = (call: Call): boolean => ["list", "tree", "search"].includes(call);

const shownBy = ({ answer, error }: ClientOutcome): string => JSON.stringify(answer ?? error?.message);

describe.each(backends)("%s", (backend) => {
  let served: WorkerFixture;
  const at = (path: string) => join(house, path);

  /** Makes every call, on the file or the folder that it takes, and returns the answers. */
  async function callAll(): Promise<string[]> {
    const shown: string[] = [];
    for (const { id, name, call, payload } of pathCalls) {
      const path = isOnFolder(call) ? "d" : "d/a.txt";
      shown.push(`${name}: ${shownBy(await served.call(id, payload(path)))}`);
    }
    return shown;
  }

  function plant(folder: string, text: string): void {
    mkdirSync(at(`${folder}/d`), { recursive: true });
    writeFileSync(at(`${folder}/d/a.txt`), text);
  }

  /** Expects every call to show and change nothing of the decoy, which now has the name of the base. */
  async function expectDecoyUntouched(decoy: string): Promise<string[]> {
    const shown = await callAll();
    expect(shown.flatMap((text) => leaksIn(text, "", house))).toEqual([]);
    expect(readFileSync(at(`${decoy}/d/a.txt`), "utf8")).toBe("outside-secret\n");
    return shown;
  }

  beforeAll(async () => {
    rmSync(house, { recursive: true, force: true });
    plant("real", "inside\n");
    plant("decoy", "outside-secret\n");
    symlinkSync("real", at("link"));
    served = await startWorker("source", { base_path: at("link") }, { env: { CODER_JAIL: backend } });
  });
  afterAll(() => served?.stop());

  test("a base that was given as a link stays what the link led to at the start", async () => {
    unlinkSync(at("link"));
    symlinkSync("decoy", at("link"));
    const shown = await expectDecoyUntouched("decoy");
    expect(shown.filter((text) => text.includes("C216"))).toEqual([]);
  });

  test("a base that is moved is not replaced by what takes its name", async () => {
    renameSync(at("real"), at("moved"));
    renameSync(at("decoy"), at("real"));
    await expectDecoyUntouched("real");
  });

  test("a base that is removed makes every call C216", async () => {
    rmSync(at("moved"), { recursive: true });
    const shown = await expectDecoyUntouched("real");
    expect(shown.filter((text) => !text.includes("C216"))).toEqual([]);
  });
});

describe.each(backends)("where the base is the root of the system, %s", (backend) => {
  let served: WorkerFixture;

  beforeAll(async () => {
    served = await startWorker("source", { base_path: "/" }, { env: { CODER_JAIL: backend } });
  });
  afterAll(() => served?.stop());

  test.each(pathCalls.map((pathCall) => [pathCall.name, pathCall] as const))(
    "%s opens nothing on a pseudo file system",
    async (_, { id, call, payload }) => {
      // Even a call that came through could do no harm: procfs takes neither new files nor removals.
      const path = isOnFolder(call) ? "proc/self/task" : "proc/self/environ";
      expect(refusalIn(await served.call(id, payload(path)))).toBe("C211");
    },
  );
});

/** Returns the code of a refused call, or of the only entry of its batch. */
function refusalIn({ answer, error }: ClientOutcome): string {
  if (error !== undefined) return parseWireError(error).code;
  const [result] = (answer as { results?: { error?: unknown; removed?: boolean }[] }).results ?? [];
  if (result?.removed === false && result.error === undefined) return "C211";
  return parseEntryError(result?.error)?.code ?? `no refusal: ${JSON.stringify(answer).slice(0, 200)}`;
}
