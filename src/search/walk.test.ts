import { expect, test } from "bun:test";
import fc from "fast-check";
import { refuse } from "../errors.ts";
import type { Entry, Files } from "../files/files.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { HeldFolder, inPathOrder, walk } from "./walk.ts";

const bytes = fc.constantFrom("a", "b", " ", "-", ".", "0", "\xff", "\xc3\xa9", "\x2e", "\x30");
const rawNames = fc.array(bytes, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
const entries = fc
  .uniqueArray(fc.tuple(rawNames, fc.constantFrom("file" as const, "dir" as const)), {
    maxLength: 12,
    selector: ([name]) => name,
  })
  .map((pairs) =>
    pairs.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, kind]) => entryOf(name, kind)),
  );

/** As a folder is listed: bytes where the name is not UTF-8. */
function entryOf(latin1: string, kind: "file" | "dir"): Entry {
  const raw = Buffer.from(latin1, "latin1");
  const name = raw.toString();
  return { name, raw: Buffer.from(name).equals(raw) ? name : raw, kind };
}

const key = ({ raw, kind }: Entry) =>
  Buffer.concat([Buffer.from(raw), Buffer.from(kind === "dir" ? "/" : "")]);

test("a folder stands where the paths below it belong", () => {
  fc.assert(
    fc.property(entries, (listed) => {
      const sorted = [...listed].sort((one, other) => Buffer.compare(key(one), key(other)));
      expect(inPathOrder(listed)).toEqual(sorted);
    }),
    { numRuns: 2000 },
  );
});

test("a start that cannot be listed is not held any more", () => {
  let closed = 0;
  const start = new HeldFolder({ path: "", asked: "." } as Folder, () => closed++);
  const files = {
    list() {
      throw refuse.absent(".", "missing");
    },
  } as unknown as Files;
  const options = { jail: {} as Jail, files, include: undefined, exclude: undefined, onTooDeep() {} };
  const runs = walk(start, options);
  expect(() => runs.next()).toThrow();
  runs.return(undefined);
  start.release();
  expect(closed).toBe(1);
});
