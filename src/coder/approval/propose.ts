/** Describes the steps of a call for the person who approves them. */
import { createTimeSlice, runInSlices, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { yieldIfDue } from "../../base/scheduling/walk-slice.ts";
import type { Proposal } from "../../calls/approval/approvals.ts";
import type { ExchangeStep, PlaceStep, StagedContent, Step } from "../../filesystem/disk/steps.ts";
import { isTemporary } from "../../filesystem/jail/temporary.ts";
import type { CoderContext } from "../define.ts";
import { compare, diskView, type EntryThen, nothing } from "../net-view/file-diff.ts";
import { filesBelow } from "../net-view/files-below.ts";
import type { CurrentTree } from "../net-view/rewound-tree.ts";
import { renderName } from "../render/entry-text.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** Maximum lines of a summary. */
const maxLines = 20;

/** Maximum bytes of all diffs. */
const maxDiffBytes = 16 * 1024;

/** Describes steps, with the lines that they add and remove. */
export async function propose(
  steps: readonly Step[],
  context: CoderContext,
  // The steps share it, since each alone may take less than a slice.
  slice = createTimeSlice(),
): Promise<Proposal> {
  const { deadline } = context;
  const described = new Description(diskView(context), context, slice);
  for (const step of steps) {
    await yieldIfDue({ slice, deadline });
    await described.add(step);
  }
  const fingerprint = await runInSlices(fingerprintOf(steps), slice, () => deadline.check());
  return { ...described.shown(), fingerprint };
}

class Description {
  readonly #disk: CurrentTree;
  readonly #context: CoderContext;
  readonly #slice: TimeSlice;
  /** The renames so far, to find an entry on disk by its planned path. */
  readonly #renames: { readonly from: string; readonly to: string }[] = [];
  readonly #lines: string[] = [];
  #more = 0;
  #diff = "";
  #isCut = false;

  constructor(disk: CurrentTree, context: CoderContext, slice: TimeSlice) {
    this.#disk = disk;
    this.#context = context;
    this.#slice = slice;
  }

  async add(step: Step): Promise<void> {
    switch (step.kind) {
      case "place":
        await this.#addPlaced(step);
        break;
      case "exchange":
        await this.#addExchanged(step);
        break;
      case "set-aside":
        await this.#addRemoved(step.path);
        break;
      case "rename":
        if (!isTemporary(nameOf(step.to)))
          this.#say(() => `move ${renderName(this.#origin(step.from))} to ${renderName(step.to)}`);
        this.#renames.push(step);
        break;
      case "chmod":
        this.#say(
          () => `set the mode of ${renderName(step.path)} to ${step.mode.toString(8).padStart(4, "0")}`,
        );
    }
  }

  shown(): Pick<Proposal, "summary" | "diff" | "isDiffCut"> {
    const more = this.#more === 0 ? [] : [`and ${this.#more} more`];
    return { summary: [...this.#lines, ...more], diff: this.#diff, isDiffCut: this.#isCut };
  }

  async #addPlaced({ path, staged }: PlaceStep): Promise<void> {
    const name = renderName(path);
    if (staged.kind === "dir") this.#say(() => `make the folder ${name}`);
    else if (staged.kind === "symlink") this.#say(() => `make the link ${name}`);
    else if (staged.kind === "copy") this.#say(() => `copy ${renderName(staged.of.path)} to ${name}`);
    else if ("cloneOf" in staged.content) {
      const { path: from } = staged.content.cloneOf;
      this.#say(() => `copy ${renderName(from)} to ${name}`);
    } else await this.#compare("create", { path, before: nothing, after: this.#leaves({ path, staged }) });
  }

  async #addExchanged(step: ExchangeStep): Promise<void> {
    const { path, isEdit = false } = step;
    const before = this.#present(path);
    await this.#compare(isEdit ? "edit" : "replace", { path, before, after: this.#leaves(step) });
  }

  async #addRemoved(path: string): Promise<void> {
    const origin = this.#origin(path);
    const before = this.#present(path);
    if (before.state.kind !== "dir") {
      await this.#compare("delete", { path, before, after: nothing });
      return;
    }
    const { length: files } = await filesBelow(origin, this.#context);
    this.#say(() => `delete ${renderName(path)}/ with ${files} ${files === 1 ? "file" : "files"}`);
  }

  /** Describes the change of a file, with its lines if it is text. */
  async #compare(
    verb: string,
    { path, before, after }: { readonly path: string; readonly before: EntryThen; readonly after: EntryThen },
  ): Promise<void> {
    const room = Math.max(0, maxDiffBytes - this.#diff.length);
    if (room === 0 && this.#lines.length === maxLines) {
      this.#more++;
      this.#isCut = true;
      return;
    }
    const kind = before === nothing ? "created" : after === nothing ? "deleted" : "modified";
    const change = { kind, path, before, after, seqs: [], others: [] } as const;
    const found = await runInSlices(compare(change, { maxBytes: room }, this.#context), this.#slice, () =>
      this.#context.deadline.check(),
    );
    if (typeof found === "string") {
      this.#say(() => `${verb} ${renderName(path)} (${found})`);
      return;
    }
    const { diff, added, removed, isTruncated } = found;
    this.#say(() => `${verb} ${renderName(path)} +${added} -${removed}`);
    if (room > 0) this.#diff += diff;
    if (isTruncated || room === 0) this.#isCut = true;
  }

  /** Returns the entry on disk that has a planned path. */
  #present(path: string): EntryThen {
    const origin = this.#origin(path);
    return { state: this.#disk.state(origin), content: () => this.#disk.read(origin) };
  }

  /** Returns the file or link that a step leaves. */
  #leaves({ path, staged }: Pick<ExchangeStep, "path" | "staged">): EntryThen {
    if (staged.kind === "symlink") return { state: staged, content: () => undefined };
    const old = this.#disk.state(this.#origin(path));
    const mode = staged.mode ?? (old.kind === "file" ? old.mode : 0o644);
    const { content } = staged;
    return {
      state: { kind: "file", mode, revision: "" },
      content: () => ("cloneOf" in content ? this.#disk.read(content.cloneOf.path) : joined(content)),
    };
  }

  /** Returns the path on disk of the entry with a planned path. */
  #origin(path: string): string {
    return this.#renames.reduceRight((at, { from, to }) => {
      return at === to || at.startsWith(`${to}/`) ? from + at.slice(to.length) : at;
    }, path);
  }

  /** Adds a line. One that is not shown is not made, since the origin of a path takes all renames to find. */
  #say(line: () => string): void {
    if (this.#lines.length < maxLines) this.#lines.push(line());
    else this.#more++;
  }
}

/** Returns content that is not to be changed. A single piece may be of any size, and is not copied. */
function joined(content: StagedContent): Buffer {
  const [only, ...others] = content;
  return only === undefined || others.length > 0
    ? Buffer.concat(content)
    : Buffer.from(only.buffer, only.byteOffset, only.length);
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
