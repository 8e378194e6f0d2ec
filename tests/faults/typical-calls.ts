import { functions } from "../../src/coder/functions.ts";
import { pathArgumentsOf } from "../harness/path-arguments.ts";
import type { Random } from "../harness/random.ts";
import type { RandomCall } from "./payloads.ts";

/**
 * Returns a realistic call for the tree of payloads.ts, since few random calls reach a thread. The patterns
 * never run out, so none stays compiled for all calls.
 */
export function typicalCall(random: Random): RandomCall {
  return random.pick(makers)(random);
}

const path = (random: Random): string => `usual/${random.below(8)}/${random.below(8)}.txt`;

const pattern = (random: Random): string =>
  random.pick(["needle", "(?i)NEE\\w+", "\\bn[e-l]+", "\\p{L}{3,9}", "^.*d"]) +
  random.pick(["", "$", `|${random.below(10_000)}`, `|x{1,${random.below(500)}}y`]);

/** Makers of calls that often use threads, and then of an example for every function. */
const makers: readonly ((random: Random) => RandomCall)[] = [
  (random) => ({
    functionId: "coder::search",
    payload: { query: pattern(random), regex: true, path: random.pick([".", "usual"]) },
  }),
  (random) => ({
    functionId: "coder::search",
    payload: { query: `needle${random.below(1000)}`, ignore_case: true },
  }),
  () => ({ functionId: "coder::search", payload: { query: "needle" } }),
  (random) => ({
    functionId: "coder::update-file",
    payload: {
      files: [
        {
          path: path(random),
          ops: [{ op: "replace", pattern: pattern(random), replacement: "needle" }],
        },
      ],
    },
  }),
  (random) => ({
    functionId: "coder::create-file",
    payload: {
      files: [
        {
          path: path(random),
          content: "a needle\nin é hay\n".repeat(1 + random.below(random.chance(0.1) ? 5000 : 50)),
          overwrite: true,
          parents: true,
        },
      ],
    },
  }),
  ...pathArgumentsOf(functions, {}).map(({ id, payload, access }) => (random: Random) => ({
    functionId: id,
    payload: payload(access === "list" ? "usual" : path(random), { there: path(random), free: path(random) }),
  })),
];
