import { ScaleType } from "@h5web/lib";
import { describe, expect, it } from "vitest";
import { envelope } from "../src/arrays/envelope";
import { hexOf, pictureOf } from "../src/arrays/picture";
import { scaleOf, toAxis, toIndex } from "../src/arrays/plane";
import { clipped, countOf, drawingsOf, firstRange, isTurned, rolesOf, selectionOf, strided, withRole } from "../src/arrays/selection";
import { codeOf, decode, partOf } from "../src/arrays/values";

describe("selections", () => {
  it("name a range for drawn axes and an index for others", () => {
    const roles = { ...rolesOf([5, 6, 7], "heat map"), indices: [3, 0, 0] };
    expect(selectionOf(roles, { start: 1, stop: 7, step: 2 }, { start: 0, stop: 6, step: 1 })).toBe("3,0:6,1:7:2");
    expect(selectionOf(rolesOf([9, 8, 3], "image"), { start: 0, stop: 8, step: 1 }, { start: 0, stop: 9, step: 1 })).toBe("0:9,0:8,:");
    expect(selectionOf(rolesOf([], "matrix"), null, null)).toBe("");
  });

  it("swap axes rather than draw one twice", () => {
    const roles = withRole(rolesOf([5, 6, 7], "heat map"), "x", 1);
    expect([roles.y, roles.x]).toEqual([2, 1]);
    expect(isTurned(roles)).toBe(true);
  });

  it("never have more than so many indices, nor none", () => {
    for (const length of [1, 5, 1024, 1025, 1e9]) {
      const range = strided({ start: 0, stop: length, step: 1 }, 1024);
      expect(countOf(range)).toBeGreaterThan(0);
      expect(countOf(range)).toBeLessThanOrEqual(1024);
    }
    expect(clipped({ start: 10, stop: 20, step: 1 }, -5, 3)).toEqual({ start: 10, stop: 11, step: 1 });
    expect(clipped({ start: 10, stop: 20, step: 1 }, 50, 60)).toEqual({ start: 19, stop: 20, step: 1 });
  });

  it("do not begin with what takes minutes", () => {
    expect(firstRange(1000, 1000).stop).toBe(1000);
    expect(firstRange(200_000, 200_000).stop).toBe(4096);
    expect(firstRange(1e9, 3).stop * 3).toBeLessThanOrEqual(1 << 24);
  });

  it("suit the array", () => {
    expect(drawingsOf([4], true, false)[0]).toBe("line");
    expect(drawingsOf([4, 4, 3], true, true)[0]).toBe("image");
    expect(drawingsOf([4, 4], false, false)).toEqual(["matrix"]);
  });
});

describe("values", () => {
  it("are told by NumPy's names and codes", () => {
    expect(["<f4", "float32", "uint16", "|b1", "<M8[ns]", "complex128", "|S5"].map(codeOf)).toEqual(["f4", "f4", "u2", "b1", "M8", "c16", ""]);
  });

  it("are read from bytes", () => {
    const halves = new Uint16Array([0x3c00, 0xc000, 0x7c00, 0x0001, 0x7e00]).buffer;
    expect([...decode(halves, "<f2", [5]).numbers]).toEqual([1, -2, Infinity, 2 ** -24, NaN]);
    const complex = decode(new Float64Array([3, 4, 0, -2]).buffer, "<c16", [2]);
    expect([...partOf(complex, "abs")]).toEqual([5, 2]);
    expect([...partOf(complex, "imag")]).toEqual([4, -2]);
    expect(partOf(complex, "phase")[1]).toBeCloseTo(-Math.PI / 2);
  });
});

describe("lines", () => {
  const values = Float64Array.from({ length: 10_000 }, (_, i) => Math.sin(i / 50));
  values[4321] = 90;
  values[77] = NaN;

  it("keep every peak in few points, in order", () => {
    const { at, values: kept } = envelope(values, { start: 100, stop: 20_100, step: 2 }, 200);
    expect(at.length).toBeLessThanOrEqual(200);
    expect(Math.max(...Array.from(kept))).toBe(90);
    expect(at[Array.from(kept).indexOf(90)]).toBe(100 + 2 * 4321);
    expect([...at].every((index, i) => i === 0 || index > (at[i - 1] ?? 0))).toBe(true);
    expect(Array.from(kept).some(Number.isNaN)).toBe(false);
  });

  it("stay as they are when short", () => {
    const { at } = envelope(values.subarray(0, 3), { start: 5, stop: 8, step: 1 }, 200);
    expect([...at]).toEqual([5, 6, 7]);
  });
});

describe("axes", () => {
  it("have coordinates where these are even, and indices elsewhere", () => {
    const even = scaleOf("lat", [90, 89, 88, 87]);
    expect([toAxis(even, 2), toIndex(even, 88), even.isIndex]).toEqual([88, 2, false]);
    expect(scaleOf("depth", [0, 1, 10, 100]).isIndex).toBe(true);
    expect(scaleOf("x", [NaN, 1]).isIndex).toBe(true);
  });
});

describe("saved pictures", () => {
  const colours = { map: "Greys" as const, isInverted: false, scale: ScaleType.SymLog as const, domain: [null, 5] as [null, number] };

  it("have the colours, the scale and the ends that are shown", () => {
    const plain = pictureOf(colours, "heat map");
    expect([plain.scale, plain.min, plain.max]).toEqual(["symlog", null, 5]);
    const stops = String(plain.stops).split("-");
    expect([stops.length, stops[0], stops[32]]).toEqual([33, "000000", "ffffff"]);
    const inverted = pictureOf({ ...colours, isInverted: true, scale: ScaleType.Linear as const }, "heat map");
    expect([inverted.scale, inverted.stops]).toEqual([null, stops.reverse().join("-")]);
    expect(pictureOf(colours, "image")).toEqual({});
  });

  it("take colours as CSS has them", () => {
    expect(["rgb(0, 10, 255)", "#0a0bff", "rgb(1.6, 0, 15.4)"].map(hexOf)).toEqual(["000aff", "0a0bff", "02000f"]);
  });
});
