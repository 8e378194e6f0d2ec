/** The page of a minimal host for MCP Apps, with the official bridge, for the browser of `app.test.ts`. */

import type { CallToolResult } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

interface Call {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

/** The used parts of a browser, and the functions that the test calls or exposes. */
interface HostWindow {
  readonly document: {
    readonly body: { append(frame: Frame): void };
    createElement(name: "iframe"): Frame;
  };
  /** Forwards a call of the app to the worker. */
  callTool(call: Call): Promise<CallToolResult>;
  /** Shows the app for a call, whose result follows with `finish`. */
  showApp(call: Call): Promise<void>;
  finish(result: CallToolResult): Promise<void>;
}

interface Frame {
  src: string;
  title: string;
  height: string;
  width: string;
  sandbox: { add(token: string): void };
  readonly contentWindow: never;
}

const host = globalThis as unknown as HostWindow;

let bridge: AppBridge;

host.showApp = async (call) => {
  const frame = host.document.createElement("iframe");
  frame.title = "app";
  frame.width = "720";
  frame.sandbox.add("allow-scripts");
  host.document.body.append(frame);
  const context = {
    theme: "dark",
    displayMode: "inline",
    availableDisplayModes: ["inline", "fullscreen"],
  } as const;
  bridge = new AppBridge(
    null,
    { name: "tests", version: "1" },
    { serverTools: {} },
    { hostContext: { ...context, availableDisplayModes: [...context.availableDisplayModes] } },
  );
  bridge.oncalltool = (sent) => host.callTool(sent as Call);
  bridge.onrequestdisplaymode = async ({ mode }) => {
    bridge.setHostContext({
      ...context,
      availableDisplayModes: [...context.availableDisplayModes],
      displayMode: mode,
    });
    return { mode };
  };
  bridge.addEventListener("sizechange", ({ height }) => {
    if (height !== undefined) frame.height = String(height);
  });
  const ready = new Promise<void>((resolve) => bridge.addEventListener("initialized", () => resolve()));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = "https://app.example/";
  await ready;
  await bridge.sendToolInput({ arguments: call.arguments ?? {} });
};
host.finish = (result) => bridge.sendToolResult(result);
