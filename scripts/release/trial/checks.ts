/** What was checked in this run, each in a line of the output as soon as it is known. */
export const totals = { passed: 0, failed: 0, skipped: 0 };

/** Runs a check, which throws what is wrong. Gives whether it passed. */
export async function check(what: string, act: () => unknown): Promise<boolean> {
  try {
    await act();
    totals.passed++;
    console.log(`ok    ${what}`);
    return true;
  } catch (error) {
    totals.failed++;
    console.log(`FAIL  ${what}\n${(error as Error).message}`);
    return false;
  }
}

/** Says what cannot be checked here. */
export function skip(what: string, why: string): void {
  totals.skipped++;
  console.log(`skip  ${what}: ${why}`);
}
