import { expect } from "bun:test";
import type { Subject } from "./subject.ts";
import { type ConfigFields, startWorker, type WorkerFixture, type WorkerOptions } from "./worker-fixture.ts";

/** Lets `use` work with a worker, which must then end with exit 0, an empty stdout and a clean log. */
export async function withWorker(
  subject: Subject,
  use: (served: WorkerFixture) => Promise<void>,
  { config = {}, ...options }: WorkerOptions & { readonly config?: ConfigFields } = {},
): Promise<void> {
  const served = await startWorker(subject, config, options);
  let code: number | null = null;
  try {
    await use(served);
  } finally {
    code = await served.stop();
  }
  expect(code).toBe(0);
  expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
}

const privateWords = /outside-secret|denied-secret|needle/;

/**
 * Returns the faults in the output of a worker: stdout must be empty, and stderr JSON lines without contents.
 */
export function logFaults(stdout: string, stderr: string): string[] {
  const lines = stderr.split("\n").filter((line) => line !== "");
  return [
    ...(stdout === "" ? [] : [`stdout: ${stdout}`]),
    ...lines.filter((line) => !isJsonObject(line)).map((line) => `no JSON object: ${line}`),
    ...lines.filter((line) => privateWords.test(line)).map((line) => `contents: ${line}`),
  ];
}

function isJsonObject(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}
