import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

/** Opens a folder with one file. */
function openWith(content: string | Buffer) {
  const fixture = new SessionsFixture();
  writeFileSync(fixture.at("f.txt"), content);
  const read = () => readFileSync(fixture.at("f.txt"), "utf8");
  return { fixture, read, ...fixture.open({ client: "anna 1.0", session: "aaaaaaaa" }) };
}

const diff = (...lines: string[]) => ["--- a/f.txt", "+++ b/f.txt", ...lines, ""].join("\n");

test("a hunk that fits elsewhere too is said to, and where it was applied", async () => {
  const { fixture, text } = openWith("begin\nend\n1\n2\n3\n4\n5\n6\nbegin\nend\n7\n");
  await using _ = fixture;
  const hunk = [" begin", "-end", "+END"];
  const noteOf = async (line: number) =>
    (await text("coder::apply-patch", { patch: diff(`@@ -${line},2 +${line},2 @@`, ...hunk), dry_run: true }))
      .split("\n")
      .filter((note) => note.startsWith("[hunk"));
  expect(await noteOf(1)).toEqual(["[hunk 1: applied at line 1, and it fits at line 9 too]"]);
  expect(await noteOf(2)).toEqual([
    "[hunk 1: applied at line 1, 1 line before its header; it fits at line 9 too]",
  ]);
});
