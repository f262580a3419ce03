// Bytes of a slice -> typed numbers.

export type Numbers = Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/** The values of a slice in C order. `imaginary` is there for complex values, of which `numbers` are the real parts. */
export interface Values {
  shape: number[];
  numbers: Numbers;
  imaginary?: Numbers;
  dtype: string;
}

const READERS: Record<string, (buffer: ArrayBuffer) => Numbers> = {
  b1: (buffer) => new Uint8Array(buffer),
  i1: (buffer) => new Int8Array(buffer),
  i2: (buffer) => new Int16Array(buffer),
  i4: (buffer) => new Int32Array(buffer),
  i8: (buffer) => Float64Array.from(new BigInt64Array(buffer), Number),
  u1: (buffer) => new Uint8Array(buffer),
  u2: (buffer) => new Uint16Array(buffer),
  u4: (buffer) => new Uint32Array(buffer),
  u8: (buffer) => Float64Array.from(new BigUint64Array(buffer), Number),
  f2: (buffer) => Float32Array.from(new Uint16Array(buffer), half),
  f4: (buffer) => new Float32Array(buffer),
  f8: (buffer) => new Float64Array(buffer),
  c8: (buffer) => new Float32Array(buffer),
  c16: (buffer) => new Float64Array(buffer),
  M8: (buffer) => Float64Array.from(new BigInt64Array(buffer), instant),
  m8: (buffer) => Float64Array.from(new BigInt64Array(buffer), instant),
};

const NAMES: Record<string, string> = {
  bool: "b1",
  float16: "f2",
  float32: "f4",
  float64: "f8",
  complex64: "c8",
  complex128: "c16",
};

/** Return NumPy's short code ("f4") of a dtype's text ("<f4", "float32", "datetime64[ns]"), or "" for other kinds. */
export function codeOf(dtype: string): string {
  const text = dtype.trim().replace(/^[<>|=]/, "");
  const known = NAMES[text];
  if (known) return known;
  const integer = /^(u?)int(8|16|32|64)$/.exec(text);
  if (integer) return `${integer[1] ? "u" : "i"}${Number(integer[2]) / 8}`;
  if (/^(datetime64|M8)/.test(text)) return "M8";
  if (/^(timedelta64|m8)/.test(text)) return "m8";
  return text in READERS ? text : "";
}

export const isDrawable = (dtype: string | null | undefined): boolean => codeOf(dtype ?? "") !== "";
export const isComplex = (dtype: string | null | undefined): boolean => codeOf(dtype ?? "").startsWith("c");

/** Read little-endian bytes as numbers; integers of 64 bits become the nearest doubles, which drawing needs only. */
export function decode(buffer: ArrayBuffer, dtype: string, shape: number[]): Values {
  const code = codeOf(dtype);
  const reader = READERS[code];
  if (!reader) throw new Error(`values of dtype ${dtype} cannot be drawn; the matrix shows them`);
  const numbers = reader(buffer);
  if (!code.startsWith("c")) return { shape, numbers, dtype };
  const make = code === "c8" ? Float32Array : Float64Array;
  const real = new make(numbers.length / 2);
  const imaginary = new make(numbers.length / 2);
  for (let i = 0; i < real.length; i += 1) {
    real[i] = numbers[2 * i] ?? 0;
    imaginary[i] = numbers[2 * i + 1] ?? 0;
  }
  return { shape, numbers: real, imaginary, dtype };
}

/** Number of an IEEE 754 half. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 25) * (1024 + fraction);
}

const NOT_A_TIME = -(2n ** 63n);

function instant(ticks: bigint): number {
  return ticks === NOT_A_TIME ? NaN : Number(ticks);
}

export type Part = "abs" | "phase" | "real" | "imag";

/** Return one real part of complex values, and real values as they are. */
export function partOf(values: Values, part: Part): Numbers {
  const { numbers, imaginary } = values;
  if (!imaginary || part === "real") return numbers;
  if (part === "imag") return imaginary;
  const of = part === "abs" ? Math.hypot : (re: number, im: number) => Math.atan2(im, re);
  return numbers.map((re, i) => of(re, imaginary[i] ?? 0)) as Numbers;
}
