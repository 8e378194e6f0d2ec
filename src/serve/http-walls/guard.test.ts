import { describe, expect, test } from "bun:test";
import { createGuard } from "./guard.ts";

const token = "0123456789abcdef";
const bare = { host: undefined, origin: undefined, authorization: undefined };

describe("a server on loopback", () => {
  const guard = createGuard({ host: "127.0.0.1", token: undefined });

  test.each(["localhost", "localhost:80", "127.0.0.1:1", "[::1]:1"])("is called %s", (host) => {
    expect(guard({ ...bare, host })).toBeUndefined();
    expect(guard({ ...bare, host, origin: `https://${host}` })).toBeUndefined();
  });

  test.each([undefined, "", "evil.example", "localhost.evil.example", "127.0.0.2", "[::2]", "a b"])(
    "is not called %p",
    (host) => {
      expect(guard({ ...bare, host })?.status).toBe(403);
    },
  );

  test.each(["null", "nonsense", "https://evil.example", "file://", "https://localhost.evil.example"])(
    "is not for pages of %p",
    (origin) => {
      expect(guard({ ...bare, host: "localhost", origin })?.status).toBe(403);
    },
  );
});

test("a page of another port of this machine needs a token", () => {
  const names = { host: "localhost:8080", origin: "http://localhost:3000" };
  const open = createGuard({ host: "127.0.0.1", token: undefined });
  expect(open({ ...bare, ...names })?.status).toBe(403);
  expect(open({ ...bare, ...names, origin: "http://127.0.0.1:8080" })?.status).toBe(403);
  expect(open({ ...bare, ...names, origin: "http://localhost:8080" })).toBeUndefined();
  const closed = createGuard({ host: "127.0.0.1", token });
  expect(closed({ ...bare, ...names })?.status).toBe(401);
  expect(closed({ ...bare, ...names, authorization: `Bearer ${token}` })).toBeUndefined();
});

test("a server at one address is called by it, and a token is checked after the names", () => {
  const guard = createGuard({ host: "fd00::1", token });
  const authorization = `Bearer ${token}`;
  expect(guard({ ...bare, host: "[fd00::1]:1", authorization })).toBeUndefined();
  expect(guard({ ...bare, host: "[fd00::1]:1", authorization: `bearer  ${token} ` })).toBeUndefined();
  expect(guard({ ...bare, host: "[fd00::1]:1" })?.status).toBe(401);
  expect(guard({ ...bare, host: "evil.example", authorization })?.status).toBe(403);
});
