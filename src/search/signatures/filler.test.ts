import { expect, test } from "bun:test";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import type { ContentIndex } from "./content-index.ts";
import { Filler, type SignJob } from "./filler.ts";

/**
 * Returns a filler for `files` jobs of one file, whose clock stands still, and the jobs that it sends to
 * threads. `end` ends the oldest one.
 */
function openFiller(fixture: JailFixture, { files = 1, jobsAtOnce = 1 } = {}) {
  const clock = { now: 0 };
  const jobs: SignJob[] = [];
  const ends: (() => void)[] = [];
  let wake = (_: SignJob) => {};
  const filler = new Filler({
    index: { take() {} } as unknown as ContentIndex,
    jail: fixture.jail("openat"),
    now: () => clock.now,
    sign: async (job) => {
      jobs.push(job);
      wake(job);
      if (jobsAtOnce > 1) await new Promise<void>((resolve) => ends.push(resolve));
      return undefined;
    },
    jobsAtOnce,
  });
  filler.pause();
  for (let added = 0; added < files; added++)
    filler.add({ names: "f\0", count: 1, firsts: [0], folders: [""] });
  const nextJob = () => new Promise<SignJob>((resolve) => (wake = resolve));
  return { filler, clock, jobs, nextJob, end: () => ends.shift()?.() };
}

test("files are signed when no search is under way, and a search that begins ends that", async () => {
  using fixture = new JailFixture({ f: "text" });
  const { filler, jobs, nextJob } = openFiller(fixture);
  expect([filler.resume(false), jobs.length]).toEqual([false, 0]);
  const job = nextJob();
  expect(filler.resume(true)).toBe(true);
  const { signal } = await job;
  filler.pause();
  expect(signal[0]).toBe(1);
  filler.close();
});

test("files that have waited for three seconds are signed beside searches", async () => {
  using fixture = new JailFixture({ f: "text" });
  const { filler, clock, jobs, nextJob } = openFiller(fixture);
  clock.now = 2999;
  expect(filler.resume(false)).toBe(false);
  filler.pause();
  clock.now = 3000;
  const job = nextJob();
  expect(filler.resume(false)).toBe(true);
  const { signal } = await job;
  filler.pause();
  expect(signal[0]).toBe(0);
  await filler.idle();
  expect([filler.resume(false), jobs.length]).toEqual([false, 1]);
});

test("several threads sign files while no search is under way, and one beside a search", async () => {
  using fixture = new JailFixture({ f: "text" });
  const { filler, clock, jobs, nextJob, end } = openFiller(fixture, { files: 6, jobsAtOnce: 3 });
  const begun = async (count: number) => {
    while (jobs.length < count) await nextJob();
  };
  filler.resume(true);
  await begun(3);
  clock.now = 3000;
  filler.pause();
  for (let ended = 0; ended < 2; ended++) {
    end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(jobs).toHaveLength(3);
  }
  end();
  await begun(4);
  await new Promise((resolve) => setImmediate(resolve));
  expect(jobs).toHaveLength(4);
  filler.resume(true);
  end();
  await begun(6);
  const idle = filler.idle();
  end();
  end();
  await idle;
  expect(jobs).toHaveLength(6);
});
