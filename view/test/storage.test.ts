import { describe, expect, it } from "vitest";
import { cellAt, cornerOf, indexOf, isTouched, layoutOf, positionOf, spanOf } from "../src/storage/chunks";

describe("the picture of chunks", () => {
  const grids = [[5], [3, 4], [6, 3, 4], [2, 2, 2, 2], [5000], [100, 50]];

  it("gives each chunk a place of its own, and finds it there", () => {
    for (const grid of grids) {
      const count = grid.reduce((product, length) => product * length, 1);
      const layout = layoutOf(grid, count, 900);
      expect(layout.width).toBeLessThanOrEqual(900);
      for (let i = 0; i < count; i += 1) {
        const { x, y } = cornerOf(layout, i);
        expect(cellAt(layout, x + 1, y + 1)).toBe(i);
        expect(x + layout.cell).toBeLessThanOrEqual(layout.width);
        expect(y + layout.cell).toBeLessThanOrEqual(layout.height);
      }
    }
  });

  it("knows positions both ways", () => {
    expect(positionOf(17, [2, 3, 4])).toEqual([1, 1, 1]);
    expect(indexOf([1, 1, 1], [2, 3, 4])).toBe(17);
  });

  it("frames what a selection touches", () => {
    const span = spanOf("5,10:41:3,:", [4, 20, 30], [3, 3, 2]);
    expect(span).toEqual([[1, 1], [0, 2], [0, 1]]);
    expect(isTouched([1, 2, 0], span)).toBe(true);
    expect(isTouched([0, 2, 0], span)).toBe(false);
  });
});
