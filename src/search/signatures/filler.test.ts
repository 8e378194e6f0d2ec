import { expect, test } from "bun:test";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import type { ContentIndex } from "./content-index.ts";
import { type FilesToSign, Filler, type FillerOptions, type SignJob } from "./filler.ts";
import { type SignedFiles, signed } from "./sign-files.ts";

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

/** A file in the base. */
const oneFile: FilesToSign = { names: "f\0", count: 1, firsts: [0], folders: [""] };

/** Returns the reply of a thread that found this outcome for all files. */
const replyTo = ({ count }: SignJob, outcome: number): SignedFiles => ({
  outcomes: new Uint8Array(count).fill(outcome),
  flags: new Uint8Array(count),
  stamps: new Uint32Array(0),
  bits: new Uint8Array(count),
  words: new Uint32Array(0),
});

const index = { take: async () => {} } as unknown as ContentIndex;

test.each([
  ["that wait", undefined],
  ["that have just changed", signed.notYet],
  ["that a job does not reach", signed.notReached],
] as const)("a filler that is closed is idle, and forgets files %s", async (_, outcome) => {
  using fixture = new JailFixture({ f: "text" });
  let end = () => {};
  const begun = Promise.withResolvers<void>();
  const jail = fixture.jail("openat");
  const filler = new Filler({
    index,
    jail,
    sign: async (job) => {
      begun.resolve();
      if (outcome !== signed.notYet) await new Promise<void>((resolve) => (end = resolve));
      return replyTo(job, outcome!);
    },
  });
  filler.add(oneFile);
  if (outcome !== undefined) {
    filler.resume(true);
    await begun.promise;
  }
  // A job that has ended leaves a retry.
  if (outcome === signed.notYet) while (filler.hasWork) await new Promise((resolve) => setImmediate(resolve));
  const idle = filler.idle();
  filler.close();
  end();
  await idle;
  expect([filler.files, filler.hasWork]).toEqual([0, false]);
});

test("folders are closed before the index has to take their files", async () => {
  using fixture = new JailFixture({ f: "text" });
  const jail = fixture.jail("openat");
  const events: string[] = [];
  const reopenFolder: FillerOptions["jail"]["reopenFolder"] = (path) => {
    const folder = jail.reopenFolder(path);
    const close = folder.close.bind(folder);
    folder.close = () => {
      events.push("closed");
      close();
    };
    return folder;
  };
  const filler = new Filler({
    index: { take: async () => events.push("taken") } as unknown as ContentIndex,
    jail: { reopenFolder, deniesBytesIn: () => false },
    sign: async (job) => replyTo(job, signed.yes),
  });
  filler.add(oneFile);
  filler.resume(true);
  await filler.idle();
  filler.close();
  expect(events).toEqual(["closed", "taken"]);
});

test("of the folders whose files can never be signed, the newest ones are left out", async () => {
  let opened = 0;
  const filler = new Filler({
    index,
    jail: {
      reopenFolder: (path) => {
        opened++;
        return { path, descriptor: 0, close() {} } as unknown as ReturnType<
          FillerOptions["jail"]["reopenFolder"]
        >;
      },
      deniesBytesIn: () => false,
    },
    sign: async (job) => replyTo(job, signed.never),
  });
  const add = async (first: number, count: number) => {
    const folders = Array.from({ length: count }, (_, at) => String(first + at));
    filler.add({ names: "f\0".repeat(count), count, firsts: [...folders.keys()], folders });
    opened = 0;
    filler.resume(true);
    await filler.idle();
    return opened;
  };
  expect([await add(0, 100), await add(0, 100), await add(100, 20_000)]).toEqual([100, 0, 20_000]);
  expect([await add(20_000, 100), await add(0, 100)]).toEqual([0, 100]);
  filler.close();
});
