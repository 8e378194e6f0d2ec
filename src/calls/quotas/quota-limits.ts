/** The rights of one caller; null means unlimited. */
export interface QuotaLimits {
  readonly calls_per_second: number | null;
  readonly bytes_per_minute: number | null;
  readonly concurrent_calls: number | null;
}

export type QuotaName = keyof QuotaLimits;
