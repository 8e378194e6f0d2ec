import { describe, expect, test } from "bun:test";
import { workers } from "../../serve/workers.ts";
import { commandFunctions } from "../../shell/commands.ts";
import { inputSchema } from "./input-schema.ts";
import { renderInstructions } from "./server-info.ts";
import { toolName } from "./tools.ts";

const accepted = { takesFlatEnvelopes: true, isForgiving: true, listsRareFields: false };

const servers = [
  ["coder", [...workers.coder.functions], false],
  ["coder", [...workers.coder.functions, ...commandFunctions], true],
  ["shell", [...workers.shell.functions], false],
] as const;

describe.each(servers)("the instructions of %s", (name, functions, hasCommands) => {
  test.each([
    [true, true],
    [true, false],
    [false, true],
  ])("name tools and fields that are there (writing: %p, with a session: %p)", (writes, hasSession) => {
    const offered = functions.filter(
      ({ effect, needsBus = false, isRare = false }) =>
        !needsBus && !isRare && (writes || effect === "reads"),
    );
    const words = [
      ...offered.map(({ id }) => toolName(id)),
      ...JSON.stringify(offered.map((definition) => inputSchema(definition, accepted))).split(/\W+/),
    ];
    const isCommanding = hasCommands && writes;
    const recording = { keepsJournal: true, hasSession };
    const text = renderInstructions(name, { writes, hasCommands: isCommanding, ...recording });
    const named = text.match(/\b[a-z]+(_[a-z]+)+\b/g) ?? [];
    expect(named.filter((word) => !words.includes(word))).toEqual([]);
  });

  test("have at most ten lines", () => {
    const text = renderInstructions(name, {
      ...{ writes: true, hasCommands, keepsJournal: true, hasSession: true },
    });
    expect(text.split("\n").length).toBeLessThanOrEqual(10);
  });
});

test("the instructions over several roots begin with them, and never speak of one folder", () => {
  const offered = { writes: true, hasCommands: false, keepsJournal: true, hasSession: true };
  const text = renderInstructions("coder", { ...offered, roots: "app/, lib/ (read-only)" });
  expect(text).toStartWith(
    "Tools over the files of several folders, the roots: app/, lib/ (read-only). The top level holds only them, so each path begins with the name of a root,",
  );
  expect(text).not.toContain("the base");
});
