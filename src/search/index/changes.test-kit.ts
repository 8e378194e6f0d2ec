/** For properties of trees that change. */

/** Tries a change. One that the tree does not allow has no effect. */
export function attempt(change: () => void): void {
  try {
    change();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}
