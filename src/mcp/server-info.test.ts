import { describe, expect, test } from "bun:test";
import { workerNames } from "../about.ts";
import { workers } from "../workers.ts";
import { inputSchema } from "./input-schema.ts";
import { renderInstructions } from "./server-info.ts";
import { toolName } from "./tools.ts";

const accepted = { takesFlatEnvelopes: true, isForgiving: true };

describe.each(workerNames)("the instructions of %s", (name) => {
  test.each([true, false])("name tools and fields that are there (with those that write: %p)", (writes) => {
    const offered = workers[name].functions.filter(
      ({ effect, needsBus = false, isRare = false }) =>
        !needsBus && !isRare && (writes || effect === "reads"),
    );
    const words = [
      ...offered.map(({ id }) => toolName(id)),
      ...JSON.stringify(offered.map((definition) => inputSchema(definition, accepted))).split(/\W+/),
    ];
    const named = renderInstructions(name, writes).match(/\b[a-z]+(_[a-z]+)+\b/g) ?? [];
    expect(named.filter((word) => !words.includes(word))).toEqual([]);
  });

  test("have at most ten lines", () => {
    expect(renderInstructions(name, true).split("\n").length).toBeLessThanOrEqual(10);
  });
});
