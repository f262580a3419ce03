// Which part of an array is shown, as a selection's text for the server.

/** A half-open range of indices; every `step`-th of them. */
export interface Range {
  start: number;
  stop: number;
  step: number;
}

/** What each axis does: it is drawn along x or y, is the channel of colours, or stands at one index. */
export interface AxisRoles {
  x: number | null;
  y: number | null;
  channel: number | null;
  indices: number[];
}

/** A plane with more values than this is not read as a whole at first: it could take minutes. */
const EAGER_VALUES = 1e8;
const FIRST_VALUES = 1 << 24;

export type Drawing = "line" | "heat map" | "image" | "matrix";

/** Return the drawings that suit an array, the best one first. */
export function drawingsOf(shape: number[], canDraw: boolean, isImage: boolean): Drawing[] {
  if (!canDraw || shape.length === 0) return ["matrix"];
  if (shape.length === 1) return ["line", "matrix"];
  const last = shape[shape.length - 1] ?? 0;
  const hasChannels = shape.length >= 3 && (last === 3 || last === 4);
  if (hasChannels && isImage) return ["image", "heat map", "line", "matrix"];
  return hasChannels ? ["heat map", "image", "line", "matrix"] : ["heat map", "line", "matrix"];
}

/** Return the usual roles of axes: the last ones are drawn. */
export function rolesOf(shape: number[], drawing: Drawing): AxisRoles {
  const rank = shape.length;
  const indices = shape.map(() => 0);
  if (drawing === "image") return { y: rank - 3, x: rank - 2, channel: rank - 1, indices };
  const x = rank > 0 ? rank - 1 : null;
  const y = rank > 1 && drawing !== "line" ? rank - 2 : null;
  return { x, y, channel: null, indices };
}

/** Give `axis` a role; the axis that had it takes the other's. */
export function withRole(roles: AxisRoles, role: "x" | "y", axis: number): AxisRoles {
  const other = role === "x" ? "y" : "x";
  const next = { ...roles, [role]: axis };
  if (roles[other] === axis) next[other] = roles[role];
  return next;
}

/** Return the range of a drawn axis that is read first: all of it, or a start of what is too large to read at once. */
export function firstRange(length: number, others: number): Range {
  const isLarge = length * others > EAGER_VALUES;
  const most = Math.max(1, Math.floor(FIRST_VALUES / Math.max(1, Math.min(others, Math.sqrt(FIRST_VALUES)))));
  return { start: 0, stop: isLarge ? Math.min(length, most) : length, step: 1 };
}

export const wholeRange = (length: number): Range => ({ start: 0, stop: length, step: 1 });

/** Return the range with the smallest step that leaves at most `most` indices. */
export function strided(range: Range, most: number): Range {
  return { ...range, step: Math.max(1, Math.ceil((range.stop - range.start) / Math.max(1, most))) };
}

export function countOf(range: Range): number {
  return Math.max(0, Math.ceil((range.stop - range.start) / range.step));
}

/** Return the indices that a range names. */
export function indicesOf(range: Range): Float64Array {
  return Float64Array.from({ length: countOf(range) }, (_, i) => range.start + i * range.step);
}

/** Return the part of `whole` that `low` to `high` (in indices, maybe outside) cover; at least one index. */
export function clipped(whole: Range, low: number, high: number): Range {
  const start = Math.min(Math.max(Math.floor(low), whole.start), Math.max(whole.start, whole.stop - 1));
  const stop = Math.max(Math.min(Math.ceil(high), whole.stop), start + 1);
  return { start, stop, step: 1 };
}

export function sameRange(a: Range | null, b: Range | null): boolean {
  return a?.start === b?.start && a?.stop === b?.stop && a?.step === b?.step;
}

const textOf = ({ start, stop, step }: Range): string => (step === 1 ? `${start}:${stop}` : `${start}:${stop}:${step}`);

/** Return the selection's text: a range for drawn axes, `:` for the channel, an index for the others. */
export function selectionOf(roles: AxisRoles, x: Range | null, y: Range | null): string {
  const part = (index: number, axis: number) => {
    if (axis === roles.x && x) return textOf(x);
    if (axis === roles.y && y) return textOf(y);
    return axis === roles.channel ? ":" : String(index);
  };
  return roles.indices.map(part).join(",");
}

/** Return whether the server gives the plane with x before y, so that it must be turned. */
export function isTurned(roles: AxisRoles): boolean {
  return roles.x !== null && roles.y !== null && roles.x < roles.y;
}
