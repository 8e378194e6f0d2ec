import { type Static, Type } from "@sinclair/typebox";
import { Int32, Nullable, UInt64 } from "../base/schema/fragments.ts";
import type { Wording } from "../calls/contract/wording.ts";
import {
  argvOf,
  commandFields,
  commandLineOf,
  parseCommand,
  programOf,
  requireOneLine,
  resolveTimeout,
} from "./command.ts";
import { type HeldOptions, holdOptions, requireNoOptions } from "./command-options.ts";
import { defineShellFunction, type ShellContext } from "./define.ts";
import { admitProgram, refusingStart } from "./host.ts";
import { remarkFields } from "./job.ts";
import { logging } from "./job-output.ts";
import { renderDuration, renderOutput } from "./job-text.ts";
import { OutputChannel, openLiveChannel } from "./live-channel.ts";
import { exceededMaxima, maximaField, renderMaxima } from "./maxima.ts";
import { observe } from "./observe.ts";
import { renderRemarks } from "./observed.ts";
import type { RunLimits } from "./programs/foreground.ts";
import type { Program } from "./programs/program.ts";
import type { RunningProgram } from "./programs/running.ts";
import { execInSandbox } from "./sandbox-exec.ts";
import { refuseShell } from "./shell-errors.ts";

const since = "0.4.0";

const request = Type.Object(
  commandFields({
    command:
      "Program name (matched against the allowlist by basename or exact path). Must be a string — split arguments into `args`, do not pass argv as an array here.",
    args: 'Arguments passed to the program, in order. Every element must be a string; non-string elements are rejected by index. `None` (or `args: null` / absent) means "tokenize `command` via shell-words"; `Some(_)` (including the empty vec) means "use args verbatim, no shell-words." See `parse_argv` in `crate::exec::host`.',
    timeout:
      "Per-call timeout override, milliseconds. Capped at `cfg.max_timeout_ms`. Negative or fractional values silently fall back to `cfg.default_timeout_ms` (loose wire semantic, preserved on purpose).",
    target:
      'Where to run the command. Defaults to the host worker; pass `{ kind: "sandbox", sandbox_id }` to forward the call to a microVM.',
  }),
  {
    title: "ExecRequest",
    description:
      "Wire request for `shell::exec`. The schema is published to the engine's tool listing so callers see field types up front instead of guessing from the description.",
  },
);

const response = Type.Object(
  {
    duration_ms: UInt64(),
    exit_code: Type.Optional(Nullable(Int32())),
    stderr: Type.String(),
    stderr_truncated: Type.Boolean(),
    stdout: Type.String(),
    stdout_truncated: Type.Boolean(),
    timed_out: Type.Boolean(),
    content: Type.Optional(OutputChannel),
    job_id: Type.Optional(
      Type.String({
        since,
        description: "The job of a command whose output was cut: `shell::status` has all that is kept of it.",
      }),
    ),
    kept_from: Type.Optional(
      UInt64({ since, description: "The first line that the job has, if earlier ones are no longer kept." }),
    ),
    signal: Type.Optional(Type.String({ since, description: "The signal that ended the program." })),
    ...maximaField,
    ...remarkFields,
  },
  { title: "ExecResponse" },
);

/** `shell::exec`: a command in the foreground (shell §6). */
export const exec = defineShellFunction({
  id: "shell::exec",
  publishedIn: "shell 0.3.5",
  description:
    "Run an allowlisted command in the foreground and return its full output. Payload: { command: string (program name), args?: string[], timeout_ms?: number, target?: { kind: 'host'|'sandbox', sandbox_id?: string } }. Returns { stdout, stderr, exit_code, duration_ms, timed_out, stdout_truncated, stderr_truncated }. Do NOT pass argv as an array in 'command' — split program and arguments across the two fields.",
  brief:
    "Run a program and wait for it. command is its name, or the whole line without args; there is no shell.",
  effect: "writes",
  paths: [],
  isOpenWorld: true,
  busFields: ["output", "target"],
  request,
  parse: (payload) => parseCommand(payload, refuseShell.notStarted),
  program: programOf,
  response,
  examples: [
    { title: "A program and its arguments", request: { command: "ls", args: ["-l", "src"] } },
    {
      title: "A whole line, with more time than usual",
      request: { command: "grep -rn 'TODO' src", timeout_ms: 20_000 },
    },
  ],
  async handle(command, context) {
    await context.policy.prepare();
    requireOneLine(command, context);
    const argv = argvOf(command);
    const timeoutMs = resolveTimeout(command, context.config);
    if (command.target.kind === "sandbox") {
      requireNoOptions(command);
      context.policy.validate(argv);
      const result = await execInSandbox({ target: command.target, argv, timeoutMs }, context);
      return { ...result, stdout_truncated: false, stderr_truncated: false };
    }
    return refusingStart(refuseShell.notStarted, async () => {
      using held = holdOptions(command, context);
      const program = admitProgram(argv, context, held.options);
      context.log.info("exec", { caller: context.caller, program: program.file });
      const limits = { timeoutMs, signal: context.deadline.signal };
      const run = { program, line: commandLineOf(command), held, limits, snapshot: command.snapshot };
      if (command.output === "channel") return await runIntoChannel(run, context);
      const result = await runToItsEnd(run, context);
      if (!result.stdout_truncated && !result.stderr_truncated) return result;
      const { max_output_bytes } = context.config;
      return {
        ...result,
        ...exceededMaxima({ max_output_bytes: command.max_output_bytes }, { max_output_bytes }),
      };
    });
  },
  // An exit code is the answer of the program, such as that of tests that fail.
  isFailure: ({ timed_out, signal }) => timed_out || signal !== undefined,
  render: (result, wording, { timeout_ms: requested }) => renderResult(result, wording, requested ?? 0),
});

/** Keeps the whole output of a command if the answer cuts it and the profile requires it. */
async function runToItsEnd({ program, line, held, limits, snapshot }: Run, context: ShellContext) {
  const { programs, jobs, caller, profile } = context;
  const observed = await observe(context, {
    program,
    line,
    findUnguarded: held.findUnguarded,
    at: held.at,
    snapshot,
  });
  const keepsOutput = profile["exec.keeps_output"];
  const { options } = held;
  const log = jobs.openLog();
  let job_id: string | undefined;
  try {
    const logged = keepsOutput ? { ...options, live: logging(log, options.live) } : options;
    const run = programs.run(program, logged, limits);
    const remarks = await run.then(observed.end, () => observed.end());
    const { signal, hasLeft: _, ...result } = await run;
    if (!keepsOutput) return { ...result, ...remarks };
    if (result.stdout_truncated || result.stderr_truncated)
      job_id = jobs.keep({ argv: program.argv, owner: caller }, { ...result, signal, log });
    return {
      ...result,
      ...remarks,
      ...(signal !== null && { signal }),
      ...(job_id !== undefined && { job_id }),
      ...(job_id !== undefined && log.start > 0 && { kept_from: log.lineAt(log.start) }),
    };
  } finally {
    if (job_id === undefined) log.drop();
  }
}

interface Run {
  readonly program: Program;
  readonly line: string | undefined;
  readonly held: HeldOptions;
  readonly snapshot: readonly string[] | undefined;
  readonly limits: RunLimits & { readonly signal: AbortSignal };
}

/**
 * Answers once the program has started. Its result follows on the channel; the program ends when the reader
 * leaves.
 */
async function runIntoChannel({ program, line, held, limits, snapshot }: Run, context: ShellContext) {
  const { bus, programs } = context;
  const observed = await observe(context, {
    program,
    line,
    findUnguarded: held.findUnguarded,
    at: held.at,
    snapshot,
  });
  const channel = await openLiveChannel(bus);
  await new Promise<void>((resolve, reject) => {
    const signal = AbortSignal.any([limits.signal, channel.gone]);
    const onStarted = ({ exited }: RunningProgram) => {
      // The rest of its outputs is read within a short time, or lost.
      void exited.then(channel.release);
      resolve();
    };
    const run = programs.run(
      program,
      { ...held.options, live: channel.live },
      { ...limits, signal, onStarted },
    );
    void run.then(
      () => observed.end(),
      () => observed.end(),
    );
    run
      .then(({ exit_code, duration_ms, timed_out }) => channel.finish({ exit_code, duration_ms, timed_out }))
      .catch((error: unknown) => {
        void channel.finish({ exit_code: null });
        reject(error);
      });
  });
  return { ...nothingYet, content: channel.reader };
}

/** The answer for a command that has just started. */
const nothingYet = {
  duration_ms: 0,
  exit_code: null,
  stderr: "",
  stderr_truncated: false,
  stdout: "",
  stdout_truncated: false,
  timed_out: false,
};

type Result = Static<typeof response>;

function renderResult(result: Result, wording: Wording, requestedMs: number): string {
  const { sentence } = wording;
  const { content, stdout, stderr, job_id, kept_from: first, duration_ms: duration } = result;
  if (content !== undefined) return "[started; its output comes over the channel]";
  const notes = [
    result.timed_out
      ? sentence(
          `timed out after ${renderDuration(duration)}${requestedMs > duration ? ", the longest that shell::exec waits" : ""}; shell::exec_bg runs what takes longer`,
        )
      : `${outcomeOf(result)}, ${renderDuration(duration)}`,
    ...renderMaxima(result.maxima),
    ...(job_id === undefined
      ? []
      : [
          sentence(
            `${first === undefined ? "all of the output" : `the output from line ${first} on, all that is kept`}: shell::status with job_id ${JSON.stringify(job_id)} and grep or since`,
          ),
        ]),
  ];
  return [
    ...renderOutput(stdout),
    ...(isCutAtEnd(stdout, result.stdout_truncated) ? ["[cut: there was more on stdout]"] : []),
    ...(stderr === "" ? [] : ["[stderr]", ...renderOutput(stderr)]),
    ...(isCutAtEnd(stderr, result.stderr_truncated) ? ["[cut: there was more on stderr]"] : []),
    ...renderRemarks(result, wording),
    `[${notes.join("; ")}]`,
  ].join("\n");
}

function outcomeOf({ exit_code: code, signal }: Result): string {
  if (typeof code === "number") return `exit code ${code}`;
  return signal === undefined ? "ended by a signal" : `ended by ${signal}`;
}

/** Returns whether the end is missing. An output that is cut in its middle says so there. */
const isCutAtEnd = (output: string, isTruncated: boolean): boolean =>
  isTruncated && !/^\[\d+ bytes left out\]$/m.test(output);
