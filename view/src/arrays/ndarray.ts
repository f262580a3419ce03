// What the drawings use of the package `ndarray`, in whose place the bundler puts this file.
//
// The package compiles the code of its accessors when it runs, which the page's content policy forbids: a policy
// without `unsafe-eval` is worth more than general strides, which no drawing needs.

type Data = ArrayLike<unknown> & { constructor: { name: string } };

/** A view of flat values in C order, with a shape. */
class FlatArray<D extends Data> {
  readonly stride: number[];
  readonly offset = 0;

  constructor(
    readonly data: D,
    readonly shape: number[],
  ) {
    this.stride = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, length) => product * length, 1));
  }

  get size(): number {
    return this.shape.reduce((product, length) => product * length, 1);
  }

  get dimension(): number {
    return this.shape.length;
  }

  /** The kind of values, as `ndarray` names it. */
  get dtype(): string {
    const { name } = this.data.constructor;
    const names: Record<string, string> = { Uint8ClampedArray: "uint8_clamped", BigInt64Array: "bigint64", BigUint64Array: "biguint64" };
    return names[name] ?? (name.endsWith("Array") && name !== "Array" ? name.slice(0, -5).toLowerCase() : "array");
  }

  index(...at: number[]): number {
    return at.reduce((sum, index, axis) => sum + index * (this.stride[axis] ?? 0), 0);
  }

  get(...at: number[]): D[number] {
    return this.data[this.index(...at)];
  }
}

export default function ndarray<D extends Data>(data: D, shape: number[] = [data.length]): FlatArray<D> {
  return new FlatArray(data, shape);
}
