/** The step that exchanges a staged file or link with the one that has the name. */
import { quickRevisionAt } from "../files/revision.ts";
import { type At, entriesAt } from "./held-entry.ts";
import { after, before, type MutationScope, type StepPlace, stepAt, type VerifyEntry } from "./scope.ts";
import { type SwappedNames, swapVerified } from "./swap-names.ts";

export interface Exchanging extends StepPlace {
  /** A third name, for systems that need more than one call to exchange two. */
  readonly aside: string;
  readonly verifyStaged: VerifyEntry;
  readonly verifyReplaced: VerifyEntry;
  readonly revisionAfter?: string | undefined;
}

/**
 * Gives a staged file or link the name of another, which then has the temporary one. Throws the errno error.
 */
export function exchangeEntry(scope: MutationScope, exchange: Exchanging): void {
  const { folder, name, temporary, entry, revisionAfter } = exchange;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry }),
      kind: "replace",
      revisionBefore: () => folder.enter((at) => quickRevisionAt(at(name))),
      revisionAfter: () => revisionAfter,
      entries: entriesAt({ folder, name, temporary }),
    }),
    () => folder.enter((at) => exchangeNow(exchange, namesAt(at, exchange))),
  );
}

function exchangeNow({ verifyStaged, verifyReplaced }: Exchanging, names: SwappedNames): void {
  verifyStaged(names.temporary, before);
  verifyReplaced(names.name, before);
  swapVerified(names, (path) => verifyReplaced(path, after));
}

/** Names the three entries of an exchange. */
export const namesAt = (
  at: At,
  { temporary, name, aside }: Pick<Exchanging, "temporary" | "name" | "aside">,
) => ({
  temporary: at(temporary),
  name: at(name),
  aside: at(aside),
});
