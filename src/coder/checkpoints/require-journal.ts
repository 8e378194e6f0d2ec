import type { Journal } from "../../filesystem/journal/journal.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";

/** Returns the journal of the worker. Throws a refusal without one. */
export function requireJournal({ journal, journalMissing, findOtherJournals }: CoderContext): Journal {
  if (journal !== undefined) return journal;
  if (journalMissing === undefined && findOtherJournals().length > 0) throw refuseCoder.otherJournal();
  throw refuseCoder.noJournal(journalMissing);
}
