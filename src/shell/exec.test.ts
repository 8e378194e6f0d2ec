import { expect, test } from "bun:test";
import { exec } from "./exec.ts";

const wording = { sentence: (text: string) => text } as never;
const result = {
  duration_ms: 30_012,
  exit_code: null,
  stderr: "",
  stderr_truncated: false,
  stdout: "",
  stdout_truncated: false,
  timed_out: true,
};

test("an answer says whether a command had the time that was requested", () => {
  const render = (request: { timeout_ms?: number }) => exec.render!(result, wording, request);
  expect(render({ timeout_ms: 60_000 })).toBe(
    "[timed out after 30.0 s, the longest that shell::exec waits; shell::exec_bg runs what takes longer]",
  );
  for (const request of [{}, { timeout_ms: 30_000 }])
    expect(render(request)).toBe("[timed out after 30.0 s; shell::exec_bg runs what takes longer]");
});

test("an answer whose output was cut names the maximum of max_output_bytes", () => {
  const cut = { ...result, timed_out: false, exit_code: 0, maxima: { max_output_bytes: 4096 } };
  expect(exec.render!(cut, wording, { max_output_bytes: 9999 })).toBe(
    "[exit code 0, 30.0 s; max_output_bytes is at most 4096]",
  );
});

test("an answer whose output was cut does not promise lines that are no longer kept", () => {
  const cut = { ...result, timed_out: false, exit_code: 0, job_id: "job-1" };
  expect(exec.render!(cut, wording, {})).toBe(
    '[exit code 0, 30.0 s; all of the output: shell::status with job_id "job-1" and grep or since]',
  );
  expect(exec.render!({ ...cut, kept_from: 901 }, wording, {})).toBe(
    '[exit code 0, 30.0 s; the output from line 901 on, all that is kept: shell::status with job_id "job-1" and grep or since]',
  );
});
