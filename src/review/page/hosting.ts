/** The place of the page in a host of MCP Apps: beside the result of a call. */
export interface Hosting {
  /** Whether that call has ended, and whether it left a checkpoint, which the page then shows. */
  readonly call: "running" | "no-checkpoint" | "checkpoint";
  readonly isFullScreen: boolean;
  /** Absent if the host cannot show the page in full screen. */
  readonly onFullScreen?: (isFullScreen: boolean) => void;
}
