import type { EscapeCase } from "./escape-case.ts";
import { denied } from "./escape-cases/denied.ts";
import { innerLinks } from "./escape-cases/inner-links.ts";
import { links } from "./escape-cases/links.ts";
import { names } from "./escape-cases/names.ts";
import { walks } from "./escape-cases/walks.ts";

/**
 * Ways out of the base and to files that the deny globs cover, found in other programs or devised here, among
 * neighbours that must keep working. Paths with half a surrogate pair are missing: no frame of the bus
 * carries one.
 */
export const escapeCases: readonly EscapeCase[] = [...names, ...links, ...innerLinks, ...denied, ...walks];
