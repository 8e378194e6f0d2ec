/** Plays a job against a new server, and writes the session down for people to read. */
import { mkdtempSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { stringify } from "yaml";
import type { Subject } from "../../harness/subject.ts";
import {
  addToTree,
  gone,
  type Snapshot,
  type SnapshotEntry,
  snapshotTree,
  type TreeEntry,
} from "../../harness/tree.ts";
import { connectStdio, type McpFixture, type OtherClient } from "../client.ts";
import type { AgentJob, ChangesOfOthers, JobStep, ToolCall } from "./job.ts";
import { Placeholders } from "./placeholders.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Changes the arguments of calls before they are sent. Transcripts show the original ones. */
export type Sender = (tool: string, args: Arguments) => Arguments;

/** Returns the transcript of a job, in Markdown. */
export async function play(
  job: AgentJob,
  subject: Subject,
  senderFor: (served: McpFixture) => Promise<Sender> = async () => (_, args) => args,
): Promise<string> {
  const { tree, config = {} } = job;
  await using served = await connectStdio(subject, {
    tree,
    config,
    configure: placesOf(job),
    args: flagsOf(job),
  });
  const session = new Session(served, await senderFor(served));
  const before = snapshotTree(served.root);
  const steps = job.showsInstructions
    ? [`## Instructions\n\n${fence("text", session.hide(served.client.getInstructions() ?? ""))}`]
    : [];
  for (const step of job.steps) steps.push(await session.play(step));
  return [
    introduce(job, before),
    ...steps,
    `## On disk\n\n${differences(before, snapshotTree(served.root))}`,
  ].join("\n");
}

const flagsOf = ({ worker, args = [] }: AgentJob): string[] => [
  ...(worker === undefined ? [] : ["--worker", worker]),
  ...args,
];

/** Returns the keys of the configuration for the folder, if the worker does not use `base_path`. */
const placesOf =
  ({ worker }: AgentJob) =>
  (base: string) =>
    worker === "shell" ? { base_path: undefined, working_dir: base, fs: { host_root: base } } : {};

/** Milliseconds between repetitions of a call until its answer matches. No event reports a job's progress. */
const repetitionMilliseconds = 10;

class Session {
  readonly #served: McpFixture;
  readonly #placeholders: Placeholders;
  readonly #sender: Sender;
  readonly #others = new Map<string, OtherClient>();
  #number = 0;

  constructor(served: McpFixture, sender: Sender) {
    this.#served = served;
    this.#sender = sender;
    this.#placeholders = new Placeholders(served.base, served.root);
  }

  /** Replaces the varying values in a text of the server by placeholders. */
  hide(text: string): string {
    return this.#placeholders.hide(text);
  }

  async play(step: JobStep): Promise<string> {
    if ("others" in step) return this.#change(step);
    const calls = "together" in step ? step.together : [step];
    const connected = "by" in step && step.by !== undefined ? await this.#connect(step.by) : "";
    // All calls are sent before the first answer is read.
    const answers = await Promise.all(calls.map((call) => this.#call(call)));
    const shown = answers.map((answer) => this.#placeholders.hide(answer)).join("\n");
    if (calls.length === 1) return connected + shown;
    // Calls on different files run in no fixed order.
    return `Sent at once:\n\n${shown.replaceAll(/(?<=^#)\d+$/gm, "<number>")}`;
  }

  /** Connects a client at its first call. Returns the lines that only its instructions have. */
  async #connect(name: string): Promise<string> {
    if (this.#others.has(name)) return "";
    const other = await this.#served.connectOther(name);
    this.#others.set(name, other);
    const known = new Set(this.#served.client.getInstructions()?.split("\n"));
    const lines = other.client.getInstructions()?.split("\n") ?? [];
    const added = lines.filter((line) => !known.has(line)).join("\n");
    return `The client \`${name}\` connects. Its instructions have besides:\n\n${fence("text", this.hide(added))}\n`;
  }

  async #call({ tool, args, until, by }: ToolCall): Promise<string> {
    const client = by === undefined ? this.#served : this.#others.get(by)!;
    const author = by === undefined ? "" : `, by ${by}`;
    const heading = `## ${++this.#number}. ${tool}${author}\n\n${fence("yaml", renderArguments(args))}\n`;
    const sent = this.#sender(tool, this.#placeholders.reveal(args));
    for (;;) {
      const answer = await client.call(tool, sent).then(renderResult, renderFailure);
      if (until === undefined || until.test(answer)) return heading + answer;
      await pause(repetitionMilliseconds);
    }
  }

  #change({ others }: ChangesOfOthers): string {
    const { base } = this.#served;
    const lines = Object.entries(others).map(([path, entry]) => {
      if (entry === gone) rmSync(join(base, path), { recursive: true });
      else this.#place(path, entry as TreeEntry);
      if (entry === gone) return `Another program removes \`${path}\`.\n`;
      const content = typeof entry === "string" ? `\n${fence("text", visible(entry))}` : "";
      return `Another program writes \`${path}\`${content === "" ? "." : ":"}\n${content}`;
    });
    return lines.join("\n");
  }

  /** Moves a finished file to its path, as editors do, so that watchers get a single event. */
  #place(path: string, entry: TreeEntry): void {
    const staging = mkdtempSync(join(this.#served.root, "staging-"));
    addToTree(staging, { file: entry });
    renameSync(join(staging, "file"), join(this.#served.base, path));
    rmdirSync(staging);
  }
}

function introduce(job: AgentJob, before: Snapshot): string {
  const { title, about, config } = job;
  const files = [...before].flatMap(([path, entry]) =>
    isParent(path, before) ? [] : describeEntry(path, entry),
  );
  const flags = flagsOf(job)
    .map((flag) => ` ${flag}`)
    .join("");
  const configured =
    config === undefined ? "" : `\nThe configuration is\n\n${fence("yaml", stringify(config).trimEnd())}`;
  return `# ${title}\n\n${about}\n\n\`coder mcp${flags}\` serves ${files.join(", ")}.\n${configured}`;
}

/** Whether the entry is a folder that is not empty. The paths of its files mention it already. */
const isParent = (path: string, snapshot: Snapshot): boolean =>
  path.endsWith("/") && [...snapshot.keys()].some((other) => other !== path && other.startsWith(path));

/** Renders arguments on one line if they are short, and otherwise as YAML with literal blocks. */
function renderArguments(args: ToolCall["args"]): string {
  const line = stringify(args, {
    collectionStyle: "flow",
    lineWidth: 0,
    flowCollectionPadding: false,
    defaultStringType: "QUOTE_DOUBLE",
  }).trim();
  const isShort = line.length <= 110 && !/\n|\\n/.test(line);
  return isShort ? line : stringify(args, { lineWidth: 0, blockQuote: "literal" }).trimEnd();
}

/** Renders the result as a model gets it, with its flag. */
function renderResult({ content, isError }: CallToolResult): string {
  const blocks = content.map((block) =>
    block.type === "text"
      ? fence("text", visible(block.text))
      : `[${block.type}: ${"mimeType" in block ? block.mimeType : ""}, ${"data" in block ? block.data.length : 0} characters of base64]\n`,
  );
  return `isError: ${isError === true}\n\n${blocks.join("\n")}`;
}

/** Renders an error of the protocol, which comes instead of a result. */
const renderFailure = (error: Error): string => `protocol error\n\n${fence("text", error.message)}`;

/** Replaces control characters, which Markdown would not show, by their symbols. */
const visible = (text: string): string =>
  text.replace(/[\0-\x08\x0b-\x1f]/g, (control) => String.fromCharCode(0x2400 + control.charCodeAt(0)));

/** Renders a block whose fence is longer than any in the text. */
function fence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([marks]) => marks.length));
  const mark = "`".repeat(longest + 1);
  return `${mark}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${mark}\n`;
}

function describeEntry(path: string, { kind, mode, content }: SnapshotEntry): string {
  if (kind === "symlink") return `\`${path}\` (a link to \`${content}\`)`;
  const usual = kind === "dir" ? 0o755 : 0o644;
  return mode === undefined || mode === usual
    ? `\`${path}\``
    : `\`${path}\` (${mode.toString(8).padStart(4, "0")})`;
}

/** Renders one line for each created, removed or changed entry. */
function differences(before: Snapshot, after: Snapshot): string {
  const lines = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === undefined) return [`- created: ${describeEntry(path, is!)}\n`];
    if (is === undefined) return [`- removed: \`${path}\`\n`];
    if (was.content === is.content && was.mode === is.mode && was.kind === is.kind) return [];
    return [`- changed: ${describeEntry(path, is)}\n`];
  });
  return lines.length === 0 ? "Nothing has changed.\n" : lines.join("");
}
