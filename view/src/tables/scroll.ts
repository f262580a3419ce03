// A scrollbar for more rows than a browser can lay out.
//
// Browsers limit the height of an element (Firefox: 17.8 million pixels). Beyond `MOST` pixels the scrollbar is scaled:
// its position is a fraction of the rows, and the wheel and keys move by rows, not by pixels of the scrollbar.

const MOST = 8_000_000;

export interface Extent {
  rows: number;
  rowHeight: number;
  /** Height of the part of the grid that shows rows. */
  viewport: number;
}

/** Height of the scrolled element that stands for all rows. */
export function heightOf({ rows, rowHeight }: Extent): number {
  return Math.min(rows * rowHeight, MOST);
}

export const isScaled = ({ rows, rowHeight }: Extent): boolean => rows * rowHeight > MOST;

/** The topmost row (with its fraction) when scrolled to the end. */
export function lastTop({ rows, rowHeight, viewport }: Extent): number {
  return Math.max(0, rows - viewport / rowHeight);
}

/** The topmost row at a position of the scrollbar. */
export function topAt(extent: Extent, position: number): number {
  const room = heightOf(extent) - extent.viewport;
  if (room <= 0) return 0;
  return Math.min(Math.max(position / room, 0), 1) * lastTop(extent);
}

/** The position of the scrollbar for a topmost row. */
export function positionOf(extent: Extent, top: number): number {
  const last = lastTop(extent);
  if (last <= 0) return 0;
  return (Math.min(Math.max(top, 0), last) / last) * (heightOf(extent) - extent.viewport);
}

/** The topmost row that shows `row` wholly, as near to `top` as can be. */
export function topShowing(extent: Extent, top: number, row: number): number {
  const whole = Math.floor(extent.viewport / extent.rowHeight);
  if (row < top) return row;
  return row + 1 > top + whole ? Math.min(row + 1 - whole, lastTop(extent)) : top;
}
