/** Tests that the worker reads its configuration again on SIGHUP (coder §21). */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseWireError } from "../harness/errors.ts";
import { addSlowFiles, searchForMinutes } from "../harness/slow-search.ts";
import { withWorker } from "../harness/with-worker.ts";
import type { ClientOutcome, ConfigFields, WorkerFixture } from "../harness/worker-fixture.ts";

interface Status {
  readonly applied_reloads: number;
  readonly last_error?: string;
  readonly last_outcome: string;
  readonly rejected_reloads: number;
}

async function statusOf({ call }: WorkerFixture): Promise<Status> {
  return (await call("coder::config-status", {})).answer as Status;
}

/**
 * Writes the configuration, or moves `other` to its path, and sends SIGHUP. Resolves to the status after the
 * reload.
 */
async function reload(served: WorkerFixture, text: string | undefined, other = ""): Promise<Status> {
  const reloads = (status: Status) => status.applied_reloads + status.rejected_reloads;
  const before = reloads(await statusOf(served));
  rmSync(served.configFile, { force: true });
  if (text === undefined) renameSync(other, served.configFile);
  else served.configure(text);
  served.worker.child.kill("SIGHUP");
  for (;;) {
    const status = await statusOf(served);
    if (reloads(status) > before) return status;
  }
}

const textOf = (served: WorkerFixture, config: ConfigFields): string =>
  JSON.stringify({ base_path: served.base, ...config });

const codeOf = ({ error }: ClientOutcome) => error && parseWireError(error).code;

const read = (served: WorkerFixture, path: string) => served.call("coder::read-file", { path });

test("a changed configuration holds for calls that come after, and what was recorded stays", async () => {
  const journal = { journal: {} };
  const use = async (served: WorkerFixture) => {
    served.build({ "a.txt": "a\n", "b.txt": "b\n" });
    await served.call("coder::delete-file", { paths: ["b.txt"] });
    const globs = { ...journal, non_accessible_globs: ["a.txt"], quotas: { bytes_per_minute: 1_000_000 } };
    expect(await reload(served, textOf(served, globs))).toMatchObject({
      applied_reloads: 1,
      last_outcome: "applied",
      rejected_reloads: 0,
    });
    expect(codeOf(await read(served, "a.txt"))).toBe("C211");
    expect((await served.call("coder::undo", {})).answer).toMatchObject({
      undone: [{ restored: ["b.txt"] }],
    });
    await reload(served, textOf(served, journal));
    expect((await read(served, "a.txt")).answer).toMatchObject({ content: "a\n" });
    expect(served.worker.stderr()).toContain('"reloaded"');
  };
  await withWorker("source", use, { config: journal });
});

test("one that cannot be used is rejected as a whole, and the old one stays", async () => {
  const use = async (served: WorkerFixture) => {
    served.build({ "a.txt": "a\n", ".env": "secret", "other/": null });
    const rejected: [text: string, about: RegExp][] = [
      ["- no", /^The changed configuration cannot be used/],
      ["{", /^The changed configuration cannot be used/],
      [textOf(served, { max_read_bytes: "many" }), /^The key max_read_bytes of the changed/],
      [textOf(served, { non_accessible_globs: ["a.txt", "{"] }), /^The key non_accessible_globs of/],
      // If the file is not a configuration, a key may be any of its lines, so the error must not quote it.
      [textOf(served, { non_accesible_globs: [] }), /^The changed configuration cannot be used/],
      ["password-hunter2: ${HUNTER2}", /^The changed configuration cannot be used/],
      ["password: [hunter2", /^The changed configuration cannot be used/],
      [textOf(served, { audit: { file: "hunter2", hunter2: 1 } }), /^The key audit of the changed/],
      [textOf(served, { roots: [{ name: "a", path: "b", hunter2: 1 }] }), /^The key roots of the changed/],
      [textOf(served, { audit: { file: `${served.base}/audit` } }), /cannot be used/],
      [textOf(served, { base_path: `${served.base}/other` }), /^The key base_path cannot change/],
      [textOf(served, { call_timeout_ms: 5000 }), /^The key call_timeout_ms cannot change/],
      [textOf(served, { journal: {} }), /^The key journal cannot change/],
    ];
    for (const [index, [text, about]] of rejected.entries()) {
      const status = await reload(served, text);
      expect(status).toMatchObject({ last_outcome: "rejected", rejected_reloads: index + 1 });
      expect(status.last_error).toMatch(about);
      expect(status.last_error).not.toMatch(/\/|hunter2/);
    }
    expect((await read(served, "a.txt")).answer).toMatchObject({ content: "a\n" });
    expect(codeOf(await read(served, ".env"))).toBe("C211");
    expect(await reload(served, textOf(served, {}))).toMatchObject({
      applied_reloads: 1,
      last_outcome: "applied",
      rejected_reloads: rejected.length,
    });
  };
  await withWorker("source", use);
});

test("a FIFO is not waited for, as the configuration nor as the audit trail", async () => {
  const use = async (served: WorkerFixture) => {
    served.build({ "a.txt": "a\n" });
    const fifo = join(served.root, "fifo");
    for (const text of [undefined, textOf(served, { audit: { file: fifo } })]) {
      execFileSync("mkfifo", [fifo]);
      const status = await reload(served, text, fifo);
      expect(status.last_outcome).toBe("rejected");
      expect((await read(served, "a.txt")).answer).toMatchObject({ content: "a\n" });
    }
    expect(served.worker.stderr()).toContain("is not a regular file");
    expect((await reload(served, textOf(served, {}))).last_outcome).toBe("applied");
  };
  await withWorker("source", use);
});

test("calls under way finish with the services they began with", async () => {
  const use = async (served: WorkerFixture) => {
    served.build({ "short.txt": "short\n" });
    addSlowFiles(served.base);
    const searching = served.call("coder::search", searchForMinutes);
    await reload(served, textOf(served, { call_timeout_ms: 2000, non_accessible_globs: ["short.txt"] }));
    expect(codeOf(await read(served, "short.txt"))).toBe("C211");
    expect((await searching).answer).toMatchObject({ truncated: true });
  };
  await withWorker("source", use, { config: { call_timeout_ms: 2000 } });
});
