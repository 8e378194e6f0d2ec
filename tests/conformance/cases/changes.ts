import { type Case, failure, Matcher, notAnObject, textWith, wrongTypes } from "../case.ts";

const id = "coder::changes";

const tree = { "a.txt": "a\n" };

const aPlace = new Matcher(
  "a place in the feed",
  (value) => typeof value === "string" && /^[\da-f]{12}:\d+$/.test(value),
);
/** Matches either value, because not every system can watch the tree. */
const isWatched = new Matcher("whether the tree is watched", (value) => typeof value === "boolean");

const nothing = { changes: [], external: isWatched, next: aPlace, overflow: false };

const begins = (name: string, payload: object): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { answer: nothing },
});

const overflows = (name: string, payload: object): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { answer: { ...nothing, overflow: true, note: textWith("read again", "next") } },
});

const refused = (name: string, since: string): Case => ({
  name,
  tree,
  call: { function: id, payload: { since } },
  expect: { error: failure("C210", "since", "next") },
});

/** The id of the feed of another process. */
const other = "0123456789ab";

export const cases: readonly Case[] = [
  begins("begins with no changes", {}),
  begins("begins for a path", { path: "a.txt" }),
  begins("begins for a path that is not there", { path: "gone/a.txt" }),
  begins("begins for a path that is denied, as for any other", { path: ".env" }),
  begins("begins for a path outside, of which nothing is ever reported", { path: "../outside" }),
  begins("begins for an absolute path", { path: "/etc" }),
  begins("begins with a limit that is above what is kept", { limit: 4_000_000_000 }),
  begins("begins with a limit of none", { limit: 0 }),
  begins("ignores fields that it does not know", { wait: true }),
  overflows("another epoch is an overflow", { since: `${other}:0` }),
  overflows("another epoch is an overflow for every path", { since: `${other}:7`, path: "a.txt" }),
  overflows("another epoch is an overflow with a limit of none", { since: `${other}:999999999`, limit: 0 }),
  refused("an empty place", ""),
  refused("a number alone", "17"),
  refused("an epoch alone", other),
  refused("a number below zero", `${other}:-1`),
  refused("something after the number", `${other}:1 `),
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "limit",
    takes: ["a number"],
    says: ["limit"],
    payload: (limit) => ({ limit }),
  }),
  ...wrongTypes({
    function: id,
    field: "since",
    takes: ["a string"],
    says: ["since"],
    payload: (since) => ({ since }),
  }),
];
