import type { Journal } from "../../filesystem/journal/journal.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";

/** The journal of the worker. Throws where it has none. */
export function requireJournal({ journal, journalMissing }: CoderContext): Journal {
  if (journal === undefined) throw refuseCoder.noJournal(journalMissing);
  return journal;
}
