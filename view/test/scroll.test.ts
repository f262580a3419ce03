import { describe, expect, it } from "vitest";
import { heightOf, isScaled, lastTop, positionOf, topAt, topShowing } from "../src/tables/scroll";

const small = { rows: 1000, rowHeight: 28, viewport: 560 };
const large = { rows: 1e9, rowHeight: 28, viewport: 560 };

describe("the scrollbar", () => {
  it("is as high as the rows while a browser can lay them out", () => {
    expect(heightOf(small)).toBe(28_000);
    expect(isScaled(small)).toBe(false);
    expect(heightOf(large)).toBeLessThan(1.7e7);
    expect(isScaled(large)).toBe(true);
  });

  it("reaches the first and the last row", () => {
    for (const extent of [small, large]) {
      expect(topAt(extent, 0)).toBe(0);
      const end = heightOf(extent) - extent.viewport;
      expect(topAt(extent, end)).toBe(extent.rows - 20);
      expect(topAt(extent, end + 1000)).toBe(lastTop(extent));
    }
  });

  it("gives back the row that it was put to", () => {
    for (const extent of [small, large]) {
      for (const row of [0, 1, 17.5, 499, extent.rows / 3, extent.rows - 20]) {
        expect(topAt(extent, positionOf(extent, row))).toBeCloseTo(row, 5);
      }
    }
  });

  it("moves no further than to show a row", () => {
    expect(topShowing(large, 500_000, 500_010)).toBe(500_000);
    expect(topShowing(large, 500_000, 499_999)).toBe(499_999);
    expect(topShowing(large, 500_000, 500_020)).toBe(500_001);
    expect(topShowing(large, 0, 999_999_999)).toBe(lastTop(large));
  });

  it("has nothing to scroll where all rows fit", () => {
    const few = { rows: 3, rowHeight: 28, viewport: 560 };
    expect(topAt(few, 100)).toBe(0);
    expect(positionOf(few, 2)).toBe(0);
  });
});
