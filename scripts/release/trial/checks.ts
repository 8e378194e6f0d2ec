/** The counts of this run. Each check is printed as soon as it has ended. */
export const totals = { passed: 0, failed: 0, skipped: 0 };

/** Runs a check, which throws the fault. Returns whether it passed. */
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

/** Reports and counts a check that is impossible here. */
export function skip(what: string, why: string): void {
  totals.skipped++;
  console.log(`skip  ${what}: ${why}`);
}
