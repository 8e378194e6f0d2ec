import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { parseWireError } from "../harness/errors.ts";
import { defaultSubjects } from "../harness/subject.ts";
import { withWorker } from "../harness/with-worker.ts";
import type { WorkerFixture } from "../harness/worker-fixture.ts";

describe.each(defaultSubjects)("%s", (subject) => {
  test("an answer too large for one message is C213, and the connection stays", async () => {
    await withWorker(subject, async (served) => {
      served.build({
        "control.txt": "\u0001".repeat(10 << 20),
        "lines.txt": "\n".repeat(10 << 20),
        "plain.txt": "x".repeat(10 << 20),
        "a.txt": "a\n",
      });
      for (const path of ["control.txt", "lines.txt"]) {
        const { error } = await served.call("coder::read-file", { path });
        expect(parseWireError(error!)).toMatchObject({ code: "C213" });
      }
      const { answer } = await served.call("coder::read-file", { path: "plain.txt" });
      expect(answer).toMatchObject({ size: 10 << 20 });
      // The engine drops a connection after a message that is too long. The next call shows that it was kept.
      expect(await served.engine.call("coder::read-file", { path: "a.txt" })).toMatchObject({
        content: "a\n",
      });
    });
  });

  test("an edit whose bodies are too large to send is done and says so", async () => {
    await withWorker(subject, async (served) => {
      served.build({ "lines.txt": "\n".repeat(9 << 20) });
      const payload = { files: [{ path: "lines.txt", ops: [{ op: "insert", at_line: 1, content: "x" }] }] };
      const { answer } = await served.call("coder::update-file", payload);
      expect(answer).toMatchObject({
        results: [{ success: true, applied: 1, new_line_count: (9 << 20) + 1 }],
      });
      expect(served.snapshot().get("lines.txt")?.content.slice(0, 4)).toBe("x\n\n\n");
    });
  });

  test("a search that finds more than one message carries is cut and says so", async () => {
    await withWorker(subject, async (served) => {
      served.build(
        Object.fromEntries(
          ["a", "b", "c", "d", "e", "f"].map((name) => [name, `${"x".repeat(4000)}\n`.repeat(1000)]),
        ),
      );
      const { answer } = await served.call("coder::search", { query: "x", max_matches: 100_000 });
      const { content_matches, truncated } = answer as { content_matches: unknown[]; truncated: boolean };
      expect(truncated).toBe(true);
      expect(content_matches.length).toBeGreaterThan(1000);
    });
  });

  test("no answer is larger than the operator chose", async () => {
    await withWorker(
      subject,
      async ({ build, call, snapshot }) => {
        build({
          "a.txt": `${"x".repeat(100)}\n`.repeat(1000),
          "b.txt": "b\n",
          ...Object.fromEntries(Array.from({ length: 800 }, (_, n) => [`many/${"n".repeat(90)}${n}`, ""])),
        });
        const refused = [
          ["coder::read-file", { path: "a.txt" }],
          ["coder::tree", { per_folder_limit: 1000 }],
          ["coder::list-folder", { path: "many", page_size: 1000 }],
        ] as const;
        for (const [id, payload] of refused)
          expect(parseWireError((await call(id, payload)).error!)).toMatchObject({ code: "C213" });
        const cut = (await call("coder::search", { query: "x" })).answer as { truncated: boolean };
        expect(cut.truncated).toBe(true);
        expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(64 * 1024);
        const ops = [{ op: "insert", at_line: 1, content: "new" }];
        const edit = await call("coder::update-file", { files: [{ path: "a.txt", ops }] });
        expect(edit.answer).toMatchObject({ results: [{ success: true }] });
        expect(Buffer.byteLength(JSON.stringify(edit.answer))).toBeLessThanOrEqual(64 * 1024);
        expect(snapshot().get("a.txt")?.content.slice(0, 4)).toBe("new\n");
        expect((await call("coder::read-file", { path: "b.txt" })).answer).toMatchObject({ size: 2 });
      },
      { config: { max_answer_bytes: 64 * 1024 } },
    );
  });

  test("an HTTP trigger that is bound to a function learns what to do instead", async () => {
    await withWorker(subject, async ({ call }) => {
      for (const name of ["read-file", "tree", "create-file"]) {
        const request = { path: `/coder/${name}`, method: "POST", headers: {}, body: {}, query_params: {} };
        const failure = parseWireError((await call(`coder::${name}`, request)).error!);
        expect(failure).toMatchObject({ code: "C210", message: expect.stringContaining("HTTP request") });
      }
    });
  });

  test("a search that is cut gives the same answer each time", async () => {
    await withWorker(subject, async (served) => {
      const names = Array.from({ length: 300 }, (_, n) => `d${n % 7}/f${n}`);
      served.build(Object.fromEntries(names.map((name) => [name, "x\nneedle\n".repeat(3)])));
      const payload = { query: "needle", max_matches: 100 };
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => served.call("coder::search", payload)),
      );
      const expected = names
        .toSorted()
        .flatMap((path) => [2, 4, 6].map((line) => ({ path, line, column: 1, text: "needle" })));
      for (const { answer } of outcomes) {
        expect(answer).toEqual({
          content_matches: expected.slice(0, 100),
          path_matches: [],
          truncated: true,
        });
      }
    });
  });

  test("a tree deeper than the bus can carry is cut and says so", async () => {
    await withWorker(subject, async (served) => {
      served.build({ [`${"d/".repeat(90)}x`]: "x" });
      const { answer } = await served.call("coder::tree", { max_depth: 100 });
      let { root: node } = answer as { root: DeepNode };
      let depth = 0;
      while (node.children !== undefined) {
        node = node.children[0];
        depth++;
      }
      expect(depth).toBeGreaterThan(50);
      expect(node.truncated).toMatchObject({ reason: "max_depth", shown: 0 });
    });
  });

  test("1,000 mixed calls at once are all answered, and rightly", async () => {
    await withWorker(subject, async (served) => {
      const names = Array.from({ length: 125 }, (_, n) => `f${n}`);
      served.build(Object.fromEntries(names.map((name) => [`${name}/a.txt`, `${name}\n`])));
      const outcomes = await Promise.all(names.flatMap((name) => callsOn(served, name)));
      expect(outcomes.flat()).toEqual([]);
      const left = [...served.snapshot()].filter(([, found]) => found.kind === "file");
      expect(left.map(([path, found]) => [path, found.content])).toEqual(
        names.map((name): [string, string] => [`${name}/a.txt`, `x\nx\n${name}\n`]).sort(),
      );
    });
  });

  test("64 updates of one file at once are all applied", async () => {
    await withWorker(subject, async (served) => {
      served.build({ "a.txt": "" });
      const lines = Array.from({ length: 64 }, (_, n) => `line ${n}`);
      const outcomes = await Promise.all(
        lines.map((content) =>
          served.call("coder::update-file", {
            files: [{ path: "a.txt", ops: [{ op: "insert", at_line: 1, content }] }],
          }),
        ),
      );
      expect(
        outcomes.filter(({ answer }) => (answer as { results: [{ success: boolean }] }).results[0].success),
      ).toHaveLength(64);
      expect(served.snapshot().get("a.txt")?.content.trim().split("\n").sort()).toEqual([...lines].sort());
    });
  });

  test("a long text comes through unharmed", async () => {
    await withWorker(subject, async (served) => {
      const content = Array.from({ length: 20_000 }, (_, n) => `${n} é 😀 "quoted" \\ \u0001\u2028\r`).join(
        "\n",
      );
      const payload = { files: [{ path: "a.txt", content }] };
      expect((await served.call("coder::create-file", payload)).answer).toMatchObject({
        results: [{ success: true }],
      });
      const { answer } = await served.call("coder::read-file", { path: "a.txt" });
      expect(digest((answer as { content: string }).content)).toBe(digest(content));
    });
  });
});

interface DeepNode {
  readonly children?: readonly [DeepNode];
  readonly truncated?: object;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Makes eight calls on the folder `name` that do not interfere. Each resolves to the faults of its answer.
 */
function callsOn(served: WorkerFixture, name: string): Promise<string[]>[] {
  const path = `${name}/a.txt`;
  const check = async (functionId: string, payload: unknown, expected: object): Promise<string[]> => {
    const { answer, error } = await served.call(functionId, payload);
    if (error !== undefined) return [`${functionId} ${name}: ${error.message}`];
    try {
      expect(answer).toMatchObject(expected);
      return [];
    } catch {
      return [`${functionId} ${name}: ${JSON.stringify(answer)}`];
    }
  };
  const insert = { files: [{ path, ops: [{ op: "insert", at_line: 1, content: "x" }] }] };
  const edited = { results: [{ path, success: true, applied: 1 }] };
  return [
    check("coder::read-file", { path }, { path, is_utf8: true }),
    check("coder::list-folder", { path: name }, { path: name }),
    check("coder::tree", { path: name }, { root: { name, path: name, kind: "dir" } }),
    check(
      "coder::search",
      { query: name, path: name, search_paths: false },
      { content_matches: [{ path, text: name }], truncated: false },
    ),
    check("coder::update-file", insert, edited),
    check("coder::update-file", insert, edited),
    check(
      "coder::create-file",
      { files: [{ path, content: "" }] },
      { results: [{ success: false, bytes_written: 0 }] },
    ),
    check(
      "coder::delete-file",
      { paths: [`${name}/none`] },
      { results: [{ success: true, removed: false }] },
    ),
  ];
}
