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
