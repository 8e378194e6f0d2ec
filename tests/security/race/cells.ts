import type { PathCall } from "../calls.ts";
import type { Call } from "../escape-case.ts";

/** The change that the swapper makes to a path while it is used. */
export type Swap = "folder and link" | "file and link" | "file and FIFO" | "folder moved up";

/** The number of nested folders around the one that is moved. */
export const levels = 16;

/** A call that is repeated on one path while the swapper swaps it. */
export interface Cell {
  readonly call: Call;
  readonly swap: Swap;
  /** The path of the call. `#` stands for a number that is new in each call. */
  readonly path: string;
}

export const cellName = ({ call, swap, path }: Cell): string =>
  `${call} ${path.replace(upAndDown, "d/../f")}, ${swap}`;

/** A cell, and the name of the path argument for its call. */
export interface RaceCase {
  readonly cell: Cell;
  readonly argument: string;
}

/** Returns every path argument in all cells of its call. A copy is also a read. */
export const raceCasesOf = (all: readonly PathCall[]): RaceCase[] =>
  cells.flatMap((cell) =>
    all
      .filter(({ call, access }) => call === cell.call || (access === "copy" && cell.call === "read"))
      .map(({ name }) => ({ cell, argument: name })),
  );

const cell = (call: Call, swap: Swap, path: string): Cell => ({ call, swap, path });

/** Long, so that the folder is sometimes moved while the system is below it. */
const upAndDown = `${"d/".repeat(levels)}${"../".repeat(levels)}f`;

export const cells: readonly Cell[] = [
  cell("read", "folder and link", "s/real/f"),
  cell("read", "file and link", "s/f"),
  cell("read", "file and FIFO", "s/f"),
  cell("read", "folder moved up", upAndDown),
  cell("create", "folder and link", "s/real/new#"),
  cell("overwrite", "folder and link", "s/real/n#/m/new"),
  cell("update", "folder and link", "s/real/f"),
  cell("update", "file and link", "s/f"),
  cell("update", "file and FIFO", "s/f"),
  cell("delete", "folder and link", "s/real/f"),
  cell("remove", "folder and link", "s/real/sub"),
  cell("remove", "folder and link", "s"),
  cell("list", "folder and link", "s/real"),
  cell("tree", "folder and link", "s"),
  cell("search", "folder and link", "s"),
  cell("search", "file and link", "s"),
  cell("search", "file and FIFO", "s"),
];
