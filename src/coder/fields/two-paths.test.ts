/** Tests that a dry run and the call explain alike a path that an earlier entry has moved away. */
import { expect, test } from "bun:test";
import { SessionsFixture } from "../sessions.test-kit.ts";

interface Result {
  readonly error?: { readonly message: string };
}

test.each([
  [
    "itself",
    [
      ["a", "z"],
      ["./a", "y"],
    ],
    "z",
  ],
  [
    "its folder",
    [
      ["d", "e"],
      ["d/x", "y"],
    ],
    "e/x",
  ],
  [
    "it twice",
    [
      ["a", "z"],
      ["z", "w"],
      ["a", "y"],
    ],
    "w",
  ],
  [
    "what replaced it",
    [
      ["a", "b"],
      ["b", "c"],
      ["b", "y"],
    ],
    "c",
  ],
] as const)("an earlier entry moved %s", async (_, moves, now) => {
  await using fixture = new SessionsFixture();
  const { call } = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const paths = ["a", "b", "d/x"];
  await call("coder::create-file", { files: paths.map((path) => ({ path, content: `${path}\n` })) });
  const files = moves.map(([from, to]) => ({ from, to, overwrite: true }));
  const results = async (dry_run: boolean): Promise<Result[]> =>
    (await call("coder::move", { files, dry_run })).results as never;
  const trial = await results(true);
  expect(trial.at(-1)?.error?.message).toEndWith(`A change before it in this call moves it to ${now}.`);
  expect(await results(false)).toEqual(trial);
  const again = await call("coder::move", { files: [{ from: now, to: "y" }] });
  expect(again.results).toEqual([{ from: now, to: "y", success: true, moved: true }]);
});
