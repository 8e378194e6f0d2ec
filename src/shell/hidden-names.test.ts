import { expect, test } from "bun:test";
import { runAtOnce } from "../base/scheduling/time-slice.ts";
import { indexHidden, indexHiddenOnce, withoutNames } from "./hidden-names.ts";

test("one path is indexed in each step", () => {
  const paths = Array.from({ length: 50 }, (_, index) => `a/${index}.pem`);
  expect([...indexHidden(paths)].length).toBe(50);
});

test("commands share the index until other files are hidden", async () => {
  let hidden = ["/srv/a/.env", "/srv/b/.env", "/etc/shadow"];
  const names = indexHiddenOnce(
    () => hidden,
    (path) => path.replace("/srv/", ""),
  );
  const [first, second] = await Promise.all([names(), names()]);
  expect(second).toBe(first);
  expect(await names()).toBe(first);
  expect(first.named(".env")).toEqual(["a/.env", "b/.env"]);
  expect(first.below("b")).toEqual(["b/.env"]);
  expect(first.below(".")).toEqual(["a/.env", "b/.env"]);
  expect(first.has("/etc/shadow")).toBe(true);
  hidden = [];
  expect((await names()).has("/etc/shadow")).toBe(false);
});

test("an index without some paths has them by no name", () => {
  const all = runAtOnce(indexHidden(["a/.env", "b/.env"]));
  const rest = withoutNames(all, new Set(["a/.env"]));
  expect(["a/.env", "b/.env"].filter(rest.has)).toEqual(["b/.env"]);
  expect([rest.named(".env"), rest.below("."), rest.below("a")]).toEqual([["b/.env"], ["b/.env"], []]);
  expect(withoutNames(all, new Set())).toBe(all);
});
