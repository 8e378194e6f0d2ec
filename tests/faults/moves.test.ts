/** Moves and copies between file systems, and moves of folders that other calls are reading. */
import { describe, expect, test } from "bun:test";
import {
  codesOf,
  type DriverFixture,
  type DriverOptions,
  outcomeFaults,
  withDriver,
} from "./driver-fixture.ts";
import { reasonAgainstMounts, testUnless } from "./machine.ts";

type Entry = { readonly from: string; readonly to: string; readonly overwrite?: boolean };

/** Returns the code of a call with one entry, or "" if it succeeded. */
async function codeOf({ call, root }: DriverFixture, functionId: string, entry: Entry): Promise<string> {
  const payload = { files: [entry] };
  const outcome = await call(functionId, payload);
  expect(outcomeFaults(outcome, { functionId, payload, root })).toEqual([]);
  return codesOf(outcome)[0]!;
}

async function readText({ call }: DriverFixture, path: string): Promise<string | undefined> {
  const { answer } = await call("coder::read-file", { path });
  return (answer as { content: string } | undefined)?.content;
}

const elsewhere: Readonly<Record<string, string>> = {
  "another file system": 'mount -t tmpfs none "$BASE/other"',
  "the same file system, mounted once more": 'mount --bind "$BASE/../kept" "$BASE/other"',
};

describe.each(["openat", "descriptors", "current-directory"])("%s", (backend) => {
  const env = { CODER_JAIL: backend };

  for (const [what, before] of Object.entries(elsewhere)) {
    const options: DriverOptions = {
      tree: {
        a: { text: "a\n", mode: 0o640 },
        b: "b\n",
        "d/f": "f\n",
        ln: { link: "a" },
        "other/": null,
        "../kept/": null,
      },
      before,
      ownMounts: true,
      env,
    };
    testUnless(reasonAgainstMounts, `to ${what}`, () =>
      withDriver(options, async (driver) => {
        const move = (entry: Entry) => codeOf(driver, "coder::move", entry);
        const copy = (entry: Entry) => codeOf(driver, "coder::copy", entry);
        expect(await copy({ from: "a", to: "other/a" })).toBe("");
        expect(await copy({ from: "d", to: "other/n/d" })).toBe("");
        expect(await move({ from: "ln", to: "other/ln" })).toBe("");
        expect(await move({ from: "b", to: "other/a" })).toBe("C217");
        expect(await move({ from: "b", to: "other/a", overwrite: true })).toBe("");
        expect(await move({ from: "d", to: "other/d" })).toBe("C216");
        expect(await move({ from: "a", to: "other/m" })).toBe("");
        expect(await readText(driver, "other/a")).toBe("b\n");
        const { answer } = await driver.call("coder::read-file", { path: "other/m" });
        expect(answer).toMatchObject({ content: "a\n", mode: 0o640 });
        expect(await move({ from: "other/n/d/f", to: "f" })).toBe("");
        const there = [...driver.snapshot().keys()].filter((key) => !key.startsWith("../"));
        expect(there).toEqual([
          "d/",
          "d/f",
          "f",
          "other/",
          "other/a",
          "other/ln",
          "other/m",
          "other/n/",
          "other/n/d/",
        ]);
      }),
    );
  }

  test("a folder that is moved while it is read: each answer is right, or finds nothing", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `in/f${index}.txt`);
    const text = "needle\n".repeat(1000);
    const files = (folder: string) => Object.fromEntries(names.map((name) => [`${folder}/${name}`, text]));
    await withDriver({ tree: { ...files("d"), ".env": "denied-secret\n" }, env }, async (driver) => {
      let isOver = false;
      let moves = 0;
      const mover = async () => {
        for (let round = 0; round < 30; round++) {
          const [from, to] = round % 2 === 0 ? ["d", "e"] : ["e", "d"];
          expect(await codeOf(driver, "coder::move", { from: from!, to: to! })).toBe("");
          moves++;
          // Gives a copy time to begin before the folder is moved again.
          await driver.call("coder::list-folder", {});
        }
        isOver = true;
      };
      const outcomes = new Set<string>();
      const reader = async (act: (folder: string, round: number) => Promise<string>) => {
        for (let round = 0; !isOver; round++) outcomes.add(await act(round % 2 === 0 ? "d" : "e", round));
      };
      await Promise.all([
        mover(),
        reader(async (folder, round) => {
          const path = `${folder}/${names[round % names.length]}`;
          const outcome = await driver.call("coder::read-file", { path });
          if (outcome.error !== undefined) return `read ${codesOf(outcome)[0]}`;
          return `read ${(outcome.answer as { content: string }).content === text}`;
        }),
        reader(async (folder) => {
          const outcome = await driver.call("coder::search", {
            query: "needle|denied",
            regex: true,
            path: folder,
          });
          if (outcome.error !== undefined) return `search ${codesOf(outcome)[0]}`;
          const { content_matches: matches } = outcome.answer as { content_matches: { text: string }[] };
          return `search ${matches.every((match) => match.text === "needle")}`;
        }),
        reader(async (folder, round) => {
          const code = await codeOf(driver, "coder::copy", { from: folder, to: `copies/${round}` });
          return `copy ${code === "" ? true : code}`;
        }),
      ]);
      expect(moves).toBe(30);
      const wrong = [...outcomes].filter((outcome) => !/^(read|search|copy) (true|C211|C216)$/.test(outcome));
      expect(wrong).toEqual([]);
      expect([...outcomes].filter((outcome) => outcome.endsWith("true")).sort()).toEqual([
        "copy true",
        "read true",
        "search true",
      ]);
      const snapshot = driver.snapshot();
      const copies = new Set([...snapshot.keys()].flatMap((key) => /^copies\/\d+\/$/.exec(key)?.[0] ?? []));
      for (const copy of copies)
        for (const name of names) expect(snapshot.get(copy + name)?.content === text).toBe(true);
    });
  });
});
