import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runCoder } from "../harness/subject.ts";
import { catalogue, functionOf } from "./catalogue.ts";

const offered = async (): Promise<string[]> => {
  const { stdout } = await runCoder("source", ["--print-schema"]);
  return (JSON.parse(stdout) as { functions: { name: string }[] }).functions.map((entry) => entry.name);
};

test("every function has a file of at least 15 cases", async () => {
  const thin = (await offered()).filter((id) => (catalogue[id]?.length ?? 0) < 15);
  expect(thin).toEqual([]);
});

test("every case file belongs to a function", async () => {
  const files = new Set(readdirSync(join(import.meta.dirname, "cases")).map(functionOf));
  expect([...files].sort()).toEqual((await offered()).sort());
});

test("a case stands in the file of the function it calls, under a name of its own", () => {
  for (const [id, cases] of Object.entries(catalogue)) {
    expect(new Set(cases.map((one) => one.call.function))).toEqual(new Set([id]));
    const names = cases.map((one) => one.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  }
});

test("there are at least 300 cases", () => {
  expect(Object.values(catalogue).flat().length).toBeGreaterThanOrEqual(300);
});
