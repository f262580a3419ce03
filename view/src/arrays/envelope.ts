// A line of many values as fewer points that look the same: the least and the largest of each run.

import { type Range, countOf } from "./selection";
import type { Numbers } from "./values";

export interface Curve {
  /** The index of each point in the array. */
  at: Float64Array;
  values: ArrayLike<number>;
}

/** Return at most about `most` points of a line, in order: no peak is lost. Not-a-numbers stay where a run has no other value. */
export function envelope(values: Numbers, range: Range, most: number): Curve {
  const count = countOf(range);
  const runs = Math.max(1, Math.floor(most / 2));
  if (count <= most) {
    return { at: Float64Array.from({ length: count }, (_, i) => range.start + i * range.step), values };
  }
  const at: number[] = [];
  const kept: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const start = Math.floor((run * count) / runs);
    const stop = Math.floor(((run + 1) * count) / runs);
    for (const i of extremes(values, start, stop)) {
      at.push(range.start + i * range.step);
      kept.push(values[i] ?? NaN);
    }
  }
  return { at: Float64Array.from(at), values: Float64Array.from(kept) };
}

/** Return where the least and the largest of a run are, the earlier one first. */
function extremes(values: Numbers, start: number, stop: number): number[] {
  let [low, high] = [start, start];
  for (let i = start; i < stop; i += 1) {
    const value = values[i] ?? NaN;
    // A comparison with a not-a-number is false, so the first one that is a number takes over.
    if (!((values[low] ?? NaN) <= value)) low = Number.isNaN(value) ? low : i;
    if (!((values[high] ?? NaN) >= value)) high = Number.isNaN(value) ? high : i;
  }
  return low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
}
