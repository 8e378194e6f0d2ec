import { type Static, Type } from "@sinclair/typebox";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { parsePlainly } from "./command.ts";
import { defineShellFunction, type ShellContext } from "./define.ts";
import { JobRecordSchema, jobId, remarkFields } from "./job.ts";
import { defaultOutputBytes, grepOutput, JobOutput, selectInTurn, waitForOutput } from "./job-output.ts";
import { renderJob } from "./job-text.ts";
import { exceededMaxima, maximaField } from "./maxima.ts";
import { refusePlainly } from "./programs/plain-refusal.ts";
import { remarksOf } from "./programs/records.ts";

const since = "0.4.0";

/** The requested part of the output, and the event to wait for first. */
const outputFields = {
  since: Type.Optional(
    Type.Integer({ minimum: 1, since, description: "Only from this line on, numbered from 1." }),
  ),
  since_byte: Type.Optional(
    Type.Integer({
      minimum: 0,
      since,
      isRare: true,
      description: "Bytes of that line to skip, if it was cut.",
    }),
  ),
  tail_lines: Type.Optional(Type.Integer({ minimum: 1, since, description: "Only the last lines." })),
  grep: Type.Optional(
    Type.String({
      minLength: 1,
      since,
      description: "Only lines that match this regex, with two lines around each.",
    }),
  ),
  wait_for: Type.Optional(
    Type.String({
      minLength: 1,
      since,
      description: "Wait until a line matches this regex.",
    }),
  ),
  wait_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      since,
      description: "Maximum time to wait: for the end of the job, unless wait_for is sent.",
    }),
  ),
  max_output_bytes: Type.Optional(Type.Integer({ minimum: 1, since, description: "Bytes of output." })),
};

const request = Type.Object({ ...jobId, ...outputFields }, { title: "StatusRequest" });

type StatusRequest = Static<typeof request>;

const response = Type.Object(
  {
    job: JobRecordSchema,
    output: Type.Optional(Type.Unsafe<JobOutput>({ ...JobOutput, since })),
    signal: Type.Optional(Type.String({ since, description: "The signal that ended the program." })),
    ...maximaField,
    ...remarkFields,
  },
  { title: "StatusResponse" },
);

/** `shell::status`: one job, with its command and its output (shell §7.3, §15). */
export const status = defineShellFunction({
  id: "shell::status",
  publishedIn: "shell 0.3.5",
  description: "Get status of a background job",
  brief:
    "Show a job, running or ended: the end of its output, or the part that the fields select. The newest output is kept.",
  effect: "reads",
  paths: [],
  touchesNoFiles: true,
  request,
  parse: parseStatus,
  response,
  examples: [
    { title: "A job", request: { job_id: "job-5f0c1a2e-8d3b-4c6f-9a7e-2b1d0c9f8e7a" } },
    {
      title: "A server, once it listens",
      request: { job_id: "job-5f0c1a2e-8d3b-4c6f-9a7e-2b1d0c9f8e7a", wait_for: "listening on", wait_ms: 500 },
    },
    {
      title: "The errors of a build",
      request: { job_id: "job-5f0c1a2e-8d3b-4c6f-9a7e-2b1d0c9f8e7a", grep: "(?i)error" },
    },
  ],
  async handle(call, context) {
    const { jobs, caller, profile } = context;
    const withRunning = profile["status.running_output"];
    const wantsOutput =
      profile.followed_jobs || Object.keys(outputFields).some((field) => Object.hasOwn(call, field));
    if (!wantsOutput) return { job: jobs.status(call.job_id, caller, { withRunning }) };
    const output = await outputOf(call, context);
    const { signal, ...record } = jobs.follow(call.job_id, caller).record;
    const job = jobs.status(call.job_id, caller, { withRunning });
    const selects = selecting.some((field) => Object.hasOwn(call, field));
    return {
      job: selects && profile["status.sends_once"] ? withoutOutputs(job) : job,
      output,
      ...(signal !== null && { signal }),
      ...maximaOf(call, { job, output }, context),
      ...remarksOf(record),
    };
  },
  render({ job, output = recorded(job), signal, maxima, ...remarks }, wording, call) {
    const { since, since_byte: sinceByte, wait_for: awaited, grep } = call;
    const ending = { ...job, signal, ...remarks };
    const isSearch = grep !== undefined;
    return renderJob({ id: job.id, ending, output, since, sinceByte, awaited, isSearch, maxima }, wording);
  },
});

function* parseStatus(payload: unknown): Steps<StatusRequest> {
  const call = yield* parsePlainly(request, payload);
  const { since, since_byte: skipped = 0, tail_lines: tail, grep } = call;
  if (skipped > 0 && (since === undefined || tail !== undefined || grep !== undefined))
    throw refusePlainly.badPayload("since_byte", "goes with `since`, without `tail_lines` and `grep`");
  return call;
}

interface AnsweredJob {
  readonly job: { readonly status: string };
  readonly output: JobOutput;
}

/** Returns the maxima without which the call would have waited longer, or shown more. */
function maximaOf(call: StatusRequest, { job, output }: AnsweredJob, { config }: ShellContext) {
  const { since = 1, since_byte: skipped, grep, wait_ms, max_output_bytes } = call;
  const { tail_lines: tail = Number.POSITIVE_INFINITY } = call;
  const { from, next, start, end, matches = 0, matches_before: before = 0, found } = output;
  const isLineCut = output.to_byte !== undefined || ![undefined, skipped].includes(output.from_byte);
  const isWaitCut = job.status === "running" && found === undefined;
  const isTailCut =
    grep === undefined
      ? from > Math.max(start, since, next - tail)
      : matches - before < Math.min(matches, tail);
  const isOutputCut = next < end || isTailCut || isLineCut;
  return exceededMaxima(
    { wait_ms, max_output_bytes },
    {
      ...(isWaitCut && { wait_ms: config.max_timeout_ms }),
      ...(isOutputCut && { max_output_bytes: config.max_output_bytes }),
    },
  );
}

/** The fields that choose a part of the output. */
const selecting = ["since", "tail_lines", "grep", "max_output_bytes"] as const;

type Outputs = Pick<
  Static<typeof JobRecordSchema>,
  "stdout" | "stderr" | "stdout_truncated" | "stderr_truncated"
>;

/** Returns a record without its outputs, which say that they are cut. */
const withoutOutputs = <Job extends Outputs>(job: Job): Job => ({
  ...job,
  stdout: "",
  stderr: "",
  stdout_truncated: job.stdout_truncated || job.stdout !== "",
  stderr_truncated: job.stderr_truncated || job.stderr !== "",
});

/** Returns the output of a record, for an answer without another. */
function recorded({ stdout, stderr }: Outputs): JobOutput {
  const text = stdout === "" || stdout.endsWith("\n") ? stdout + stderr : `${stdout}\n${stderr}`;
  return { text, from: 1, next: 1, start: 1, end: 1 };
}

async function outputOf(call: StatusRequest, context: ShellContext): Promise<JobOutput> {
  const { jobs, caller, linePatterns, deadline, config } = context;
  const { log, settled } = jobs.follow(call.job_id, caller);
  using grep = await linePatterns.compileInTurn(call.grep);
  using awaited = await linePatterns.compileInTurn(call.wait_for);
  const longest = config.max_timeout_ms;
  const wait = Math.min(call.wait_ms ?? (awaited ? longest : 0), longest);
  const from = log.positionOf(call.since ?? 1);
  const waiting = { from, pattern: awaited, milliseconds: wait, deadline, settled };
  const found = wait > 0 || awaited !== undefined ? await waitForOutput(log, waiting) : undefined;
  const selection = {
    since: call.since,
    sinceByte: call.since_byte,
    tailLines: call.tail_lines,
    maxBytes: Math.min(call.max_output_bytes ?? defaultOutputBytes, config.max_output_bytes),
  };
  const output =
    grep === undefined
      ? await selectInTurn(log, selection)
      : await grepOutput(log, { ...selection, pattern: grep, deadline });
  return { ...output, ...found };
}
