import { expect, test } from "bun:test";
import type { FunctionDefinition } from "./definition.ts";
import { bringsLinks, touchesOf } from "./request-paths.ts";

const definition = (part: Partial<FunctionDefinition>) =>
  ({ effect: "writes", paths: [], ...part }) as FunctionDefinition;
const whole = (writes: boolean) => [{ path: "", writes }];
const names = (path: string) => [path];

test("a function without paths touches the whole tree, unless it says otherwise", () => {
  expect(touchesOf(definition({ effect: "reads" }), {}, names)).toEqual(whole(false));
  expect(touchesOf(definition({}), {}, names)).toEqual(whole(true));
  expect(touchesOf(definition({ touchesNoFiles: true }), {}, names)).toEqual([]);
});

test("a path that is a part of a text can be anywhere", () => {
  const paths = [{ at: "/patch", access: "write", render: () => "" }] as const;
  expect(touchesOf(definition({ paths }), { patch: "a" }, names)).toEqual(whole(true));
});

test("a listing reads the whole tree, as ignore files above its folder count", () => {
  const paths = [{ at: "/path", access: "list" }] as const;
  expect(touchesOf(definition({ effect: "reads", paths }), { path: "a" }, names)).toEqual(whole(false));
});

test("each path counts under all its names, and writes if one of its accesses does", () => {
  const paths = [
    { at: "/files/*/from", access: "copy" },
    { at: "/files/*/to", access: "create" },
    { at: "/files/*/to", access: "replace" },
  ] as const;
  const request = {
    files: [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
    ],
  };
  const touches = touchesOf(definition({ paths }), request, (path) => [path, `real/${path}`]);
  const writesAt = Object.fromEntries(touches.map(({ path, writes }) => [path, writes]));
  expect(writesAt).toEqual({ a: false, "real/a": false, b: true, "real/b": true, c: true, "real/c": true });
});

test("a call with more than 100 paths touches the whole tree, and resolves none of them", () => {
  const paths = [
    { at: "/files/*/path", access: "create" },
    { at: "/files/*/path", access: "replace" },
  ] as const;
  const resolved: string[] = [];
  const touched = (length: number, effect: "reads" | "writes") => {
    const files = Array.from({ length }, (_, index) => ({ path: `${index}` }));
    return touchesOf(definition({ effect, paths }), { files }, (path) => {
      resolved.push(path);
      return [path];
    });
  };
  expect(touched(101, "writes")).toEqual(whole(true));
  expect(touched(101, "reads")).toEqual(whole(false));
  expect(resolved).toEqual([]);
  expect(touched(100, "writes")).toHaveLength(100);
  expect(resolved).toHaveLength(100);
});

test("a call with deep paths, or whose paths lead to deep ones, touches the whole tree", () => {
  const paths = [{ at: "/paths/*", access: "remove" }] as const;
  const deep = "a/".repeat(1000);
  const resolved: string[] = [];
  const touched = (sent: readonly string[], target = "") =>
    touchesOf(definition({ paths }), { paths: sent }, (path) => {
      resolved.push(path);
      return [path, ...(target === "" ? [] : [`${path}/${target}`])];
    });
  expect(touched([`0/${deep}`, `1/${deep}`])).toEqual(whole(true));
  expect(resolved).toEqual([]);
  expect(touched([`0/${deep}`, "1"])).toHaveLength(2);
  expect(touched(["0", "1"], deep)).toHaveLength(4);
  expect(touched(["0", "1", "2", "3", "4", "5", "6", "7"], deep)).toEqual(whole(true));
});

test("a call brings links where it moves or copies something, or says not what it changes", () => {
  const paths = [
    { at: "/files/*/from", access: "copy" },
    { at: "/path", access: "replace" },
  ] as const;
  const copies = { files: [{ from: "a" }] };
  expect(bringsLinks(definition({ paths }), copies)).toBe(true);
  expect(bringsLinks(definition({ paths }), { path: "a" })).toBe(false);
  expect(bringsLinks(definition({}), {})).toBe(true);
  expect(bringsLinks(definition({ effect: "reads" }), {})).toBe(false);
  expect(bringsLinks(definition({ touchesNoFiles: true }), {})).toBe(false);
});

test("a call whose paths are not to be resolved touches the whole tree, unless it touches nothing", () => {
  const paths = [{ at: "/path", access: "read" }] as const;
  expect(touchesOf(definition({ effect: "reads", paths }), { path: "a" }, undefined)).toEqual(whole(false));
  expect(touchesOf(definition({ paths, touchesNoFiles: true }), { path: "a" }, undefined)).toEqual([]);
});

test("of many moves one is read to know that they bring links", () => {
  const paths = [
    { at: "/files/*/from", access: "move" },
    { at: "/files/*/to", access: "create" },
  ] as const;
  let reads = 0;
  const move = {
    get from() {
      return String(reads++);
    },
    to: "b",
  };
  expect(bringsLinks(definition({ paths }), { files: Array(1000).fill(move) })).toBe(true);
  expect(reads).toBe(1);
});
