import { expect, test } from "bun:test";
import type { TriggerType } from "../contract/trigger.ts";
import type { Bus } from "./bus.ts";
import { Triggers } from "./triggers.ts";

type Handlers = Parameters<Bus["registerTriggerType"]>[1];

/** Offers triggers of one type. Returns the engine's requests, and the number of open triggers. */
function offer() {
  const open = { count: 0 };
  const type = {
    definition: { id: "test::changed", description: "" },
    async open() {
      open.count++;
      return () => {
        open.count--;
        return "0:0";
      };
    },
  } as unknown as TriggerType;
  let handlers: Handlers | undefined;
  const bus = {
    registerTriggerType: (_: unknown, given: Handlers) => {
      handlers = given;
    },
    unregisterTriggerType: () => {},
  } as unknown as Bus;
  const triggers = new Triggers(bus, [type]);
  return { triggers, open, handlers: handlers! };
}

const trigger = { id: "t", function_id: "test::got", config: {} };

test("a trigger that the engine sends twice in a row is opened once", async () => {
  const { triggers, open, handlers } = offer();
  await Promise.all([handlers.registerTrigger(trigger), handlers.registerTrigger({ ...trigger })]);
  expect(open.count).toBe(1);
  await triggers.stop();
  expect(open.count).toBe(0);
});

test("a trigger that the engine takes back at once does not stay", async () => {
  const { open, handlers } = offer();
  await Promise.all([handlers.registerTrigger(trigger), handlers.unregisterTrigger(trigger)]);
  expect(open.count).toBe(0);
});
