import { expect, test } from "bun:test";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { AnswerBudget } from "../../calls/answer-budget.ts";
import { Leases } from "./leases.ts";

const mebibyte = 1024 * 1024;
const later = deadlineIn(Number.POSITIVE_INFINITY);
const never = new AbortController().signal;

function openBench() {
  const budget = new AnswerBudget({ bytes: mebibyte });
  const leases = new Leases(budget, "a");
  const isFree = () => {
    const trial = budget.lease("b");
    const turn = trial.reserve(mebibyte, deadlineIn(60_000, AbortSignal.abort()));
    turn?.catch(() => {});
    trial.release();
    return turn === undefined;
  };
  return { leases, isFree };
}

test("an answer that was sent gives its room back", () => {
  const { leases, isFree } = openBench();
  leases.open(1, never).reserve(mebibyte, later);
  expect(leases.take(2)).toBeUndefined();
  const lease = leases.take(1);
  expect(isFree()).toBe(false);
  lease?.release();
  expect(isFree()).toBe(true);
});

test("an answer that is being sent keeps its room when the call is cancelled then", () => {
  const { leases, isFree } = openBench();
  const cancelling = new AbortController();
  leases.open(1, cancelling.signal).reserve(mebibyte, later);
  const lease = leases.take(1);
  cancelling.abort();
  expect(isFree()).toBe(false);
  lease?.release();
  expect(isFree()).toBe(true);
});

test("no room is lost when a client uses an id twice", () => {
  const { leases, isFree } = openBench();
  leases.open(1, never).reserve(mebibyte / 4, later);
  leases.open(1, never).reserve(mebibyte / 4, later);
  leases.take(1)?.release();
  expect(isFree()).toBe(false);
  leases.take(1)?.release();
  expect(isFree()).toBe(true);
});

test("a call that was cancelled has no answer to be sent", () => {
  const { leases, isFree } = openBench();
  const cancelling = new AbortController();
  leases.open("x", cancelling.signal).reserve(mebibyte, later);
  cancelling.abort();
  expect(isFree()).toBe(true);
  leases.open("y", cancelling.signal);
  leases.open("z", never).reserve(mebibyte, later);
  leases.releaseAll();
  expect(isFree()).toBe(true);
});
