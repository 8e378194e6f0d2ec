/**
 * Maximum units of a path; longer ones are cut. A unit takes at most six bytes, as an escape, and the shared
 * memory has 1,024.
 */
const maxPathUnits = 150;

/**
 * Renders a call as a short JSON text: its function, and the first path in its request, as the caller sent
 * it.
 */
export const renderEntered = (functionId: string, request: unknown): string =>
  JSON.stringify([functionId, pathIn(request)?.slice(0, maxPathUnits)]);

interface WithPath {
  readonly path?: unknown;
  readonly src?: unknown;
  readonly paths?: readonly unknown[];
  readonly files?: readonly WithPath[];
}

function pathIn(request: unknown): string | undefined {
  const { path, src, paths, files } = (request ?? {}) as WithPath;
  const first = path ?? src ?? paths?.[0] ?? files?.[0]?.path;
  return typeof first === "string" ? first : undefined;
}
