import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { Nullable } from "../base/schema/fragments.ts";
import {
  argvOf,
  commandFields,
  commandLineOf,
  parseCommand,
  parsePlainly,
  programOf,
  requireOneLine,
  resolveTimeout,
  type ShellCommand,
} from "./command.ts";
import { holdOptions, requireNoOptions } from "./command-options.ts";
import { defineShellFunction, type ShellContext } from "./define.ts";
import { admitProgram, refusingStart } from "./host.ts";
import { JobSummarySchema } from "./job.ts";
import { defaultOutputBytes, JobOutput, logging, selectInTurn, waitForOutput } from "./job-output.ts";
import { renderCommand, renderJob } from "./job-text.ts";
import { type LiveChannel, OutputChannel, openLiveChannel } from "./live-channel.ts";
import { exceededMaxima, maximaField } from "./maxima.ts";
import { observe } from "./observe.ts";
import type { ForwardedResult } from "./programs/jobs.ts";
import type { OutputLog } from "./programs/output-log.ts";
import { refusePlainly } from "./programs/plain-refusal.ts";
import type { Argv } from "./programs/words.ts";
import { admitSandbox } from "./sandbox.ts";
import { execInSandbox, type SandboxCommand } from "./sandbox-exec.ts";

const since = "0.4.0";

/** The fields of a job that a command in the foreground lacks. */
const jobFields = {
  job_id: Type.Optional(
    Nullable(Type.String(), {
      since,
      description: "An id of your own for the job.",
    }),
  ),
  start_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      since,
      description: "Milliseconds to wait for an early end.",
    }),
  ),
};

const request = Type.Object(
  {
    ...commandFields({
      command: "Program name. See [`ExecRequest::command`].",
      args: 'Arguments passed to the program. See [`ExecRequest::args`]. `None` (or `args: null` / absent) means "tokenize `command` via shell-words"; `Some(_)` (including the empty vec) means "use args verbatim, no shell-words." See `parse_argv` in `crate::exec::host`.',
      timeout:
        "Per-call timeout. Host-targeted background jobs IGNORE `timeout_ms`; sandbox-targeted ones forward it through `cfg.resolve_timeout`.",
      target: "Where to run. See [`ExecRequest::target`].",
    }),
    ...jobFields,
  },
  {
    title: "ExecBgRequest",
    description:
      "Wire request for `shell::exec_bg`. Same shape as [`ExecRequest`]; documented separately so the engine publishes a distinct schema per function.",
  },
);

const response = Type.Object(
  {
    argv: Type.Array(Type.String()),
    job_id: Type.String(),
    content: Type.Optional(OutputChannel),
    job: Type.Optional({ ...JobSummarySchema, since }),
    output: Type.Optional(Type.Unsafe<JobOutput>({ ...JobOutput, since })),
    notes: Type.Optional(
      Type.Array(Type.String(), { since, description: "Fields of the request that have no effect." }),
    ),
    ...maximaField,
  },
  { title: "ExecBgResponse" },
);

/** `shell::exec_bg`: a command in the background (shell §7.2). */
export const execBg = defineShellFunction({
  id: "shell::exec_bg",
  publishedIn: "shell 0.3.5",
  description:
    "Spawn an allowlisted command as a background job. Same payload shape as shell::exec; returns { job_id, argv } immediately. Poll with shell::status, terminate with shell::kill, list with shell::list. Do NOT pass argv as an array in 'command' — use 'command' (string) + 'args' (string[]).",
  brief:
    "Start a program that keeps running, such as a server, a watcher or a long build. Answers soon, with the job's id: shell::status follows it, shell::kill ends it.",
  effect: "writes",
  paths: [],
  isOpenWorld: true,
  busFields: ["output", "target", "timeout_ms", "max_output_bytes"],
  request,
  parse: parseJob,
  program: programOf,
  response,
  examples: [{ title: "A long search", request: { command: "grep", args: ["-rc", "needle", "/srv/data"] } }],
  async handle(command, context) {
    await context.policy.prepare();
    requireOneLine(command, context);
    const argv = argvOf(command);
    const started = await start(command, argv, context);
    const wait = command.start_ms ?? context.profile["exec_bg.start_ms"];
    if (wait === undefined) return { ...started, argv: [...argv] };
    const news = await firstNews(started.job_id, { ...command, start_ms: wait }, context);
    return { ...started, argv: [...argv], ...news, ...notesOn(command, context) };
  },
  render: ({ job_id: id, argv, job, output, notes = [], maxima }, wording) =>
    [
      job === undefined || output === undefined
        ? `[${id}: started ${renderCommand(argv)}]`
        : renderJob({ id, ending: job, output, maxima }, wording),
      ...notes.map((note) => `[${wording.sentence(note)}]`),
    ].join("\n"),
});

/** Notes a field that has an effect in a sandbox alone, in the profile `agent`. */
function notesOn(
  { timeout_ms, target }: JobCommand,
  { config, profile }: ShellContext,
): { notes?: string[] } {
  if (!profile.followed_jobs || timeout_ms === null || target.kind !== "host") return {};
  const most = config.max_job_secs > 0 ? `, for ${config.max_job_secs} s at most` : "";
  return {
    notes: [`timeout_ms has no effect on a job, which runs until it ends or shell::kill ends it${most}`],
  };
}

type JobCommand = ShellCommand & Static<TObject<typeof jobFields>>;

/** Throws a plain refusal, even for an id that is not a single line. */
function* parseJob(payload: unknown): Steps<JobCommand> {
  const command = yield* parseCommand(payload, refusePlainly.notStarted);
  const { job_id, ...others } = yield* parsePlainly(Type.Object(jobFields), payload);
  if (job_id === undefined || job_id === null) return { ...command, ...others };
  if (!/^\P{Cc}{1,100}$/u.test(job_id) || job_id.trim() === "" || !job_id.isWellFormed())
    throw refusePlainly.badJobId(job_id);
  return { ...command, ...others, job_id };
}

/** Waits for an early end of a job, and returns its state. */
async function firstNews(
  id: string,
  {
    start_ms: milliseconds,
    max_output_bytes,
  }: { readonly start_ms: number; readonly max_output_bytes?: number },
  { jobs, caller, config, deadline }: ShellContext,
) {
  const { log, settled } = jobs.follow(id, caller);
  const wait = Math.min(milliseconds, config.max_timeout_ms);
  const news = waitForOutput(log, { from: 0, pattern: undefined, milliseconds: wait, deadline, settled });
  // The job goes on, so the answer has its name, however late it is.
  await news.catch(() => undefined);
  const maxBytes = Math.min(max_output_bytes ?? defaultOutputBytes, config.max_output_bytes);
  const output = await selectInTurn(log, { maxBytes });
  const job = jobs.summary(id, caller);
  const isCut = job.status === "running";
  return {
    job,
    output,
    ...(isCut && exceededMaxima({ start_ms: milliseconds }, { start_ms: config.max_timeout_ms })),
  };
}

async function start(command: JobCommand, argv: Argv, context: ShellContext): Promise<StartedJob> {
  const { target } = command;
  if (target.kind === "host") return startHere(command, argv, context);
  const timeoutMs = resolveTimeout(command, context.config);
  return { job_id: startInSandbox(command, { argv, target, timeoutMs }, context) };
}

interface StartedJob {
  readonly job_id: string;
  readonly content?: LiveChannel["reader"];
}

function startHere(options: JobCommand, argv: Argv, context: ShellContext): Promise<StartedJob> {
  const { jobs, programs, log, caller } = context;
  return refusingStart(refusePlainly.notStarted, async () => {
    using held = holdOptions(options, context);
    const program = admitProgram(argv, context, held.options);
    const channel = options.output === undefined ? undefined : await openLiveChannel(context.bus);
    const order = { argv, owner: caller, id: options.job_id ?? undefined };
    const { snapshot } = options;
    const observed = await observe(context, {
      program,
      line: commandLineOf(options),
      findUnguarded: held.findUnguarded,
      at: held.at,
      snapshot,
    });
    const start = async (log: OutputLog) => {
      const live = logging(log, channel?.live);
      const running = await programs.start(program, { ...held.options, live });
      void running.ended.then(() => channel?.finish({ exit_code: running.exitCode }));
      return running;
    };
    const starting = jobs.startProgram(order, start, observed.end);
    // Without a job nothing else ends the channel.
    void starting.catch(() => {
      void channel?.finish({ exit_code: null });
      void observed.end();
    });
    const job_id = await starting;
    log.info("exec", { caller, program: program.file, job: job_id });
    return { job_id, ...(channel && { content: channel.reader }) };
  });
}

function startInSandbox(options: JobCommand, command: SandboxCommand, context: ShellContext): string {
  requireNoOptions(options);
  context.policy.validate(command.argv);
  admitSandbox(context);
  const order = { argv: command.argv, owner: context.caller, id: options.job_id ?? undefined };
  return context.jobs.forward(order, () => execForJob(command, context));
}

/**
 * Runs the command in a sandbox. A job shows a failure as its `stderr`, so that must contain the error code.
 */
async function execForJob(command: SandboxCommand, context: ShellContext): Promise<ForwardedResult> {
  try {
    return await execInSandbox(command, context);
  } catch (error) {
    throw new Error(context.renderError(error)?.text ?? "The sandbox failed in a way that was not expected.");
  }
}
