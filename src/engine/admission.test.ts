import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { WebSocket } from "ws";
import { type Engine, startEngine } from "./engine.ts";

let engine: Engine;

beforeEach(async () => {
  engine = await startEngine();
});

afterEach(() => engine.stop());

/** Tries to connect; resolves to "open" or to the refusal. */
async function attempt(path: string, headers: Record<string, string> = {}): Promise<string> {
  const socket = new WebSocket(engine.url + path, { headers });
  const outcome = await new Promise<string>((resolve) => {
    socket.on("open", () => resolve("open"));
    socket.on("error", (error) => resolve(error.message));
  });
  socket.terminate();
  return outcome;
}

describe("who may connect", () => {
  test.each(["http://localhost:3000", "https://127.0.0.1", "http://127.9.9.9", "http://[::1]:8080"])(
    "a page of this machine, %s, may",
    async (origin) => {
      expect(await attempt("/", { origin })).toBe("open");
    },
  );

  test.each([
    "https://example.com",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "null",
    "file://",
    "x",
  ])("a page from elsewhere, %s, may not", async (origin) => {
    expect(await attempt("/", { origin })).toContain("403");
    expect(await attempt("/ws/channels/x?key=y&dir=read", { origin })).toContain("403");
  });

  test("workers enter at the root, telemetry at /otel, nothing elsewhere", async () => {
    expect(await attempt("/")).toBe("open");
    expect(await attempt("/?query=1")).toBe("open");
    expect(await attempt("/otel")).toBe("open");
    expect(await attempt("/elsewhere")).toContain("404");
    expect(await attempt("//")).toContain("404");
    expect(await attempt("/ws/channels/")).toContain("404");
  });

  test("a plain request is told to upgrade", async () => {
    const response = await fetch(engine.url.replace("ws:", "http:"));
    expect(response.status).toBe(426);
  });

  test("a port that is taken is said to be", async () => {
    const port = Number(new URL(engine.url).port);
    expect(await startEngine({ port }).catch((error: unknown) => error)).toMatchObject({
      code: "EADDRINUSE",
    });
  });
});
