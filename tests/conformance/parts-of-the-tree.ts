/** Cases of calls that name several roots, or that are limited to a part of one. */
import type { Case } from "./case.ts";
import { fsScopeCases } from "./fs-scope-cases.ts";
import { fsScopeWritingCases } from "./fs-scope-writing-cases.ts";
import { rootsCases } from "./roots-cases.ts";
import { crossingCases } from "./roots-crossing-cases.ts";
import { sessionScopeCases } from "./session-scope-cases.ts";

export const casesOfParts: readonly Case[] = [
  ...rootsCases,
  ...crossingCases,
  ...fsScopeCases,
  ...fsScopeWritingCases,
  ...sessionScopeCases,
];
