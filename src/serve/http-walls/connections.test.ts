import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { Connections } from "./connections.ts";

/** Opens connections of these peers, in this order. Returns the names of the closed ones. */
function openAll(peers: readonly string[], limits = { total: 4, unauthenticatedOfPeer: 2, unanswered: 2 }) {
  const connections = new Connections(limits);
  const closed: string[] = [];
  const reasons: string[] = [];
  connections.onclosed = (_, reason) => reasons.push(reason);
  const sockets = new Map<string, EventEmitter & { remoteAddress: string; destroy(): void }>();
  const open = (name: string) => {
    const destroy = () => {
      closed.push(name);
    };
    const socket = Object.assign(new EventEmitter(), { remoteAddress: name.slice(0, 1), destroy });
    sockets.set(name, socket);
    connections.open(socket);
  };
  for (const name of peers) open(name);
  const admit = (name: string) => connections.admit(sockets.get(name)!);
  const begin = (name: string, answer: EventEmitter) => connections.begin(sockets.get(name)!, answer);
  return { open, admit, begin, closed, reasons, leave: (name: string) => sockets.get(name)!.emit("close") };
}

test("one unauthenticated connection too many of a peer closes the oldest of that peer", () => {
  const { closed, open, reasons } = openAll(["b1", "a1", "a2"]);
  expect(closed).toEqual([]);
  open("a3");
  expect(closed).toEqual(["a1"]);
  expect(reasons).toEqual(["One peer may have 2 connections without an authorized request."]);
});

test("one connection too many closes the oldest unauthenticated one of any peer", () => {
  const { closed } = openAll(["a1", "a2", "b1", "c1", "d1"]);
  expect(closed).toEqual(["a1"]);
});

test("an authenticated connection does not count as unauthenticated, and is not closed for others", () => {
  const { admit, closed, open } = openAll(["a1", "a2"]);
  admit("a1");
  admit("a2");
  for (const name of ["a3", "a4", "a5"]) open(name);
  expect(closed).toEqual(["a3"]);
});

test("where all have been let in, a new one is closed", () => {
  const { admit, closed, open, reasons } = openAll(["a1", "a2"]);
  for (const name of ["a1", "a2"]) admit(name);
  for (const name of ["b1", "b2"]) {
    open(name);
    admit(name);
  }
  open("c1");
  expect(closed).toEqual(["c1"]);
  expect(reasons).toEqual(["All 4 connections are in use, 4 of them by authorized clients."]);
});

test("who has left makes room", () => {
  const { closed, leave, open } = openAll(["a1", "a2"]);
  leave("a1");
  open("a3");
  expect(closed).toEqual([]);
});

test("who was closed is not let in by a request that was on its way", () => {
  const { admit, closed, open } = openAll(["a1", "a2", "a3"]);
  admit("a1");
  for (const name of ["b1", "b2", "c1"]) open(name);
  expect(closed).toEqual(["a1", "a2"]);
});

test("a connection with too many unanswered requests is closed", () => {
  const { begin, closed, reasons } = openAll(["a1", "b1"]);
  const answers = Array.from({ length: 5 }, () => new EventEmitter());
  expect(answers.slice(0, 2).map((answer) => begin("a1", answer))).toEqual([true, true]);
  answers[0]!.emit("close");
  expect([begin("a1", answers[2]!), begin("b1", answers[3]!), closed]).toEqual([true, true, []]);
  expect([begin("a1", answers[4]!), closed]).toEqual([false, ["a1"]]);
  expect(reasons).toEqual(["A connection may have 2 unanswered requests."]);
});
