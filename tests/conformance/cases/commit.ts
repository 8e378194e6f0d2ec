import { type Case, failure, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::commit";

const refuses = (name: string, payload: object, code: "C210" | "C221", ...says: string[]): Case => ({
  name,
  tree: { a: "a" },
  call: { function: id, payload },
  expect: { error: failure(code, ...says) },
});

export const cases: readonly Case[] = [
  refuses("a plan that there is not", { plan: "0f".repeat(16) }, "C221", "dry run"),
  refuses("an empty plan", { plan: "" }, "C210", "plan"),
  refuses("a plan that is too short", { plan: "0f" }, "C210", "32"),
  refuses("a plan that is too long", { plan: "0f".repeat(17) }, "C210", "32"),
  refuses("a plan in upper case", { plan: "0F".repeat(16) }, "C210", "plan"),
  refuses("a plan that is no number", { plan: "x".repeat(32) }, "C210", "plan"),
  refuses("a path", { plan: "../outside" }, "C210", "plan"),
  refuses("no plan", {}, "C210", "plan", "missing"),
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "plan",
    takes: ["a string"],
    says: ["plan", "string"],
    payload: (plan) => ({ plan }),
  }),
];
