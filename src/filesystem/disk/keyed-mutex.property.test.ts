import { expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

const path = fc.array(fc.constantFrom("a", "b", "A", "ab"), { maxLength: 4 }).map((names) => names.join("/"));

const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(path, { maxLength: 4 }).map((keys) => ({ kind: "arrive", keys }) as const),
  },
  { weight: 2, arbitrary: fc.nat().map((which) => ({ kind: "end", which }) as const) },
  { weight: 1, arbitrary: fc.nat().map((which) => ({ kind: "cancel", which }) as const) },
);

/** A call of the model, in order of arrival. */
interface Call {
  readonly keys: readonly string[];
  readonly controller: AbortController;
  state: "waiting" | "running" | "over";
  turn?: Disposable;
}

const isAtOrAbove = (one: string, other: string): boolean =>
  one === "" || one === other || other.startsWith(`${one}/`);

const conflict = (one: Call, other: Call): boolean =>
  one.keys.some((key) =>
    other.keys.some((theirs) => {
      const [left, right] = [key.toLowerCase(), theirs.toLowerCase()];
      return isAtOrAbove(left, right) || isAtOrAbove(right, left);
    }),
  );

/** Returns the calls that may run: those that conflict with no earlier one that is not over. */
const allowed = (calls: readonly Call[]): Call[] => {
  const live = calls.filter(({ state }) => state !== "over");
  return live.filter((call, index) => !live.slice(0, index).some((earlier) => conflict(call, earlier)));
};

test("a call runs exactly when it conflicts with no earlier one, whichever end or are cancelled", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
      const mutex = createKeyedMutex();
      const calls: Call[] = [];
      const settle = async () => {
        await nextTick();
        expect(calls.filter(({ state }) => state === "running")).toEqual(allowed(calls));
      };
      const arrive = (keys: readonly string[]) => {
        const call: Call = { keys, controller: new AbortController(), state: "waiting" };
        const isFree = !calls.some((earlier) => earlier.state !== "over" && conflict(call, earlier));
        expect(mutex.isFree(keys)).toBe(isFree);
        calls.push(call);
        mutex.acquire(keys, deadlineIn(Number.POSITIVE_INFINITY, call.controller.signal)).then(
          (turn) => Object.assign(call, { state: "running", turn }),
          () => Object.assign(call, { state: "over" }),
        );
      };
      const among = (state: Call["state"], which: number): Call | undefined => {
        const found = calls.filter((call) => call.state === state);
        return found[which % found.length];
      };
      const end = (call: Call | undefined) => {
        call?.turn?.[Symbol.dispose]();
        if (call !== undefined) call.state = "over";
      };
      for (const one of events) {
        if (one.kind === "arrive") arrive(one.keys);
        else if (one.kind === "end") end(among("running", one.which));
        else among("waiting", one.which)?.controller.abort();
        await settle();
      }
      for (let left = calls.length; left > 0; left--) {
        end(among("running", 0));
        await settle();
      }
      expect(calls.every(({ state }) => state === "over")).toBe(true);
      expect([mutex.isFree([""]), mutex.isFree(["a/b"])]).toEqual([true, true]);
    }),
    propertyRuns(200),
  );
});
