import { Type } from "@sinclair/typebox";
import type { ForwardedResult } from "../processes/jobs.ts";
import { refusePlainly } from "../processes/plain-refusal.ts";
import type { Argv } from "../processes/words.ts";
import { argvOf, commandFields, parseCommand, programOf, resolveTimeout } from "./command.ts";
import { type CommandOptions, holdOptions, requireNoOptions } from "./command-options.ts";
import { defineShellFunction, type ShellContext } from "./define.ts";
import { admitProgram, refusingStart } from "./host.ts";
import { type LiveChannel, OutputChannel, openLiveChannel } from "./live-channel.ts";
import { admitSandbox } from "./sandbox.ts";
import { execInSandbox, type SandboxCommand } from "./sandbox-exec.ts";

const request = Type.Object(
  commandFields({
    command: "Program name. See [`ExecRequest::command`].",
    args: 'Arguments passed to the program. See [`ExecRequest::args`]. `None` (or `args: null` / absent) means "tokenize `command` via shell-words"; `Some(_)` (including the empty vec) means "use args verbatim, no shell-words." See `parse_argv` in `crate::exec::host`.',
    timeout:
      "Per-call timeout. Host-targeted background jobs IGNORE `timeout_ms`; sandbox-targeted ones forward it through `cfg.resolve_timeout`.",
    target: "Where to run. See [`ExecRequest::target`].",
  }),
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
  },
  { title: "ExecBgResponse" },
);

/** `shell::exec_bg`: a command in the background (shell §7.2). */
export const execBg = defineShellFunction({
  id: "shell::exec_bg",
  publishedIn: "shell 0.3.5",
  description:
    "Spawn an allowlisted command as a background job. Same payload shape as shell::exec; returns { job_id, argv } immediately. Poll with shell::status, terminate with shell::kill, list with shell::list. Do NOT pass argv as an array in 'command' — use 'command' (string) + 'args' (string[]).",
  effect: "writes",
  paths: [],
  isOpenWorld: true,
  busFields: ["output"],
  request,
  parse: parseCommand,
  program: programOf,
  response,
  examples: [{ title: "A long search", request: { command: "grep", args: ["-rc", "needle", "/srv/data"] } }],
  async handle(command, context) {
    const argv = argvOf(command);
    if (command.target.kind === "host")
      return { ...(await startHere(command, argv, context)), argv: [...argv] };
    const { target } = command;
    const timeoutMs = resolveTimeout(command, context.config);
    return { job_id: startInSandbox(command, { argv, target, timeoutMs }, context), argv: [...argv] };
  },
});

interface StartedJob {
  readonly job_id: string;
  readonly content?: LiveChannel["reader"];
}

function startHere(options: CommandOptions, argv: Argv, context: ShellContext): Promise<StartedJob> {
  const { jobs, programs, log, caller } = context;
  return refusingStart(refusePlainly.notStarted, async () => {
    using held = holdOptions(options, context);
    const program = admitProgram(argv, context, held.options);
    const channel = options.output === undefined ? undefined : await openLiveChannel(context.bus);
    const starting = jobs.startProgram({ argv, owner: caller }, async () => {
      const running = await programs.start(program, { ...held.options, live: channel?.live });
      void running.ended.then(() => channel?.finish({ exit_code: running.exitCode }));
      return running;
    });
    // Without a job nothing else ends the channel.
    void starting.catch(() => channel?.finish({ exit_code: null }));
    const job_id = await starting;
    log.info("exec", { caller, program: program.file, job: job_id });
    return { job_id, ...(channel && { content: channel.reader }) };
  });
}

function startInSandbox(options: CommandOptions, command: SandboxCommand, context: ShellContext): string {
  requireNoOptions(options);
  context.policy.validate(command.argv);
  admitSandbox(context);
  const order = { argv: command.argv, owner: context.caller };
  return context.jobs.forward(order, () => execForJob(command, context));
}

/** A job shows a failure as its `stderr`: the code has to be in it. */
async function execForJob(command: SandboxCommand, context: ShellContext): Promise<ForwardedResult> {
  try {
    return await execInSandbox(command, context);
  } catch (error) {
    throw new Error(context.renderError(error)?.text ?? "The sandbox failed in a way that was not expected.");
  }
}
