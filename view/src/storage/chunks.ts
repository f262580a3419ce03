// Where chunks stand in the picture, and which ones a selection touches.

/** Planes of `columns` by `rows` cells, `across` of them beside each other, each with a gap to the next. */
export interface Layout {
  columns: number;
  rows: number;
  across: number;
  cell: number;
  gap: number;
  width: number;
  height: number;
}

const CELL_MIN = 4;
const CELL_MAX = 26;
const GAP = 10;

/** Lay `count` chunks out: by the last two axes of the grid where these fit, else in lines as wide as the picture. */
export function layoutOf(grid: number[], count: number, width: number): Layout {
  const [rows, columns] = [grid[grid.length - 2] ?? 1, grid[grid.length - 1] ?? 1];
  const isPlane = grid.length >= 2 && columns * CELL_MIN <= width && rows * columns <= count && rows * columns > 1;
  const plane = isPlane ? { columns, rows } : linesOf(count, width);
  const planes = Math.ceil(count / (plane.columns * plane.rows));
  const gap = planes > 1 ? GAP : 0;
  const fitting = Math.min(CELL_MAX, Math.floor(width / plane.columns));
  const cell = Math.max(CELL_MIN, isPlane ? Math.min(fitting, sizeFor(count, width)) : fitting);
  const across = Math.max(1, Math.min(planes, Math.floor((width + gap) / (plane.columns * cell + gap))));
  const down = Math.ceil(planes / across);
  const extent = (number: number, cells: number) => number * (cells * cell + gap) - gap;
  return { ...plane, across, cell, gap, width: extent(across, plane.columns), height: extent(down, plane.rows) };
}

/** A size of cells with which `count` of them take about two thirds of a picture that is half as high as wide. */
function sizeFor(count: number, width: number): number {
  return Math.floor(Math.sqrt((width * width * 0.33) / Math.max(1, count)));
}

function linesOf(count: number, width: number) {
  const cell = Math.min(CELL_MAX, Math.max(CELL_MIN, sizeFor(count, width)));
  const columns = Math.max(1, Math.min(count, Math.floor(width / cell)));
  return { columns, rows: Math.max(1, Math.ceil(count / columns)) };
}

/** Return the corner of the `i`-th cell. */
export function cornerOf(layout: Layout, i: number): { x: number; y: number } {
  const { columns, rows, across, cell, gap } = layout;
  const plane = Math.floor(i / (columns * rows));
  const inside = i % (columns * rows);
  return {
    x: (plane % across) * (columns * cell + gap) + (inside % columns) * cell,
    y: Math.floor(plane / across) * (rows * cell + gap) + Math.floor(inside / columns) * cell,
  };
}

/** Return which cell is at a point of the picture, or null. */
export function cellAt(layout: Layout, x: number, y: number): number | null {
  const { columns, rows, across, cell, gap } = layout;
  const [wide, high] = [columns * cell + gap, rows * cell + gap];
  const [planeX, planeY] = [Math.floor(x / wide), Math.floor(y / high)];
  const [column, row] = [Math.floor((x - planeX * wide) / cell), Math.floor((y - planeY * high) / cell)];
  if (x < 0 || y < 0 || planeX >= across || column >= columns || row >= rows) return null;
  return (planeY * across + planeX) * columns * rows + row * columns + column;
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
