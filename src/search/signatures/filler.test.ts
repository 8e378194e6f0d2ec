import { expect, test } from "bun:test";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import type { ContentIndex } from "./content-index.ts";
import { Filler, type SignJob } from "./filler.ts";

/** Returns a filler for one file, whose clock stands still, and the jobs that it sends to a thread. */
function openFiller(fixture: JailFixture) {
  const clock = { now: 0 };
  const jobs: SignJob[] = [];
  let wake = (_: SignJob) => {};
  const filler = new Filler({
    index: { take() {} } as unknown as ContentIndex,
    jail: fixture.jail("openat"),
    now: () => clock.now,
    sign: async (job) => {
      jobs.push(job);
      wake(job);
      return undefined;
    },
  });
  filler.pause();
  filler.add({ names: "f\0", count: 1, firsts: [0], folders: [""] });
  const nextJob = () => new Promise<SignJob>((resolve) => (wake = resolve));
  return { filler, clock, jobs, nextJob };
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

test("files that have waited for a second are signed beside searches", async () => {
  using fixture = new JailFixture({ f: "text" });
  const { filler, clock, jobs, nextJob } = openFiller(fixture);
  clock.now = 999;
  expect(filler.resume(false)).toBe(false);
  filler.pause();
  clock.now = 1000;
  const job = nextJob();
  expect(filler.resume(false)).toBe(true);
  const { signal } = await job;
  filler.pause();
  expect(signal[0]).toBe(0);
  await filler.idle();
  expect([filler.resume(false), jobs.length]).toEqual([false, 1]);
});
