// Where chunks stand in the picture, and which ones a selection touches.

export interface Layout {
  columns: number;
  rows: number;
  cell: number;
}

/** Lay `count` chunks out: as the grid's last axis where that fits, else in lines as wide as the picture. */
export function layoutOf(grid: number[], count: number, width: number): Layout {
  const last = grid[grid.length - 1] ?? 1;
  const isPlane = grid.length >= 2 && last > 1 && last <= width / 3;
  const fitting = Math.max(1, Math.floor(width / Math.max(4, Math.min(28, Math.sqrt((width * 420) / Math.max(1, count))))));
  const columns = isPlane ? last : Math.min(count, fitting);
  const rows = Math.ceil(count / Math.max(1, columns));
  const cell = Math.max(3, Math.min(40, Math.floor(width / Math.max(1, columns))));
  return { columns: Math.max(1, columns), rows, cell };
}

/** Return the position of a chunk along each axis of the grid. */
export function positionOf(index: number, grid: number[]): number[] {
  const position = grid.map(() => 0);
  let left = index;
  for (let axis = grid.length - 1; axis >= 0; axis -= 1) {
    const length = Math.max(1, grid[axis] ?? 1);
    position[axis] = left % length;
    left = Math.floor(left / length);
  }
  return position;
}

/** Return the index of a chunk, which the server may give as a position. */
export function indexOf(index: number | number[], grid: number[]): number {
  if (!Array.isArray(index)) return index;
  return index.reduce((sum, at, axis) => sum * (grid[axis] ?? 1) + at, 0);
}

/** Return, for each axis, the first and last position of chunks that a selection such as "0:100,5,:" can touch. */
export function spanOf(selection: string, chunk: number[], grid: number[]): [number, number][] {
  const parts = selection === "" ? [] : selection.split(",");
  return grid.map((count, axis) => {
    const length = Math.max(1, chunk[axis] ?? 1);
    const [from, to] = (parts[axis] ?? ":").split(":");
    if (to === undefined) return [Math.floor(Number(from) / length), Math.floor(Number(from) / length)];
    const start = from === "" || from === undefined ? 0 : Number(from);
    const stop = to === "" ? count * length : Number(to);
    return [Math.floor(start / length), Math.min(count - 1, Math.floor((stop - 1) / length))];
  });
}

export function isTouched(position: number[], span: [number, number][]): boolean {
  return span.every(([low, high], axis) => (position[axis] ?? 0) >= low && (position[axis] ?? 0) <= high);
}

/** Return a ratio's place in the colours, 0 (larger than its values) to 1 (a hundredth or less). */
export function toneOf(nbytes: number, stored: number): number {
  if (stored <= 0) return 1;
  return Math.min(1, Math.max(0, Math.log(nbytes / stored) / Math.log(100)));
}
