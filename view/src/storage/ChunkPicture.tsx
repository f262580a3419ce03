// Chunks as cells of a picture: colour for the ratio, stripes for chunks of one value, a frame around what is touched.

import { useEffect, useMemo, useRef, useState } from "react";
import type { KeyboardEvent, PointerEvent } from "react";
import { useSize } from "../tables/Grid";
import type { Storage, StoredChunk } from "../types";
import { type Layout, cellAt, cornerOf, indexOf, isTouched, layoutOf, positionOf, spanOf, toneOf } from "./chunks";

interface ChunkPictureProps {
  storage: Storage;
  selection: string;
  onChoose: (chunk: StoredChunk | null) => void;
}

// Light to dark as in ColorBrewer's YlGnBu: larger ratios are darker.
const RAMP = ["#e6f2c3", "#a5dab7", "#57bec1", "#2c9ac0", "#2468ac", "#203f92"].map((text) =>
  [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)),
);

function colourOf(tone: number): string {
  const at = Math.min(tone, 0.9999) * (RAMP.length - 1);
  const [low, high] = [RAMP[Math.floor(at)] ?? [], RAMP[Math.floor(at) + 1] ?? []];
  const mixed = low.map((value, i) => Math.round(value + (at % 1) * ((high[i] ?? value) - value)));
  return `rgb(${mixed.join(", ")})`;
}

const SPECIAL = "#b9bec6";
const TOUCHED = "#e4572e";

export function ChunkPicture({ storage, selection, onChoose }: ChunkPictureProps) {
  const { ref, width } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const { chunks, grid } = storage;
  const layout = useMemo(() => layoutOf(grid, chunks.length, Math.max(60, width)), [grid, chunks, width]);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context) draw(context, storage, selection, layout, active);
  }, [storage, selection, layout, active]);

  const choose = (at: number | null) => {
    setActive(at);
    onChoose(at === null ? null : (chunks[at] ?? null));
  };
  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>) => {
    const at = cellAt(layout, event.nativeEvent.offsetX, event.nativeEvent.offsetY);
    if (at !== null && at < chunks.length) choose(at);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = chunks.length - 1;
    const moves: Record<string, number> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: layout.columns,
      ArrowUp: -layout.columns,
    };
    const ends: Record<string, number> = { Home: 0, End: last };
    const by = moves[event.key];
    const to = ends[event.key] ?? (by === undefined ? undefined : (active ?? -Math.sign(by)) + by);
    if (to === undefined) return;
    event.preventDefault();
    choose(Math.min(Math.max(to, 0), last));
  };
  return (
    <figure className="chunks" ref={ref}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${chunks.length} chunks, coloured by their compression ratio`}
        width={layout.width}
        height={layout.height}
        onPointerMove={onPointerMove}
        onKeyDown={onKeyDown}
      />
      <figcaption>
        <span>1x</span>
        <span className="legend" aria-hidden="true" style={{ background: gradient() }} />
        <span>100x</span>
        <span className="swatch" style={{ background: SPECIAL }} /> one value or unwritten
        {selection !== "" && (
          <>
            <span className="swatch" style={{ border: `2px solid ${TOUCHED}` }} /> in the shown slice
          </>
        )}
      </figcaption>
    </figure>
  );
}

function gradient(): string {
  return `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(colourOf).join(", ")})`;
}

function draw(context: CanvasRenderingContext2D, storage: Storage, selection: string, layout: Layout, active: number | null) {
  const { chunks, grid, chunk_shape: shape } = storage;
  const { cell } = layout;
  const gap = cell > 6 ? 1 : 0;
  const span = selection === "" ? null : spanOf(selection, shape, grid);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  chunks.forEach((chunk, i) => {
    const { x, y } = cornerOf(layout, i);
    context.fillStyle = chunk.special ? SPECIAL : colourOf(toneOf(chunk.nbytes, chunk.stored ?? 0));
    context.fillRect(x, y, cell - gap, cell - gap);
    if (span && isTouched(positionOf(indexOf(chunk.index, grid), grid), span)) frame(context, x, y, cell - gap, TOUCHED);
    if (i === active) frame(context, x, y, cell - gap, "#111");
  });
}

function frame(context: CanvasRenderingContext2D, x: number, y: number, size: number, colour: string) {
  context.strokeStyle = colour;
  context.lineWidth = size > 8 ? 2 : 1;
  context.strokeRect(x + 1, y + 1, size - 2, size - 2);
}
