/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

/**
 * The files of the page by name, such as `index.html`, and the page as one HTML text for hosts of MCP Apps.
 * A build replaces this module by one with both (`scripts/page.ts`); here they are `undefined`.
 */
export const pageFiles: Readonly<Record<string, PageFile>> | undefined = undefined;
export const appPage: string | undefined = undefined;
