/**
 * The net diff of random sessions, applied to the tree before them, makes the tree after them, but for files
 * that the answer has no diff for, which it says.
 */
import { expect, test } from "bun:test";
import { isUtf8 } from "node:buffer";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { snapshotTree } from "../../../tests/harness/tree.ts";
import { callWith, type FunctionCall } from "../call-with.test-kit.ts";
import { type AuthorCalls, SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

const folder = fc.constantFrom("d1", "d2", "d1/d3");
const file = fc
  .tuple(fc.constantFrom("", "d1/", "d2/", "d1/d3/"), fc.constantFrom("f", "g", "h"))
  .map(([above, name]) => above + name);
const content = fc
  .array(fc.constantFrom("one\n", "two\n", "three\n", "\n", "dos\r\n", "mac\r", "é 日\n", "last"), {
    maxLength: 12,
  })
  .map((lines) => lines.join(""));
/** Generates encodings of new files, mostly UTF-8. */
const encoding = fc.option(fc.constantFrom("utf-16le", "utf-16be", "gb18030", "base64"), { freq: 3 });
const line = fc.constantFrom("new", "", "one");

const call: fc.Arbitrary<FunctionCall> = fc.oneof(
  fc.record({ path: file, content, overwrite: fc.boolean(), encoding }).map(({ encoding: name, ...one }) => {
    const bytes = Buffer.from(`\0${one.content}`).toString("base64");
    const encoded = { ...one, ...(name && { encoding: name }), ...(name === "base64" && { content: bytes }) };
    return ["coder::create-file", { files: [encoded] }] as const;
  }),
  fc
    .record({ path: file, content: line })
    .map(
      ({ path, content }) =>
        [
          "coder::update-file",
          { files: [{ path, ops: [{ op: "insert", at_line: 1, content: `${content}\n` }] }] },
        ] as const,
    ),
  fc
    .record({ path: file, mode: fc.constantFrom("0755", "0600") })
    .map(({ path, mode }) => ["coder::transact", { changes: [{ op: "chmod", path, mode }] }] as const),
  fc.oneof(file, folder).map((path) => ["coder::delete-file", { paths: [path], recursive: true }] as const),
  fc
    .record({ from: file, to: file, overwrite: fc.boolean() })
    .map((one) => ["coder::move", { files: [one] }] as const),
  fc.record({ from: folder, to: folder }).map((one) => ["coder::move", { files: [one] }] as const),
  fc.record({ from: file, to: file }).map((one) => ["coder::copy", { files: [one] }] as const),
  fc.record({ from: folder, to: folder }).map((one) => ["coder::copy", { files: [one] }] as const),
  fc.constant(["coder::undo", {}] as const),
);

/** Returns the files of a tree, with the bits of their modes that git knows. */
const filesOf = (root: string) =>
  [...snapshotTree(root)].flatMap(([path, { kind, content: bytes, mode }]) =>
    kind === "file" && !path.startsWith("..") ? [[path, String(bytes), (mode! & 0o100) !== 0]] : [],
  );

async function pagesOf({ call: make }: AuthorCalls, request: object): Promise<NetChange[]> {
  const net: NetChange[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await make("coder::changes", { ...request, ...(cursor !== undefined && { cursor }) });
    net.push(...page.net);
    cursor = page.next_cursor;
    if (cursor === undefined) return net;
  }
}

/** A folder moved to the earlier path of another one, which is in it now. */
const movedTwice: [FunctionCall[], [FunctionCall, boolean][], number] = [
  [
    ["coder::create-file", { files: [{ path: "d1/d3/f", content: "" }] }],
    ["coder::move", { files: [{ from: "d1/d3", to: "d2" }] }],
  ],
  [
    [["coder::undo", {}], false],
    [["coder::move", { files: [{ from: "d1", to: "d2" }] }], false],
  ],
  1,
];

/** Another file had the path that a folder's file has after the folder was moved. */
const movedOver: [FunctionCall[], [FunctionCall, boolean][], number] = [
  [["coder::create-file", { files: [{ path: "d2/f", content: "" }] }]],
  [
    [["coder::undo", {}], false],
    [["coder::move", { files: [{ from: "d1", to: "d2" }] }], false],
  ],
  1,
];

const movedOverRemoved: [FunctionCall[], [FunctionCall, boolean][], number] = [
  movedTwice[0],
  [
    [["coder::delete-file", { paths: ["d1"], recursive: true }], false],
    [["coder::move", { files: [{ from: "d2", to: "d1" }] }], false],
  ],
  1,
];

/** A file of UTF-16 whose byte order mark alone is left. */
const onlyMarked: [FunctionCall[], [FunctionCall, boolean][], number] = [
  [
    ["coder::create-file", { files: [{ path: "f", content: "", encoding: "utf-16le" }] }],
    ["coder::update-file", { files: [{ path: "f", ops: [{ op: "insert", at_line: 1, content: "new\n" }] }] }],
  ],
  [[["coder::undo", {}], false]],
  1,
];

const isText = (content: Buffer): boolean => !content.includes(0) && isUtf8(content);

test("the net diff applied to the old tree makes the new one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 6 }),
      fc.array(fc.tuple(call, fc.boolean()), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (before, after, limit) => {
        await using fixture = new SessionsFixture();
        const [one, other] = ["a", "b"].map((session) => fixture.open({ session })) as [
          AuthorCalls,
          AuthorCalls,
        ];
        mkdirSync(fixture.at("d1"));
        writeFileSync(fixture.at("d1/f"), "one\ntwo\nthree\n");
        const make = ({ call: send }: AuthorCalls, [id, payload]: FunctionCall) =>
          send(id, payload).catch(() => undefined);
        for (const one_call of before) await make(one, one_call);
        const checkpoint = (await one.call("coder::checkpoints", { limit: 1 })).checkpoints[0]?.seq;
        const old = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
        cpSync(fixture.base, join(old, "base"), { recursive: true });
        for (const [one_call, isOther] of after) await make(isOther ? other : one, one_call);
        const net = await pagesOf(one, { ...(checkpoint && { checkpoint }), answer: "diff", limit });
        const paths = net.map(({ path }) => path);
        expect(new Set(paths).size).toBe(paths.length);
        const withoutDiff = net.filter(({ note, dir }) => note !== undefined && !dir);
        const oldOf = ({ path, from = path }: NetChange) => join(old, "base", from);
        for (const change of withoutDiff) {
          expect(change.note).toMatch(
            /^(?:it is not text in UTF-8(?:; with "encoding", .* is compared)?$|its mode was )/,
          );
          const both = [oldOf(change), fixture.at(change.path)].filter((at) => existsSync(at));
          expect(change.note!.startsWith("its mode") || both.some((at) => !isText(readFileSync(at)))).toBe(
            true,
          );
          if (change.note!.startsWith("it is")) rmSync(oldOf(change), { force: true });
        }
        const patch = net.map(({ diff = "" }) => diff).join("");
        if (patch !== "") {
          const [outcome] = await callWith(old, { profile: "agent" }, ["coder::apply-patch", { patch }]);
          expect(outcome).not.toHaveProperty("error");
        }
        for (const { path, note } of withoutDiff) {
          if (note!.startsWith("its mode") || !existsSync(fixture.at(path))) continue;
          cpSync(fixture.at(path), join(old, "base", path));
        }
        expect(filesOf(old)).toEqual(filesOf(fixture.root));
        rmSync(old, { recursive: true });
      },
    ),
    { ...propertyRuns(25), examples: [movedTwice, movedOver, movedOverRemoved, onlyMarked] },
  );
}, 120_000);
