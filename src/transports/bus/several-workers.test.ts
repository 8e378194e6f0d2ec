/** Three workers with three folders on one engine, in the setup of docs/scaling.md. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Behaviour, startProduction } from "../../../tests/harness/engines/production-router.ts";
import { createInvoke, type Invoke } from "../../calls/invoke.ts";
import { defaultConfig } from "../../coder/config.ts";
import { functions } from "../../coder/functions.ts";
import { openCoder } from "../../coder/services.ts";
import type { Engine } from "../../embedded-engine/engine.ts";
import { Lines } from "./serve-bus.test-kit.ts";
import { serve } from "./serve-bus.ts";

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: Behaviour = {}): Promise<Engine> {
  const engine = await startProduction(options);
  open.push(() => engine.stop());
  return engine;
}

/** Starts a worker whose folder has a file with its name in it. `observe` may delay its calls. */
async function joinWorker(
  { url }: Engine,
  name: string,
  observe: (invoke: Invoke) => Invoke = (invoke) => invoke,
) {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  writeFileSync(join(folder, "name.txt"), name);
  const runtime = await openCoder({ ...defaultConfig(), base_path: folder });
  const lines = new Lines();
  const serving = serve({
    url,
    identity: { name, description: "" },
    functions,
    invoke: observe(createInvoke(runtime, lines.log)),
    log: lines.log,
    intervalMilliseconds: 10,
    settlingMilliseconds: [0, 5, 10],
  });
  open.push(async () => {
    await serving.stop();
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  return { serving, lines };
}

const readName = async (engine: Engine): Promise<string> => {
  const { content } = (await engine.call("coder::read-file", { path: "name.txt" })) as { content: string };
  return content;
};

describe("where the last registration wins, as in 0.22", () => {
  test("one of three serves, the others say so and wait, and one of them serves when it has gone", async () => {
    const engine = await start();
    const one = await joinWorker(engine, "one");
    await one.serving.registered;
    const two = await joinWorker(engine, "two");
    await two.serving.registered;
    await one.lines.next(/another worker serves coder::\*/);
    const three = await joinWorker(engine, "three");
    await three.serving.registered;
    await two.lines.next(/another worker serves coder::\*/);
    expect(await readName(engine)).toBe("three");
    await three.serving.stop();
    await Promise.race([one, two].map(({ lines }) => lines.next(/^registered again$/)));
    expect(["one", "two"]).toContain(await readName(engine));
  });

  test("one is replaced by another of another name while calls are under way, and none fails", async () => {
    const engine = await start();
    let begin: () => void = () => {};
    let finish: () => void = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const old = await joinWorker(engine, "old", (invoke) => async (definition, payload, origin) => {
      if (definition.id !== "coder::tree") return invoke(definition, payload, origin);
      begin();
      await finished;
      return invoke(definition, payload, origin);
    });
    await old.serving.registered;
    const long = engine.call("coder::tree", { path: "." });
    await begun;
    const answers: string[] = [];
    let isOver = false;
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) answers.push(await readName(engine));
    });
    while (!answers.includes("old")) await readName(engine);
    const replacement = await joinWorker(engine, "new");
    await replacement.serving.registered;
    const stopped = old.serving.stop();
    while (!answers.includes("new")) await readName(engine);
    finish();
    expect(await long).toHaveProperty("root");
    await stopped;
    isOver = true;
    await Promise.all(callers);
    expect(new Set(answers)).toEqual(new Set(["old", "new"]));
    expect(await readName(engine)).toBe("new");
    expect(replacement.lines.of("error", "warn")).toEqual([]);
  });
});

describe("where a second registration is refused, as in 0.23", () => {
  test("the first of three serves until it has gone, then one of the others", async () => {
    const engine = await start({ version: "0.23" });
    const one = await joinWorker(engine, "one");
    await one.serving.registered;
    const others = [await joinWorker(engine, "two"), await joinWorker(engine, "three")];
    for (const { lines } of others) await lines.next(/another worker serves coder::\*/);
    expect(await readName(engine)).toBe("one");
    await one.serving.stop();
    await Promise.race(others.map(({ serving }) => serving.registered));
    expect(["two", "three"]).toContain(await readName(engine));
  });
});
