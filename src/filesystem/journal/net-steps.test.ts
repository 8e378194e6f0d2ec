import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { RecordedState } from "./frame.ts";
import { netSteps } from "./net-steps.ts";
import type { RecordedStep } from "./read-record.ts";

const content = { inline: 0, length: 1 };

/** Returns the state that a word stands for: nothing, a folder or a link with its mode or text, or a file. */
function stateOf(word: string): RecordedState {
  if (word === "absent") return { kind: "absent" };
  if (word.startsWith("dir"))
    return { kind: "dir", mode: word === "dir" ? undefined : Number(word.slice(3)) };
  if (word.startsWith("link")) return { kind: "symlink", text: word };
  return { kind: "file", mode: 0o644, revision: word === "?" ? "" : word, content };
}

function wordOf(state: RecordedState): string {
  if (state.kind === "file") return state.revision || `${state.mode}`;
  if (state.kind === "symlink") return state.text;
  return state.kind === "dir" ? `dir${state.mode ?? ""}` : state.kind;
}

/**
 * Parses steps, such as `place a absent 1` and `rename a b 1`, which may end with the state that the move
 * replaced. Another call begins at `;`, and a step that cannot be undone at `!`.
 */
function stepsOf(text: string): RecordedStep[] {
  let seq = 1;
  const steps: RecordedStep[] = [];
  for (const [at, one] of text.split(/, |(?=; )/).entries()) {
    if (one.startsWith("; ")) seq++;
    const words = one.replace(/^(; )?!?/, "").split(" ") as [
      RecordedStep["kind"],
      string,
      string,
      string,
      string?,
    ];
    const [kind, path, second, third, replaced = "absent"] = words;
    const common = { at, kind, seq, segment: 1, record: "r", contentsAt: at, part: 0, bytes: 0 };
    const lost = /^(; )?!/.test(one) && { unavailable: "too-large" as const };
    const between = (before: RecordedState, after: RecordedState) => ({
      before: { state: before },
      after: { state: after },
      ...lost,
    });
    if (kind === "rename") {
      const states = between(stateOf(replaced), stateOf(third));
      steps.push({ ...common, path: second, from: path, ...states });
    } else if (kind === "chmod") {
      const modeOf = (mode: string): RecordedState => ({ kind: "file", mode: Number(mode), revision: "" });
      steps.push({ ...common, path, ...between(modeOf(second), modeOf(third)) });
    } else steps.push({ ...common, path, ...between(stateOf(second), stateOf(third)) });
  }
  return steps;
}

const textOf = ({ kind, path, from, before, after }: RecordedStep): string =>
  kind === "rename"
    ? `rename ${from} ${path} ${wordOf(after.state)}${before.state.kind === "absent" ? "" : ` ${wordOf(before.state)}`}`
    : `${kind} ${path} ${wordOf(before.state)} ${wordOf(after.state)}`;

test.each<[name: string, steps: string, net: string]>([
  ["a file made and removed", "place a absent 1; remove a 1 absent", ""],
  ["contents there and back", "place a 1 2; place a 2 1", ""],
  ["contents there and back, and on", "place a 1 2; place a 2 1; place a 1 3", "place a 1 3"],
  ["contents of two calls", "place a 1 2; place a 2 3", "place a 1 2, place a 2 3"],
  ["contents of one call", "place a 1 2, place a 2 3", "place a 1 3"],
  ["an edit and a removal in one call", "place a 1 2, remove a 2 absent", "remove a 1 absent"],
  ["another program between two steps", "place a 1 2; place a 3 1", "place a 1 2, place a 3 1"],
  ["modes there and back", "chmod a 420 384; chmod a 384 420", ""],
  ["a link that is replaced, and comes back", "place a link1 1; place a 1 link1", ""],
  [
    "a folder that goes and comes back",
    "remove d/x 1 absent, remove d dir493 absent; place d absent dir493, place d/x absent 1",
    "",
  ],
  [
    "such a folder with a mode that is not known",
    "remove d/x 1 absent, remove d dir493 absent; place d absent dir, place d/x absent 1",
    "chmod d dir493 dir",
  ],
  [
    "a folder in which another program had made a file",
    "place d absent dir; remove d/x 1 absent, remove d dir absent",
    "place d absent dir, remove d/x 1 absent, remove d dir absent",
  ],
  ["a move there and back", "rename a b 1; rename b a 1", ""],
  [
    "a move there and back, with an edit",
    "rename a b 1; place b 1 2; rename b a 2",
    "rename a b 1, place b 1 2, rename b a 2",
  ],
  ["a name on the way of one call", "rename a b 1, rename b c 1", "rename a c 1"],
  [
    "a folder there and back, with an edit in it",
    "rename d e dir; place e/x 1 2; rename e d dir",
    "place d/x 1 2",
  ],
  [
    "a file that is made, moved with its folder, and removed",
    "place d/x absent 1; rename d e dir; remove e/x 1 absent",
    "rename d e dir",
  ],
  [
    "another file that takes the name and moves on",
    "rename a b 1; place a absent 2; rename a c 2; rename b a 1",
    "place c absent 2",
  ],
  [
    "a folder that takes the name and moves on",
    "rename a b 1; place a absent dir, place a/x absent 2; rename a c dir; rename b a 1",
    "place c absent dir, place c/x absent 2",
  ],
  ["a swap", "rename a t 1; rename b a 2; rename t b 1", "rename a t 1, rename b a 2, rename t b 1"],
  [
    "a swap by one call",
    "rename a t 1, rename b a 2, rename t b 1",
    "rename a t 1, rename b a 2, rename t b 1",
  ],
  ["two swaps", "rename a t 1, rename b a 2, rename t b 1; rename a t 2, rename b a 1, rename t b 2", ""],
  ["a replacement by way of a temporary file", "place t absent 2, rename t a 2 1", "place a 1 2"],
  ["a move over another file, and back without that", "rename a b 1 2; rename b a 1", "remove b 2 absent"],
  ["a copy that replaces its origin", "place b absent 1; rename b a 1 1", ""],
  ["an origin that a copy of the moved file replaces", "rename a b 1; place a absent 1", "place b absent 1"],
  [
    "a step that cannot be undone among others",
    "place a absent 1, !place b absent 2, remove a 1 absent",
    "place b absent 2",
  ],
  [
    "a step that cannot be undone in between",
    "place a absent 1; !place a 1 2; remove a 1 absent",
    "place a absent 1, place a 1 2, remove a 1 absent",
  ],
])("%s", (_, steps, net) => {
  const found = runAtOnce(netSteps(stepsOf(steps)));
  expect(found.map(textOf).join(", ")).toBe(net);
});

test("a change that remains has the place of the content that it replaced", () => {
  const [step] = runAtOnce(netSteps(stepsOf("place a 1 2, place a 2 3")));
  expect(step).toMatchObject({ at: 1, contentsAt: 0 });
});

test("many steps are followed in pieces", () => {
  const paths = Array.from(
    { length: 2000 },
    (_, index) => `place d/${index} absent 1; remove d/${index} 1 absent`,
  );
  const steps = netSteps(stepsOf(paths.join(", ")));
  let pieces = 0;
  while (!steps.next().done) pieces++;
  expect(pieces).toBeGreaterThan(40);
});
