/** Processes that run one race after the other, so that each loads the worker's modules only once. */
import { createInterface } from "node:readline";
import { countDescriptors } from "../../harness/descriptors.ts";

/** One process for each program and backend, until this process ends and so closes their input. */
const victims = new Map<string, Victim>();

/** Returns the running process for this program and backend of the jail. Starts one if necessary. */
export function victimFor(program: string, backend: string): Victim {
  const key = `${program} ${backend}`;
  const running = victims.get(key);
  if (running?.isAlive) return running;
  const started = new Victim(program, backend);
  victims.set(key, started);
  return started;
}

class Victim {
  readonly #child;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string, backend: string) {
    this.#child = Bun.spawn([process.execPath, program], {
      env: { ...process.env, CODER_JAIL: backend },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.unref();
    this.#lines = linesOf(this.#child.stdout);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Kills the process if its race hangs, or has lost in a way that it cannot report. */
  readonly kill = (): void => this.#child.kill("SIGKILL");

  /**
   * Runs one race and returns its report; `undefined` if the process was killed, by `kill` or because the
   * race did not end within `milliseconds` of its first line.
   */
  async run<Report>(job: object, milliseconds: number): Promise<Report | undefined> {
    this.#child.stdin.write(`${JSON.stringify(job)}\n`);
    this.#child.stdin.flush();
    await this.#lines.next();
    const alarm = setTimeout(this.kill, milliseconds);
    const report = await this.#lines.next();
    clearTimeout(alarm);
    if (!report.done) return JSON.parse(report.value) as Report;
    await this.#child.exited;
    if (this.#child.signalCode !== "SIGKILL") throw new Error("the victim ended without a report");
    return undefined;
  }
}

/**
 * Runs the races on standard input, one JSON line each. `race` prints a line when its time begins, and its
 * report is the next line.
 */
export async function serveRaces<Job>(race: (job: Job) => Promise<object>): Promise<never> {
  for await (const line of createInterface({ input: process.stdin })) {
    const idle = await countDescriptors();
    const report = await race(JSON.parse(line) as Job);
    // A worker closes its last descriptors in the background. The next race must not count them.
    await countDescriptors(idle);
    console.log(JSON.stringify(report));
  }
  process.exit();
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
