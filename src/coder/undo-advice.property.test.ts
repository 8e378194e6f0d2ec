/** Follows the advice of refused undos, and of errors about missing paths, after random histories. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { freshSeed, type Random, randomFrom } from "../../tests/harness/random.ts";
import { type AuthorCalls, SessionsFixture } from "./sessions.test-kit.ts";
import type { UndoneCheckpoint } from "./undo/answer.ts";
import { follow, isRefused, parseAdvice } from "./undo-advice.test-kit.ts";

const paths = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "e", "e/a", "e/d"];

type Calls = Pick<AuthorCalls, "call" | "text">;

/** A worker with a random history, and the numbers of its checkpoints. */
interface Lived {
  readonly fixture: SessionsFixture;
  readonly calls: Calls;
  readonly random: Random;
}

/** Makes a random call. Ignores the refusals of those that cannot be made. */
async function callAtRandom({ calls, random }: Lived): Promise<void> {
  const [path, other] = [random.pick(paths), random.pick(paths)];
  const content = `${random.below(1000)}\n`;
  const seq = 1 + random.below(8);
  const create = { op: "create", path: other, content };
  const all: readonly (readonly [string, object])[] = [
    ["coder::create-file", { path, content, overwrite: true }],
    ["coder::create-file", { path: `${path}/f`, content }],
    ["coder::delete-file", { paths: [path], recursive: true }],
    ["coder::move", { from: path, to: other, overwrite: random.chance(0.3) }],
    [
      "coder::transact",
      {
        changes: [
          { op: "move", from: path, to: other },
          { ...create, path: `${other}/m` },
        ],
      },
    ],
    [
      "coder::transact",
      {
        changes: [
          { op: "move", from: path, to: other },
          { op: "move", from: random.pick(paths), to: `${other}/m` },
        ],
      },
    ],
    [
      "coder::transact",
      {
        changes: [
          { op: "delete", path, recursive: true },
          { ...create, path },
        ],
      },
    ],
    ["coder::transact", { changes: [{ op: "chmod", path, mode: random.pick(["0600", "0700"]) }] }],
    ["coder::undo", {}],
    ["coder::undo", { seq }],
    ["coder::undo", { seq, force: true }],
  ];
  await calls.call(...random.pick(all)).catch(() => undefined);
}

/** Changes something as another program does. */
function changeElsewhere({ fixture, random }: Lived): void {
  const [at, other] = [fixture.at(random.pick(paths)), fixture.at(random.pick(paths))];
  try {
    random.pick([
      () => rmSync(at, { recursive: true }),
      () => renameSync(at, other),
      () => mkdirSync(at),
      () => writeFileSync(at, `${random.below(1000)} by another\n`),
    ])();
  } catch {
    // Nothing is there, or its folder is not.
  }
}

/** Undoes a checkpoint by the advice alone. Returns whether that is done, and not said to be impossible. */
async function undoByAdvice(seq: number, { calls, random }: Lived): Promise<boolean> {
  const payload = { seq };
  const outcome = await calls.call("coder::undo", payload).catch(() => undefined);
  if (outcome === undefined || !isRefused(outcome as never)) return true;
  const said = await calls.text("coder::undo", payload);
  if (parseAdvice(said).isByHand) return false;
  const isForced = await follow(said, { calls: calls as AuthorCalls, takesLast: random.chance(0.3) });
  const { undone } = await calls.call("coder::undo", { seq, dry_run: true });
  const left = undone.flatMap(({ restored, removed }: UndoneCheckpoint) => [...restored, ...removed]);
  const { function_id: id } = (await calls.call("coder::checkpoints", { seq })).checkpoints[0];
  const isOfOneStep = ["coder::create-file", "coder::delete-file", "coder::move"].includes(id);
  if (!isForced && isOfOneStep) expect([said, left]).toEqual([said, []]);
  return true;
}

/** Carries out the undo that the error of a missing path advises, if it does. */
async function bringBackByAdvice(path: string, { fixture, calls }: Lived): Promise<void> {
  if (existsSync(fixture.at(path))) return;
  const error = await calls.call("coder::read-file", { path }).then(
    () => "",
    ({ message }: Error) => JSON.parse(message).message as string,
  );
  const advised = /coder::undo (\{.*?\}) brings (it|.*?) back/.exec(error);
  if (advised === null) return;
  const answer = await calls.call("coder::undo", JSON.parse(advised[1]!));
  expect([error, isRefused(answer as never)]).toEqual([error, false]);
  const back = advised[2] === "it" ? path : advised[2]!;
  expect([error, existsSync(fixture.at(back))]).toEqual([error, true]);
}

const runs = 60 * Number(process.env["CODER_RUNS"] ?? 1);

test("the advice of each refused undo works, after random histories", async () => {
  const counted = { followed: 0, byHand: 0 };
  for (let run = 0; run < runs; run++) {
    const seed = freshSeed();
    await using fixture = new SessionsFixture();
    const random = randomFrom(seed);
    const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
    const lived = { fixture, calls, random };
    try {
      for (let count = 0; count < 12; count++) {
        if (random.chance(0.15)) changeElsewhere(lived);
        else await callAtRandom(lived);
      }
      await bringBackByAdvice(random.pick(paths), lived);
      const { checkpoints } = await calls.call("coder::checkpoints");
      for (const { seq } of checkpoints.toReversed().slice(0, 4)) {
        if (await undoByAdvice(seq, lived)) counted.followed++;
        else counted.byHand++;
      }
      for (const path of paths) await bringBackByAdvice(path, lived);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`);
    }
  }
  expect(counted.followed).toBeGreaterThan(counted.byHand);
});
