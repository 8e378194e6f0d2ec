/** Tests that a caller with very many costly calls does not keep others waiting (coder §11). */
import { expect, test } from "bun:test";
import { addSlowFiles, searchForMinutes } from "../harness/slow-search.ts";
import { withWorker } from "../harness/with-worker.ts";
import { connectClient, type WorkerFixture } from "../harness/worker-fixture.ts";

/** Milliseconds that a caller waits: more than the call timeout of the worker, for busy machines too. */
const timeoutMs = 110_000;

test("who reads and searches is answered before any of many searches of another", async () => {
  const use = async ({ base, build, client, engine }: WorkerFixture) => {
    build({ "few/short.txt": "short\n" });
    addSlowFiles(base);
    let answered = 0;
    const count = () => answered++;
    const search = () =>
      client
        .trigger({ function_id: "coder::search", payload: searchForMinutes, timeoutMs })
        .then(count, count);
    for (let number = 0; number < 200; number++) void search();
    const other = connectClient(engine.url);
    const call = (name: string, payload: unknown) =>
      other.trigger({ function_id: `coder::${name}`, payload });
    for (let time = 0; time < 5; time++)
      expect(await call("read-file", { path: "few/short.txt" })).toMatchObject({ content: "short\n" });
    const few = { query: "short", path: "few", search_paths: false };
    expect(await call("search", few)).toMatchObject({ content_matches: [{ line: 1 }] });
    expect(await call("tree", { path: "few" })).toMatchObject({ root: { path: "few" } });
    expect(answered).toBe(0);
    await other.shutdown();
  };
  await withWorker("source", use, { config: { call_timeout_ms: 100_000 } });
});
