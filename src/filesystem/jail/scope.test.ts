import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { AdmitOptions, Jail, ScopeRequest } from "./folder.ts";
import { backends, compatible, JailFixture, lead, openRootsAtOnce } from "./jail.test-kit.ts";

const directory = process.cwd();
afterAll(() => process.chdir(directory));

const tree = {
  "a/x.txt": "x",
  "a/.env": "denied",
  "a/in/y.txt": "y",
  "a/out": { link: "../b/z.txt" },
  "a/out-folder": { link: "../b" },
  "a/absolute": { link: "<base>/b/z.txt" },
  "a/nothing": { link: "../b/missing" },
  "a/by-way-of-b": { link: "../b/back/x.txt" },
  "a/own": { link: "in/y.txt" },
  "a/own-by-dots": { link: "../a/in/y.txt" },
  "b/z.txt": "z",
  "b/.env": "denied",
  "b/back": { link: "../a" },
  "to-a": { link: "a" },
} as const;

const making: AdmitOptions = { changes: "tree", mayBeMissing: true, parents: true };

/** Returns the reason why the scope itself is refused. */
function reasonAgainst(jail: Jail, scope: ScopeRequest): string {
  try {
    jail.within(scope);
    return "none";
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe.each(backends)("%s", (backend) => {
  const cases: readonly (readonly [string, ScopeRequest, Readonly<Record<string, string>>])[] = [
    [
      "a folder",
      { root: "a" },
      {
        ".": "at:a",
        "x.txt": "at:a/x.txt",
        "in/../x.txt": "at:a/x.txt",
        "in/../../a/x.txt": "at:a/x.txt",
        own: "at:a/in/y.txt",
        "own-by-dots": "at:a/in/y.txt",
        missing: "missing",
        ".env": "denied",
        "..": "out-of-scope",
        "../b": "out-of-scope",
        "../b/z.txt": "out-of-scope",
        "../b/../a/x.txt": "out-of-scope",
        "../b/back/x.txt": "out-of-scope",
        "../b/missing": "out-of-scope",
        "../b/.env": "out-of-scope",
        "../to-a/x.txt": "out-of-scope",
        "../ab": "out-of-scope",
        out: "out-of-scope",
        "out-folder/z.txt": "out-of-scope",
        absolute: "out-of-scope",
        nothing: "out-of-scope",
        "by-way-of-b": "out-of-scope",
        "../../outside/secret.txt": "outside",
      },
    ],
    [
      "grants of what is there and of what is not",
      {
        root: "a",
        boundary: ".",
        grants: [
          { path: "a/in", read_only: false },
          { path: "b/new.txt", read_only: false },
          { path: "a/.env", read_only: false },
          { path: "a/none", read_only: false },
        ],
      },
      {
        ".": "out-of-scope",
        "x.txt": "out-of-scope",
        "in/y.txt": "at:a/in/y.txt",
        own: "out-of-scope",
        "../b/new.txt": "missing",
        "../b/z.txt": "out-of-scope",
        ".env": "denied",
        none: "missing",
      },
    ],
    ["a link to a folder", { root: "to-a" }, { "x.txt": "at:a/x.txt", "../to-a/x.txt": "out-of-scope" }],
    ["the base", { root: "." }, { ".": "at:", "b/z.txt": "at:b/z.txt", "a/out": "at:b/z.txt" }],
    ["a root inside the boundary", { root: "a/in", boundary: "a" }, { "../x.txt": "at:a/x.txt" }],
  ];

  test.each(cases)("%s", (_, scope, places) => {
    using fixture = new JailFixture(tree);
    const jail = fixture.jail(backend, ["**/.env"]).within(scope);
    for (const [path, place] of Object.entries(places)) {
      expect([path, lead(jail, path)]).toEqual([path, place]);
      let read: string;
      try {
        using target = jail.resolveForRead(path);
        read = target.requested === path ? place : "another";
      } catch (error) {
        read = (error as { reason: string }).reason;
      }
      expect([path, read]).toEqual([path, place]);
    }
  });

  test("what changes needs a grant to write, and the boundary keeps its name", () => {
    using fixture = new JailFixture(tree);
    const grants = [
      { path: "a", read_only: true },
      { path: "a/in", read_only: false },
    ];
    const jail = fixture.jail(backend, ["**/.env"]).within({ root: "a", grants });
    expect(lead(jail, "x.txt")).toBe("at:a/x.txt");
    expect(lead(jail, "x.txt", making)).toBe("out-of-scope");
    expect(lead(jail, "new/x.txt", making)).toBe("out-of-scope");
    expect(lead(jail, "in/new/x.txt", making)).toBe("new:a/in/new/x.txt");
    expect(lead(jail, ".env", making)).toBe("denied");
    const whole = fixture.jail(backend).within({ root: "a" });
    expect(lead(whole, ".", making)).toBe("out-of-scope");
    expect(lead(whole, "in", making)).toBe("at:a/in");
    expect(lead(whole, "../new", making)).toBe("out-of-scope");
    expect(lead(whole, "../b/.env", making)).toBe("out-of-scope");
  });

  test("a scope that is none", () => {
    using fixture = new JailFixture(tree);
    const jail = fixture.jail(backend, ["**/.env", "denied"]);
    fixture.add({ "denied/": null });
    expect(reasonAgainst(jail, { root: "missing" })).toBe("missing");
    expect(reasonAgainst(jail, { root: "denied" })).toBe("denied");
    expect(reasonAgainst(jail, { root: "a/x.txt" })).toBe("wrong-kind");
    expect(reasonAgainst(jail, { root: "a", boundary: "b" })).toBe("out-of-scope");
    expect(reasonAgainst(jail, { root: "../outside" })).toBe("outside");
    for (const path of [".", "b", "b/missing", "a/out", "a/nothing"])
      expect(reasonAgainst(jail, { root: "a", grants: [{ path, read_only: true }] })).toBe("out-of-scope");
    expect(reasonAgainst(jail, { root: ".", grants: [{ path: "../x", read_only: true }] })).toBe("outside");
    const grants = Array.from({ length: 101 }, () => ({ path: "a", read_only: true }));
    expect(reasonAgainst(jail, { root: ".", grants })).toBe("bad-input");
  });

  test("over several roots", () => {
    using fixture = new JailFixture(tree);
    const roots = openRootsAtOnce({
      roots: [
        { name: "one", path: fixture.at("a") },
        { name: "two", path: fixture.at("b"), isReadOnly: true },
      ],
      deny: compileGlobSet([]),
      backend,
    });
    using _closing = { [Symbol.dispose]: () => roots.close() };
    const jail = roots.within({ root: "one" });
    expect(lead(jail, "x.txt")).toBe("at:one/x.txt");
    expect(lead(jail, "../two/z.txt")).toBe("out-of-scope");
    expect(lead(jail, "..")).toBe("out-of-scope");
    expect(lead(jail, "out")).toBe("outside");
    const both = roots.within({ root: ".", grants: [{ path: "two", read_only: false }] });
    expect(lead(both, "two/z.txt")).toBe("at:two/z.txt");
    expect(lead(both, "one/x.txt")).toBe("out-of-scope");
    expect(lead(both, ".")).toBe("out-of-scope");
    expect(lead(both, "two/new", making)).toBe("protected");
    const [folder, two] = [fixture.at("a/in"), fixture.at("b/z.txt")];
    const grants = [two, fixture.at("../outside"), "three"].map((path) => ({ path, read_only: false }));
    const session = roots.withinSession({ folder, reachesAll: false, grants });
    expect(session.scope?.root).toEqual(["one", "in"]);
    expect(lead(session, "y.txt")).toBe("at:one/in/y.txt");
    expect(lead(session, two)).toBe("at:two/z.txt");
    expect(lead(session, fixture.at("a/x.txt"))).toBe("out-of-scope");
    expect(lead(session, "three")).toBe("missing");
    const all = roots.withinSession({ folder, reachesAll: true, grants: [] });
    expect(lead(all, "../x.txt")).toBe("at:one/x.txt");
    expect(lead(all, fixture.at("a/x.txt"))).toBe("at:one/x.txt");
    expect(lead(all, ".", making)).toBe("at:one/in");
    expect(lead(session, ".", making)).toBe("out-of-scope");
  });

  test("a session takes rights away, and gives none", () => {
    using fixture = new JailFixture(tree);
    const whole = fixture.jail(backend, ["**/.env"]);
    const paths = [
      "x.txt",
      "../b/z.txt",
      "out",
      ".env",
      "../b/.env",
      "nothing",
      "..",
      "../../..",
      "../../outside",
    ];
    const grants = [".", "/", "..", "b", "b/.env", "../outside", "none", "\0"];
    for (const reachesAll of [false, true])
      for (const grant of grants) {
        const session = whole.withinSession({
          folder: fixture.at("a"),
          reachesAll,
          grants: [{ path: grant, read_only: false }],
        });
        for (const path of paths) {
          const found = lead(session, path);
          if (found !== "out-of-scope")
            expect([grant, path, found]).toEqual([grant, path, lead(whole, `a/${path}`)]);
        }
      }
  });

  test("no answer depends on what lies outside", () => {
    const name = fc.constantFrom("a", "b", "c");
    const step = fc.oneof({ weight: 3, arbitrary: name }, fc.constantFrom("..", "."));
    const path = fc.array(step, { minLength: 1, maxLength: 6 }).map((steps) => steps.join("/"));
    const target = fc.oneof(
      path,
      path.map((one) => `<base>/${one}`),
    );
    const inner = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
    const thing = fc.oneof(
      fc.constant("text"),
      target.map((link) => ({ link })),
    );
    const things = fc.array(fc.tuple(inner, thing), { maxLength: 8 });
    fc.assert(
      fc.property(
        things,
        things,
        fc.array(path, { minLength: 1, maxLength: 10 }),
        (inside, outside, paths) => {
          using full = new JailFixture({ "a/": null });
          using bare = new JailFixture({ "a/": null });
          const [jail, open] = [full.jail(backend).within({ root: "a" }), full.jail(backend)];
          const other = bare.jail(backend).within({ root: "a" });
          for (const [one, what] of compatible(inside))
            for (const each of [full, bare]) each.add({ [`a/${one}`]: what });
          for (const [one, what] of compatible(outside)) full.add({ [`b/${one}`]: what });
          for (const one of paths) {
            for (const options of [{}, { lastLink: "stay" }, making] as const) {
              const found = lead(jail, one, options);
              expect(lead(other, one, options)).toBe(found);
              if (found.includes(":")) expect(found).toMatch(/:a(\/|$)/);
              // The oracle is the same path from the base, without the scope.
              const whole = lead(open, `a/${one}`, options);
              if (found !== "out-of-scope") expect(found).toBe(whole);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
