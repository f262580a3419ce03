// Planes and lines as the drawings want them: numbers as ndarrays, y before x, and axes in coordinates.

import ndarray, { type NdArray } from "ndarray";
import { slice } from "../api";
import type { Info, Place } from "../types";
import { type AxisRoles, type Range, countOf, isTurned, selectionOf } from "./selection";
import { type Numbers, type Part, partOf } from "./values";

export interface Plane {
  array: NdArray<Numbers>;
  x: Range;
  y: Range | null;
}

/** What is read of an array: which axes, which part of complex values, and whether NetCDF's packing is undone. */
export interface Reading {
  place: Place;
  roles: AxisRoles;
  part: Part;
  isDecoded: boolean;
}

/** Read the values of two ranges, y before x. */
export async function readPlane(reading: Reading, x: Range, y: Range | null, signal: AbortSignal): Promise<Plane> {
  const { place, roles, part, isDecoded } = reading;
  const values = await slice(place, { selection: selectionOf(roles, x, y), decode: isDecoded ? 1 : 0 }, signal);
  const numbers = partOf(values, part);
  if (!y) return { array: ndarray(numbers, [countOf(x)]), x, y };
  const [rows, columns] = [countOf(y), countOf(x)];
  if (!isTurned(roles)) return { array: ndarray(numbers, [rows, columns]), x, y };
  const turned = numbers.slice() as Numbers;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) turned[row * columns + column] = numbers[column * rows + row] ?? 0;
  }
  return { array: ndarray(turned, [rows, columns]), x, y };
}

/** Return numbers that WebGL takes as a texture. Doubles beyond single precision become infinite there. */
export function textured(array: NdArray<Numbers>): NdArray<Float32Array | Uint8Array> {
  const { data, shape } = array;
  if (data instanceof Uint8Array || data instanceof Float32Array) return ndarray(data, shape);
  return ndarray(Float32Array.from(data as ArrayLike<number>), shape);
}

/** How indices of an axis become what stands at its ticks. */
export interface Scale {
  label: string;
  /** The coordinate of index 0, and of the way to the next. */
  origin: number;
  step: number;
  isIndex: boolean;
}

export const toAxis = (scale: Scale, index: number): number => scale.origin + scale.step * index;
export const toIndex = (scale: Scale, value: number): number => (value - scale.origin) / scale.step;

/** Return the scale of an axis whose coordinates are evenly spaced; other axes are labelled by their indices. */
export function scaleOf(label: string, coordinates: ArrayLike<number> | null): Scale {
  const index = { label, origin: 0, step: 1, isIndex: true };
  const count = coordinates?.length ?? 0;
  if (!coordinates || count < 2) return index;
  const origin = coordinates[0] ?? NaN;
  const step = ((coordinates[count - 1] ?? NaN) - origin) / (count - 1);
  if (!Number.isFinite(step) || step === 0) return index;
  const isOff = (value: number, i: number) => !(Math.abs(origin + i * step - value) <= Math.abs(step) * 0.05);
  return Array.from(coordinates).some(isOff) ? index : { label, origin, step, isIndex: false };
}

/** Read the coordinates of an axis if it has some and they are few enough; null otherwise. */
export async function readCoordinates(place: Place, info: Info, axis: number, signal: AbortSignal) {
  const path = info.coordinates?.[axis];
  const length = info.shape?.[axis] ?? 0;
  if (!path || length > 100_000) return null;
  try {
    const values = await slice({ file: place.file, path }, { selection: ":", decode: 1 }, signal);
    return values.shape.length === 1 && values.numbers.length === length ? values.numbers : null;
  } catch {
    return null;
  }
}
