/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

interface BuiltPage {
  /** Its files by name, such as `index.html`. */
  readonly files: Readonly<Record<string, PageFile>>;
  /** The page as one HTML text, for hosts of MCP Apps. */
  readonly app: string;
}

/**
 * The function that reads the page. A build replaces this module, which has none, with one that contains
 * the page, compressed (`scripts/page.ts`).
 */
export const readPage: (() => BuiltPage) | undefined = undefined;
