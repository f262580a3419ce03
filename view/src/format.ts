// Numbers, sizes and values as text.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Return a size such as "3.4 MiB". */
export function bytes(size: number | null | undefined): string {
  if (size === null || size === undefined || !Number.isFinite(size)) return "";
  let unit = 0;
  let left = size;
  while (left >= 1024 && unit < UNITS.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? left : left.toPrecision(left >= 100 ? 4 : 3)} ${UNITS[unit]}`;
}

/** Return a ratio of sizes such as "12.3x". */
export function ratio(nbytes: number | null | undefined, stored: number | null | undefined): string {
  if (!nbytes || !stored) return "";
  const value = nbytes / stored;
  return `${value >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(3)}x`;
}

export const shape = (lengths: readonly number[] | null | undefined): string =>
  lengths ? (lengths.length ? lengths.map((n) => n.toLocaleString("en").replaceAll(",", "\u202f")).join(" × ") : "scalar") : "";

export const whole = (value: number | null | undefined): string =>
  value === null || value === undefined ? "" : value.toLocaleString("en").replaceAll(",", "\u202f");

/** Return a number as short as five digits allow. */
export function number(value: number | string | null | undefined): string {
  // Integers that no double holds come as text.
  if (typeof value === "string") return value;
  if (value === null || value === undefined || Number.isNaN(value)) return "nan";
  if (Number.isSafeInteger(value)) return String(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(4) : String(Number(value.toPrecision(6)));
}

/** Return a value of JSON as the text of a cell. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return JSON.stringify(value);
}
