import { expect, test } from "bun:test";
import { removableAbove } from "./services.ts";

test("the folders above a kept path are checked one in each step, first without the disk", () => {
  const checked: string[] = [];
  const jail = {
    mayGoWhole: ({ path }: { readonly path: string }) => path.length <= 3,
    deniesChange(path: string) {
      checked.push(path);
      return path !== "a";
    },
  };
  const steps = removableAbove(jail, `${"a/".repeat(200)}settings.json`);
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      expect(value).toBe("a");
      break;
    }
    count++;
  }
  expect(count).toBe(199);
  expect(checked).toEqual(["a/a", "a"]);
});
