import { expect, spyOn, test } from "bun:test";
import { JournalFixture } from "./journal.test-kit.ts";
import { recentRecords } from "./recent-records.ts";

test.each([
  ["frames", 1100, "x"],
  ["bytes", 300, "x".repeat(4000)],
])("a segment with too many %s is left out, unread", (_, steps, name) => {
  using fixture = new JournalFixture("descriptors", {}, { max_records: 8 });
  const { journal } = fixture;
  const many = fixture.call();
  for (let index = 0; index < steps; index++) fixture.keepStep(journal, `${name}${index}`, many);
  fixture.keepStep(journal, "last");
  const parsing = spyOn(JSON, "parse");
  const recent = recentRecords(journal);
  const parsed = parsing.mock.calls.length;
  parsing.mockRestore();
  expect(recent.map(({ seq }) => seq)).toEqual([2]);
  // The headers of both segments, twice that of the one that is read, and the two frames of its record.
  expect(parsed).toBe(2 + 1 + 2);
});
