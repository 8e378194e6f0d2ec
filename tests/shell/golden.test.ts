import { describe, expect, test } from "bun:test";
import { runCoder, subjects } from "../harness/subject.ts";
import golden from "./shell-0.3.5.golden.json" with { type: "json" };

interface Named {
  readonly name: string;
}

const byName = (one: Named, other: Named) => one.name.localeCompare(other.name);

describe.each(subjects)("%s", (subject) => {
  test("--print-schema --api is the published reference", async () => {
    const args = ["--worker", "shell", "--print-schema", "--api", "0.3.5"];
    const { code, stdout, stderr } = await runCoder(subject, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const printed = JSON.parse(stdout) as { functions: Named[]; triggers: unknown[] };
    expect(printed.triggers).toEqual(golden.triggers);
    expect(printed.functions.toSorted(byName)).toEqual(golden.functions.toSorted(byName));
  });
});
