/** A mount below the base is neither emptied nor removed, and neither are the entries beside it. */
import { describe, expect } from "bun:test";
import { compareSnapshots } from "../harness/tree.ts";
import { codesOf, type DriverOptions, outcomeFaults, withDriver } from "./driver-fixture.ts";
import { reasonAgainstMounts, testUnless } from "./machine.ts";

const functionId = "coder::delete-file";

const mounts: Readonly<Record<string, string>> = {
  "a folder of the same file system": 'mount --bind "$BASE/../kept" "$BASE/d/inner/point"',
  "a folder with a blank and a backslash in its name":
    'mkdir "$BASE/d/in ner\\\\"; mount --bind "$BASE/../kept" "$BASE/d/in ner\\\\"',
  "a file": 'mount --bind "$BASE/../kept/f.txt" "$BASE/d/inner/f.txt"',
  "another file system": 'mount -t tmpfs none "$BASE/d/inner/point"; echo kept > "$BASE/d/inner/point/f.txt"',
  "the folder itself": 'mount --bind "$BASE/../kept" "$BASE/d"',
};

const tree = {
  "d/a.txt": "beside",
  "d/inner/f.txt": "beside",
  "d/inner/point/": null,
  "d-2/a.txt": "a name that begins like it",
  "../kept/f.txt": "kept",
};

describe.each(["openat", "descriptors", "current-directory"])("%s", (backend) => {
  const driven = (before: string): DriverOptions => ({
    tree,
    before,
    ownMounts: true,
    env: { CODER_JAIL: backend },
  });

  for (const [what, before] of Object.entries(mounts)) {
    testUnless(reasonAgainstMounts, `a folder in which there is mounted: ${what}`, () =>
      withDriver(driven(before), async ({ call, snapshot, root }) => {
        const before = snapshot();
        const payload = { paths: ["d"], recursive: true };
        const outcome = await call(functionId, payload);
        expect(codesOf(outcome)).toEqual(["C216"]);
        expect(JSON.stringify(outcome)).toContain("mounted");
        expect(outcomeFaults(outcome, { functionId, payload, root })).toEqual([]);
        expect(compareSnapshots(snapshot(), before)).toEqual([]);
        // A folder whose name merely begins like that of the mount can be removed.
        expect(codesOf(await call(functionId, { paths: ["d-2"], recursive: true }))).toEqual([""]);
      }),
    );
  }
});

const mounted = "d/inner/f.txt";
const edit = { ops: [{ op: "insert", at_line: 1, content: "new" }] };
const patch = `*** Begin Patch\n*** Update File: ${mounted}\n-kept\n+new\n*** End Patch\n`;

/** Calls that would replace a file that is mounted by itself, as containers mount single files. */
const replacing: readonly (readonly [id: string, payload: object])[] = [
  ["coder::update-file", { files: [{ path: mounted, ...edit }] }],
  ["coder::create-file", { files: [{ path: mounted, content: "new", overwrite: true }] }],
  ["coder::delete-file", { paths: [mounted] }],
  ["coder::move", { files: [{ from: mounted, to: "d/moved" }] }],
  ["coder::move", { files: [{ from: "d/a.txt", to: mounted, overwrite: true }] }],
  ["coder::copy", { files: [{ from: "d/a.txt", to: mounted, overwrite: true }] }],
  ["coder::transact", { changes: [{ op: "update", path: mounted, ...edit }] }],
  ["coder::transact", { changes: [{ op: "create", path: mounted, content: "new", overwrite: true }] }],
  ["coder::transact", { changes: [{ op: "delete", path: mounted }] }],
  ["coder::transact", { changes: [{ op: "move", from: mounted, to: "d/moved" }] }],
  ["coder::apply-patch", { patch }],
];

describe.each(["openat", "descriptors", "current-directory"])("a mounted file, with %s", (backend) => {
  testUnless(reasonAgainstMounts, "is not replaced, and the error says what to do", () =>
    withDriver(
      { tree, before: mounts["a file"]!, ownMounts: true, env: { CODER_JAIL: backend } },
      async ({ call, snapshot, root }) => {
        const before = snapshot();
        for (const [id, payload] of replacing) {
          const outcome = await call(id, payload);
          const text = JSON.stringify(outcome);
          expect([id, codesOf(outcome)]).toEqual([id, ["C216"]]);
          expect([id, /([\w/.]+)\\+" is mounted by itself/.exec(text)?.[1]]).toEqual([id, mounted]);
          expect(text).toContain("ask the user to mount the folder");
          expect(text).not.toMatch(/EXDEV|EBUSY/);
          expect(outcomeFaults(outcome, { functionId: id, payload, root })).toEqual([]);
          expect(compareSnapshots(snapshot(), before)).toEqual([]);
        }
      },
    ),
  );
});
