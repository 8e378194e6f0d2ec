import { about } from "../../src/about.ts";
import type { Artefact } from "../release.ts";

/** What became of an artefact that was tried. */
export interface Trial {
  /** In a word or a few: `passed`, or what did not pass, or why it was not run. */
  readonly verdict: string;
  /** Median milliseconds of `--version` as a process, where it could be run. */
  readonly startMilliseconds?: number;
  /** What it was started with, if anything. */
  readonly launcher?: string;
}

/** The notes of a release, as Markdown; `trials` by archive. */
export function renderNotes(artefacts: readonly Artefact[], trials?: ReadonlyMap<string, Trial>): string {
  const rows = artefacts.map((artefact) => row(artefact, trials?.get(artefact.archive)));
  return `${[
    `# ${about.name} ${about.version}`,
    "",
    "| archive | executable | of which the program | download | starts in | tried | needs |",
    "| --- | ---: | ---: | ---: | ---: | --- | --- |",
    ...rows,
    "",
    "The program is the part that is not the Bun or Node runtime: the code with its packages, its bytecode and its",
    "source map. A start is the median of `--version`; under an emulator it says little about the real machine.",
    "",
    "```",
    ...artefacts.map(({ digest, worker, target }) => `${digest}  ${worker}-${target.triple}.tar.gz`),
    "```",
  ].join("\n")}\n`;
}

function row({ worker, target, ...sizes }: Artefact, trial: Trial | undefined): string {
  const share = (100 * sizes.programBytes) / sizes.executableBytes;
  const cells = [
    `\`${worker}-${target.triple}\``,
    megabytes(sizes.executableBytes),
    `${megabytes(sizes.programBytes)} (${share.toFixed(0)} %)`,
    megabytes(sizes.archiveBytes),
    renderStart(trial),
    trial?.verdict ?? "no",
    target.needs,
  ];
  return `| ${cells.join(" | ")} |`;
}

function renderStart({ startMilliseconds, launcher }: Partial<Trial> = {}): string {
  if (startMilliseconds === undefined) return "";
  return `${startMilliseconds.toFixed(0)} ms${launcher ? ` under ${launcher}` : ""}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
