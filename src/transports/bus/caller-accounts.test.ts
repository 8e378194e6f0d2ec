import { expect, test } from "bun:test";
import { CallerAccounts } from "./caller-accounts.ts";

const rows = [
  { id: "1", name: "coder-call-7" },
  { id: "2", name: "coder-call-8" },
  { id: "3", name: "host:9" },
  { id: "4", name: "host:10" },
  { id: "5", name: "api-8080" },
  { id: "6", name: null },
];

test("callers of one name have one account, and those without share another", async () => {
  let lists = 0;
  const bus = {
    trigger: async () => {
      lists++;
      return { workers: rows };
    },
  } as never;
  const accounts = new CallerAccounts(bus);
  const found = await Promise.all(["1", "2", "3", "4", "5", "6", "7"].map((id) => accounts.of(id)));
  expect(found.map((account) => found.indexOf(account))).toEqual([0, 0, 2, 2, 4, 5, 5]);
  const before = lists;
  await accounts.of("1");
  expect(lists).toBe(before);
});

test("where the engine lists nothing, callers share one account", async () => {
  const bus = { trigger: () => Promise.reject(new Error("TIMEOUT")) } as never;
  const accounts = new CallerAccounts(bus);
  expect(await accounts.of("1")).toBe(await accounts.of("2"));
});

test("a caller that the engine lists a moment later has the account of its name", async () => {
  let lists = 0;
  const bus = { trigger: async () => ({ workers: ++lists < 3 ? [] : rows }) } as never;
  expect(await new CallerAccounts(bus).of("1")).toBe("worker coder-call");
});
