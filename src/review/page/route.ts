/** The shown part of the page. The address contains it, so that links and the back button work. */
export interface Route {
  readonly view: "timeline" | "since" | "session" | "files";
  /** The chosen checkpoint, or the one that a comparison starts after. */
  readonly seq?: number | undefined;
  /** The author whose changes are shown, by its session. */
  readonly session?: string | undefined;
  /** The path of a timeline, or the file to show. */
  readonly path?: string | undefined;
  /** The line of that file to show first. */
  readonly line?: number | undefined;
}

function parseRoute(hash: string): Route {
  const [name = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const fields = new URLSearchParams(query);
  const numberAt = (field: string) => {
    const value = Number(fields.get(field) ?? Number.NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  return {
    view: name === "since" || name === "session" || name === "files" ? name : "timeline",
    seq: numberAt("seq"),
    session: fields.get("session") ?? undefined,
    path: fields.get("path") ?? undefined,
    line: numberAt("line"),
  };
}

export function renderRoute({ view, ...fields }: Route): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return `#/${view}${text === "" ? "" : `?${text}`}`;
}

/** The route of a page without an address of its own, such as one in a frame of a host. */
let kept: string | undefined;

/** Keeps the route out of the address, and has links change it there. */
export function keepRoute(): void {
  kept = "";
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a[href^='#']");
    if (link === null) return;
    event.preventDefault();
    show(link.getAttribute("href")!);
  });
}

function show(hash: string): void {
  kept = hash;
  dispatchEvent(new Event("hashchange"));
}

export const currentRoute = (): Route => parseRoute(kept ?? location.hash);

/** Calls the listener whenever the route has changed. Returns a function that ends it. */
export function onRoute(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** Shows a route. With `isReplaced` the back button skips the one before. */
export function go(route: Route, isReplaced = false): void {
  if (kept !== undefined) show(renderRoute(route));
  else if (isReplaced) location.replace(renderRoute(route));
  else location.hash = renderRoute(route);
}
