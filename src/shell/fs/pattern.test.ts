import { afterAll, expect, spyOn, test } from "bun:test";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { createRegexEngine } from "../../text/regex/rust-regex.ts";
import { requirePattern, requireReplacement } from "./pattern.ts";

const regex = createRegexEngine();
afterAll(() => regex.close());

const deadline = deadlineIn(60_000);
afterAll(() => deadline.end());

const large = "\\w{250}(?<name>x)";

const requireGroups = (pattern: string, replacement: string) =>
  requireReplacement(regex, { pattern, ignoreCase: false, replacement, strict: true }, deadline);

const refusalOf = (work: Promise<void>) =>
  work.then(
    () => "",
    (error) => String(error),
  );

test("a pattern that takes long to compile is compiled in a thread, and a usual one here", async () => {
  const inThread = spyOn(regex, "replaceAll");
  try {
    await requirePattern(regex, { pattern: "(?i)fn \\w+", ignoreCase: false }, deadline);
    expect(inThread).toHaveBeenCalledTimes(0);
    await requirePattern(regex, { pattern: large, ignoreCase: false }, deadline);
    expect(inThread).toHaveBeenCalledTimes(1);
  } finally {
    inThread.mockRestore();
  }
});

test.each(["(?<name>x)", large])("the groups of %p are compared with the replacement", async (pattern) => {
  await requireGroups(pattern, "${name}");
  expect(await refusalOf(requireGroups(pattern, "${nome}"))).toContain(
    "it names ${nome}, and the groups of the pattern are ${0}, ${name}",
  );
});

test("a pattern that is too large is refused", async () => {
  const tooLarge = requirePattern(regex, { pattern: "\\w{900}", ignoreCase: false }, deadline);
  expect(await refusalOf(tooLarge)).toContain("Compiled regex exceeds size limit");
});
