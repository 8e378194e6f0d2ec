/** The page as an MCP App: a host shows it in a frame, and passes its calls on to the worker. */
import { App, applyDocumentTheme, type McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import type { Hosting } from "./hosting.ts";
import { connectOver, type LinkListeners, RefusedCall, Unreachable } from "./link.ts";
import { go, keepRoute } from "./route.ts";

/** The tool of the worker that answers this page as JSON. */
const tool = "coder_review";

/** The key of a result's metadata that has the number of its checkpoint. */
const checkpointKey = "dev.iii.coder/checkpoint";

/** Maximum milliseconds of a call, which may wait for the approval of a person. */
const callMilliseconds = 60 * 60 * 1000;

/** Connects to the host. Calls `show` then, and whenever the place of the page in the host has changed. */
export async function openInHost(show: (hosting: Hosting) => void): Promise<void> {
  const app = new App(
    { name: "coder review", version: "1" },
    { availableDisplayModes: ["inline", "fullscreen"] },
  );
  let hosting: Hosting = { call: "running", isFullScreen: false };
  const change = (changes: Partial<Hosting>) => {
    hosting = { ...hosting, ...changes };
    show(hosting);
  };
  app.addEventListener("toolresult", ({ _meta: meta }) => {
    const seq = meta?.[checkpointKey];
    if (typeof seq === "number") go({ view: "timeline", seq }, true);
    change({ call: typeof seq === "number" ? "checkpoint" : "no-checkpoint" });
  });
  app.addEventListener("toolcancelled", () => change({ call: "no-checkpoint" }));
  app.addEventListener("hostcontextchanged", () => change(readContext(app)));
  keepRoute();
  connectOver({ send: (id, payload) => sendThrough(app, id, payload), follow });
  await app.connect();
  change(readContext(app));
}

function readContext(app: App): Partial<Hosting> {
  const context: McpUiHostContext = app.getHostContext() ?? {};
  if (context.theme !== undefined) applyDocumentTheme(context.theme);
  return {
    isFullScreen: context.displayMode === "fullscreen",
    ...(context.availableDisplayModes?.includes("fullscreen") && {
      onFullScreen: (isFullScreen: boolean) =>
        void app.requestDisplayMode({ mode: isFullScreen ? "fullscreen" : "inline" }),
    }),
  };
}

async function sendThrough(app: App, id: string, payload: object): Promise<unknown> {
  const call = { name: tool, arguments: { function: id, payload } };
  const { structuredContent = {}, content } = await app
    .callServerTool(call, { timeout: callMilliseconds })
    .catch((error: Error) => {
      throw new Unreachable(error.message);
    });
  const { answer, error } = structuredContent as { readonly answer?: unknown; readonly error?: string };
  if (error !== undefined) throw new RefusedCall(error);
  if (answer !== undefined) return answer;
  throw new Unreachable(content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
}

/** Reads everything again whenever a person comes back to the page, as a host reports no changes. */
function follow({ onChange, onState }: LinkListeners): () => void {
  const onVisible = () => {
    if (document.visibilityState === "visible") onChange();
  };
  document.addEventListener("visibilitychange", onVisible);
  addEventListener("focus", onChange);
  onState("hosted");
  onChange();
  return () => {
    document.removeEventListener("visibilitychange", onVisible);
    removeEventListener("focus", onChange);
  };
}
