import type { Journal } from "../../tree/journal/journal.ts";
import type { CoderContext } from "../define.ts";
import { refuseCoder } from "../errors.ts";

/** The journal of the worker. Throws where it has none. */
export function requireJournal({ journal, journalMissing }: CoderContext): Journal {
  if (journal === undefined) throw refuseCoder.noJournal(journalMissing);
  return journal;
}
