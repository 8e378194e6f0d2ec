import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionsOf } from "./measure.ts";
import { parseSources } from "./syntax.ts";

const text = `/** A comment is not part of it. */
export function declared(): number {
  const inner = [1].map((n) => n);
  return inner.length;
}
const arrow = () => 1;
const table = {
  method() {
    return arrow();
  },
  held: () => 2,
};
declare function bodiless(): void;
bodiless();
[table].forEach((anonymous) => {
  anonymous.method();
});
`;

test("functions with a name are measured from their first line to their last", async () => {
  const root = mkdtempSync(join(tmpdir(), "coder-"));
  try {
    writeFileSync(join(root, "tsconfig.json"), '{ "include": ["a.ts"] }');
    writeFileSync(join(root, "a.ts"), text);
    const found = (await parseSources(root, ["a.ts"])).flatMap(functionsOf);
    expect(found).toEqual([
      { name: "a.ts:2 declared", lines: 4 },
      { name: "a.ts:6 arrow", lines: 1 },
      { name: "a.ts:8 method", lines: 3 },
      { name: "a.ts:11 held", lines: 1 },
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
