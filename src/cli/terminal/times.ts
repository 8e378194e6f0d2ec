/** Times as people read them. */

const units = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
] as const;

/** Returns the time between `then` and `now`, both in milliseconds, such as `3 minutes ago`. */
export function renderAge(then: number, now: number): string {
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  let amount = (then - now) / 1000;
  for (const [unit, size] of units) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return "";
}

/** Returns a time in milliseconds as a date and a time of day, in the zone of this machine. */
export function renderDate(time: number): string {
  const date = new Date(time);
  const pad = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** Returns a number of bytes with a binary unit, such as `1.4K`, like `ls -h`. */
export function renderSize(bytes: number): string {
  const letters = ["", "K", "M", "G", "T", "P"];
  let size = bytes;
  let power = 0;
  while (size >= 1024 && power < letters.length - 1) {
    size /= 1024;
    power++;
  }
  return `${power > 0 && size < 10 ? size.toFixed(1) : Math.round(size)}${letters[power]}`;
}
