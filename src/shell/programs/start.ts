/** Starts programs: the only file that calls execa. */
import { closeSync, openSync } from "node:fs";
import { execa } from "execa";
import { watchSpawn } from "../../base/bun.ts";
import { createTurnSlice } from "../../base/scheduling/time-slice.ts";
import { shortageIn } from "../../base/shortage.ts";
import type { Environment } from "./environment.ts";
import { HeadBuffer } from "./head-buffer.ts";
import { HeadTailBuffer } from "./head-tail-buffer.ts";
import { awaitLaunch, type Launch, type Launcher } from "./launch.ts";
import { capturePipe, captureStream, type LiveOutput, type OutputBuffer } from "./output.ts";
import { openPipes, type Pipe } from "./pipe.ts";
import type { Program } from "./program.ts";
import { RunningProgram } from "./running.ts";
import { openStandardInput, type StandardInput } from "./standard-input.ts";
import { StartFailure } from "./start-failure.ts";
import { maxControlCharacters, type StartProblem } from "./start-problems.ts";

/** The environment and limits of a program. */
export interface SpawnOptions {
  readonly environment: Environment;
  /** Absolute working folder. Its getter throws a `StartFailure` when the folder is missing. */
  readonly folder: string;
  /** Maximum bytes kept of each of its two outputs. The rest is read and discarded. */
  readonly maxOutputBytes: number;
  /** Whether half of these bytes come from the end of the output. */
  readonly keepsTail?: boolean;
  /** Maximum bytes shown of an output that is longer than those. Default: all of them. */
  readonly shownBytes?: number | undefined;
  /** Receives the outputs while the program runs. */
  readonly live?: LiveOutput | undefined;
  /** Its standard input. Default: the null device. */
  readonly stdin?: string | undefined;
  /** The launcher that confines it before it runs. Without one, it is started directly. */
  readonly launcher?: Launcher | undefined;
  /**
   * Called before the program is started, which waits for it. The function that it resolves to is called with
   * the process, and may end it.
   */
  readonly watch?: (() => Promise<(running: RunningProgram) => void>) | undefined;
}

/** The slice of all starts, since one event may let many begin. Each takes about a millisecond. */
const slice = createTurnSlice();

/**
 * Starts a program without a shell, as the leader of a session of its own. It inherits only what `options`
 * says. `onProcess` is called as soon as it has a process, before a launcher has become the program. Throws a
 * `StartFailure`.
 */
export async function startProgram(
  program: Program,
  options: SpawnOptions,
  onProcess: (running: RunningProgram) => void,
): Promise<RunningProgram> {
  if (program.argv.some((word) => word.includes("\0"))) throw new StartFailure("null-character");
  if (controlCharactersIn(program.argv) > maxControlCharacters) throw new StartFailure("control-characters");
  using launch = await prepare(program, options.launcher);
  const watchRunning = await options.watch?.();
  if (slice.isDue) await slice.yieldIfDue();
  const { subprocess, endSignal, pid, pipes, input } = await spawnWithPipes(launch, options);
  const [stdout, stderr, status] = pipes ?? [];
  const { live } = options;
  const outputs = (["stdout", "stderr"] as const).map((name) => {
    const pipe = name === "stdout" ? stdout : stderr;
    const pieces = live && ((piece: Uint8Array) => live(piece, name));
    return pipe
      ? capturePipe(pipe.readEnd, newBuffer(options), pieces)
      : captureStream(subprocess[name], newBuffer(options), pieces);
  });
  const running = new RunningProgram({ subprocess, endSignal }, pid, outputs, launch.group);
  void input?.feed(running.ended);
  onProcess(running);
  watchRunning?.(running);
  if (status !== undefined) await requireLaunched(running, status);
  return running;
}

/** Control, format, private and unassigned characters, and spaces, except for those of ordinary text. */
const controls = /[^\P{Other}\t\n\f\r\b]+|(?! )\p{Separator}/gu;

/** Returns their number, in UTF-16 units. */
const controlCharactersIn = (words: readonly string[]): number =>
  words.reduce((sum, word) => sum + word.length - word.replace(controls, "").length, 0);

/**
 * Starts a program with pipes for its outputs. If it throws a `StartFailure`, it has closed all descriptors
 * and removed the group.
 */
async function spawnWithPipes(launch: Launch, options: SpawnOptions) {
  let pipes: Pipe[] | undefined;
  let input: StandardInput | undefined;
  try {
    input = options.stdin === undefined ? undefined : openStandardInput(options.stdin);
    pipes = openPipes(launch.descriptor === undefined ? 2 : 3);
    const { started: subprocess, endSignal } = spawn(launch, options, { pipes, input });
    const { pid } = subprocess;
    if (pid === undefined) throw new StartFailure(problemOf((await subprocess).code));
    return { subprocess, endSignal, pid, pipes, input };
  } catch (error) {
    closeEnds(pipes, "readEnd");
    input?.abandon(pipes !== undefined);
    launch.group?.remove();
    throw error;
  }
}

const newBuffer = ({ maxOutputBytes, keepsTail = false, shownBytes }: SpawnOptions): OutputBuffer =>
  keepsTail ? new HeadTailBuffer(maxOutputBytes, shownBytes) : new HeadBuffer(maxOutputBytes);

async function prepare(program: Program, launcher: Launcher | undefined): Promise<Launch> {
  requireDescriptors();
  try {
    return (await launcher?.(program)) ?? { ...program, [Symbol.dispose]() {} };
  } catch (error) {
    throw new StartFailure(shortageIn(error) === undefined ? "not-confined" : "exhausted");
  }
}

/** Throws a `StartFailure` if the launcher has not become the program. */
async function requireLaunched(running: RunningProgram, { readEnd }: Pipe): Promise<void> {
  const problem = await awaitLaunch(readEnd);
  if (problem === undefined) return;
  await running.end();
  throw new StartFailure(problem === "not-confined" ? problem : problemOf(problem));
}

/**
 * Starts the process. Closes the writing ends in any case, since the program has its own copies, or has not
 * started.
 */
function spawn(
  { file, argv: [name, ...args], descriptor, inherited = [] }: Launch,
  { environment, folder, stdin }: SpawnOptions,
  { pipes, input }: OpenedPipes,
) {
  // execa passes on any descriptor; its types do not allow for that.
  const [stdout, stderr, status] = (pipes?.map(({ writeEnd }) => writeEnd) ?? []) as unknown as "pipe"[];
  const [defaultInput, readEnd] = [stdin === undefined ? "ignore" : "pipe", input?.readEnd] as const;
  const given = inherited as unknown as readonly "pipe"[];
  const more = descriptor === undefined ? [] : [descriptor as unknown as "pipe", status ?? "pipe", ...given];
  try {
    const start = () =>
      execa(file, args, {
        argv0: name,
        cwd: folder,
        env: { ...environment },
        extendEnv: false,
        detached: true,
        cleanup: false,
        ...(stdin !== undefined && input === undefined && { input: stdin }),
        stdio: [(readEnd as unknown as "pipe") ?? defaultInput, stdout ?? "pipe", stderr ?? "pipe", ...more],
        buffer: false,
        reject: false,
      });
    return watchSpawn(start);
  } catch {
    // On Bun, execa replaces what spawn throws by a TypeError of its own; spawn throws E2BIG and ENOEXEC.
    const bytes = args.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
    throw new StartFailure(bytes >= maxArgumentBytes ? "too-long" : "not-executable");
  } finally {
    closeEnds(pipes, "writeEnd");
    if (input !== undefined) closeSync(input.readEnd);
  }
}

interface OpenedPipes {
  readonly pipes: readonly Pipe[] | undefined;
  /** The standard input. If absent, the runtime makes one if needed. */
  readonly input: StandardInput | undefined;
}

function closeEnds(pipes: readonly Pipe[] | undefined, end: keyof Pipe): void {
  for (const pipe of pipes ?? []) closeSync(pipe[end]);
}

/** Maximum bytes of one argument on Linux (MAX_ARG_STRLEN in execve(2)). */
const maxArgumentBytes = 128 * 1024;

/** A number of descriptors that suffices for a start. */
const neededDescriptors = 16;

/**
 * Throws if descriptors run short. If spawn fails for lack of them, execa throws before it listens to the
 * subprocess, whose error event then ends the worker.
 */
function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < neededDescriptors) opened.push(openSync("/dev/null", "r"));
  } catch {
    throw new StartFailure("exhausted");
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function problemOf(code: string | undefined): StartProblem {
  if (code === "ENOENT" || code === "ENOTDIR") return "missing";
  if (code === "E2BIG") return "too-long";
  return shortageIn({ code }) === undefined ? "not-executable" : "exhausted";
}
