import { expect, test } from "bun:test";
import { ShownFiles } from "./shown-files.ts";

const anna = { session: "a" };

test("the files that were shown last are remembered, for each author", () => {
  let position = 0;
  const shown = new ShownFiles(() => position, 2);
  shown.note(anna, "one", "1");
  position = 7;
  shown.note({ session: "b" }, "one", "2");
  shown.note(anna, "one", "3");
  expect(shown.at(anna, "one")).toEqual({ revision: "3", position: 7 });
  shown.note(anna, "two", "4");
  expect(shown.at({ session: "b" }, "one")).toBeUndefined();
  expect(shown.at(anna, "one")?.revision).toBe("3");
  shown.note(anna, "one", undefined);
  expect(shown.at(anna, "one")).toBeUndefined();
  shown.note({ client: "anna 1.0" }, "two", "5");
  expect(shown.at({ client: "anna 1.0" }, "two")).toBeUndefined();
});
