import type { EditLosses } from "../../filesystem/operations/update.ts";

/** Returns notes on the facts about a file that an edit of it did not keep. */
export function notesOnLosses({ otherNames, setIds }: EditLosses): string[] {
  const names =
    otherNames === 1
      ? "its other name (a hard link) keeps"
      : `its ${otherNames} other names (hard links) keep`;
  return [
    ...(otherNames > 0 ? [`${names} the old text`] : []),
    ...(setIds > 0
      ? [
          `its ${setIds === 0o4000 ? "set-user-ID bit is" : setIds === 0o2000 ? "set-group-ID bit is" : "set-ID bits are"} removed`,
        ]
      : []),
  ];
}
