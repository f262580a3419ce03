// Three channels as the colours of an image.

import { RgbVis } from "@h5web/lib";
import ndarray from "ndarray";
import { useCallback } from "react";
import { slice } from "../api";
import { Problem } from "../shell/Problem";
import { useAsked } from "../useAsked";
import type { Region } from "./HeatMap";
import type { Reading, Scale } from "./plane";
import { type Range, clipped, countOf, indicesOf, isTurned, selectionOf, strided } from "./selection";
import { Visible, type VisibleDomains, sorted } from "./Visible";

const SIDE = 1024;

interface RgbImageProps {
  reading: Reading;
  x: Range;
  y: Range;
  xScale: Scale;
  yScale: Scale;
  title: string;
  onRegion: (region: Region) => void;
}

/** Return values that are drawn as they are: bytes, or fractions of 1. Other numbers are scaled by their largest. */
function colourValues(numbers: ArrayLike<number>): Uint8Array | Float32Array {
  if (numbers instanceof Uint8Array) return numbers;
  let most = 1;
  for (let i = 0; i < numbers.length; i += 1) most = Math.max(most, numbers[i] ?? 0);
  return Float32Array.from(numbers, (value) => Math.max(0, value / most));
}

/** Return pixels row by row that came column by column. */
function turned<T extends Uint8Array | Float32Array>(pixels: T, rows: number, columns: number, channels: number): T {
  const result = pixels.slice() as T;
  for (let at = 0; at < pixels.length; at += 1) {
    const pixel = Math.floor(at / channels);
    const [row, column] = [pixel % rows, Math.floor(pixel / rows)];
    result[(row * columns + column) * channels + (at % channels)] = pixels[at] ?? 0;
  }
  return result;
}

export function RgbImage({ reading, x, y, xScale, yScale, title, onRegion }: RgbImageProps) {
  const [across, down] = [strided(x, SIDE), strided(y, SIDE)];
  const { value, error, isLoading } = useAsked(
    async (signal) => {
      const { shape, numbers } = await slice(reading.place, { selection: selectionOf(reading.roles, across, down) }, signal);
      const channels = shape[shape.length - 1] ?? 3;
      const [rows, columns] = [countOf(down), countOf(across)];
      const drawn = colourValues(numbers);
      return ndarray(isTurned(reading.roles) ? turned(drawn, rows, columns, channels) : drawn, [rows, columns, channels]);
    },
    [JSON.stringify([reading, across, down])],
  );
  const onVisible = useCallback(
    (visible: VisibleDomains) => {
      const part = (whole: Range, domain: [number, number]) => clipped(whole, ...sorted(domain));
      onRegion({ x: part(x, visible.x), y: part(y, visible.y) });
    },
    [x, y, onRegion],
  );
  if (error) return <Problem error={error} />;
  if (!value) return <p className="loading" role="status">Reading…</p>;
  return (
    <div className="vis" aria-busy={isLoading} data-drawn={`${value.shape}`}>
      <RgbVis
        dataArray={value}
        aspect="equal"
        title={title}
        abscissaParams={{ value: Array.from(indicesOf(across)), label: xScale.label }}
        ordinateParams={{ value: Array.from(indicesOf(down)), label: yScale.label }}
        flipYAxis
      >
        <Visible onVisible={onVisible} />
      </RgbVis>
    </div>
  );
}
