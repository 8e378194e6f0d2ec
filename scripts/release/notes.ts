import { about, workerNames } from "../../src/base/about.ts";
import type { Artefact } from "./artefact.ts";
import type { ReleaseTarget } from "./targets.ts";

/** The result of trying a target. */
export interface TargetTrial {
  /** A short verdict: `passed`, or the parts that failed, or that it was not run. */
  readonly verdict: string;
  /** The reason why it was not run. */
  readonly because?: string;
  /** Whether a second build of the archives in another folder was identical. */
  readonly isReproduced?: boolean;
  /** The median milliseconds of `--version` as a process, if it could be run. */
  readonly startMilliseconds?: number;
  readonly isEmulated?: boolean;
}

/** Renders the notes of a release, as Markdown. `trials` are by the name of the target. */
export function renderNotes(
  artefacts: readonly Artefact[],
  trials: ReadonlyMap<string, TargetTrial> = new Map(),
): string {
  const targets = [...new Set(artefacts.map(({ target }) => target))];
  return `${[
    `# ${about.name} ${about.version}`,
    "",
    `An archive for each target holds one executable, called ${workerNames.join(" or ")}: the same under either name.`,
    "Beside it are the notices about the software of others that is in it, which `--licenses` prints too.",
    "",
    "| target | executable | of which the program | archive | the same when made again | tried | starts in | needs |",
    "| --- | ---: | ---: | ---: | --- | --- | ---: | --- |",
    ...targets.map((target) => row(target, artefacts, trials.get(target.triple))),
    "",
    "The program is the part that is not the Bun or Node runtime: the code with its packages, its bytecode and its",
    "source map. A start is the median of `--version` as a process; in brackets under an emulator, where it says little",
    "about a real machine. Passed means: the same schema as the sources, and a conversation over the bus with each worker.",
    "What was not run has only been read: the headers, the signature, and what it says that it was built for.",
    "",
    ...renderUntried(targets, trials),
    "SHA-256 of the archives:",
    "",
    "```",
    ...artefacts.map(({ digest, worker, target }) => `${digest}  ${worker}-${target.triple}.tar.gz`),
    "```",
  ].join("\n")}\n`;
}

function row(
  { triple, needs }: ReleaseTarget,
  artefacts: readonly Artefact[],
  trial: TargetTrial | undefined,
): string {
  const made = artefacts.filter(({ target }) => target.triple === triple);
  const [{ executableBytes, programBytes } = { executableBytes: 0, programBytes: 0 }] = made;
  const share = (100 * programBytes) / executableBytes;
  const cells = [
    `\`${triple}\``,
    megabytes(executableBytes),
    `${megabytes(programBytes)} (${share.toFixed(0)} %)`,
    megabytes(Math.max(...made.map(({ archiveBytes }) => archiveBytes))),
    trial?.isReproduced === undefined ? "not tried" : trial.isReproduced ? "yes" : "**no**",
    trial?.verdict ?? "no",
    renderStart(trial),
    needs,
  ];
  return `| ${cells.join(" | ")} |`;
}

function renderStart({ startMilliseconds, isEmulated }: Partial<TargetTrial> = {}): string {
  if (startMilliseconds === undefined) return "";
  const start = `${startMilliseconds.toFixed(0)} ms`;
  return isEmulated ? `(${start})` : start;
}

/** Returns the reasons why targets were not run, a line for each. */
function renderUntried(
  targets: readonly ReleaseTarget[],
  trials: ReadonlyMap<string, TargetTrial>,
): string[] {
  const lines = targets.flatMap(({ triple }) => {
    const because = trials.get(triple)?.because;
    return because === undefined ? [] : [`- \`${triple}\`: ${because}`];
  });
  return lines.length === 0 ? [] : ["Not run:", "", ...lines, ""];
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
