import { describe, expect, it } from "vitest";
import * as format from "../src/format";
import { type Node, movedBy, rowsOf } from "../src/shell/nodes";
import { parse, textOf } from "../src/shell/route";

const node = (id: string, isBranch = false): Node => ({
  id, name: id, kind: "group", place: null, folder: null, stored: null, nbytes: null, note: "", isBranch,
});

describe("the tree", () => {
  const children = new Map([["a", [node("b"), node("c", true)]], ["c", [node("d")]]]);
  const rows = rowsOf([node("a", true), node("e")], children, new Set(["a", "c"]));

  it("is a list of what is open", () => {
    expect(rows.map(({ node: { id }, level }) => `${id}${level}`)).toEqual(["a1", "b2", "c2", "d3", "e1"]);
  });

  it("moves by keys", () => {
    expect(movedBy("ArrowLeft", rows, 3)).toBe(2);
    expect(movedBy("ArrowDown", rows, 4)).toBe(4);
    expect(movedBy("End", rows, 0)).toBe(4);
    expect(movedBy("x", rows, 0)).toBe(null);
  });
});

describe("addresses", () => {
  it("come back as they were", () => {
    const route = { place: { file: "a b/ü.h5", path: "/x/y & z" }, view: "storage" };
    expect(parse(textOf(route))).toEqual(route);
    expect(parse("")).toEqual({ place: null, view: "" });
  });
});

describe("texts", () => {
  it("are short, and exact where integers are", () => {
    expect(format.number(2 ** 53 - 1)).toBe("9007199254740991");
    expect(format.number("9007199254740993")).toBe("9007199254740993");
    expect(format.number(0.1 + 0.2)).toBe("0.3");
    expect(format.number(null)).toBe("nan");
    expect(format.bytes(1536)).toBe("1.50 KiB");
    expect(format.ratio(1000, 10)).toBe("100x");
    expect(format.cell({ a: 1 })).toBe('{"a":1}');
  });
});
