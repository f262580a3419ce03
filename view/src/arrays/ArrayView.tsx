// An array: which axes are drawn, how, and what is known of the shown part.

import { ScaleType } from "@h5web/lib";
import { useCallback, useEffect, useMemo, useState } from "react";
import { download, type Parameters } from "../api";
import type { Info, Place } from "../types";
import { useAsked } from "../useAsked";
import { AxisControls } from "./AxisControls";
import { DrawingBar, type DrawingOptions } from "./DrawingBar";
import { HeatMap, type Region } from "./HeatMap";
import { LineChart } from "./LineChart";
import { Matrix } from "./Matrix";
import { pictureOf } from "./picture";
import { type Plane, type Reading, type Scale, readCoordinates, scaleOf } from "./plane";
import { RgbImage } from "./RgbImage";
import { type AxisRoles, type Drawing, drawingsOf, firstRange, isTurned, rolesOf, wholeRange, selectionOf } from "./selection";
import { Statistics } from "./Statistics";
import { isComplex, isDrawable } from "./values";

interface ArrayViewProps {
  place: Place;
  info: Info;
  onSelection: (selection: string) => void;
}

function hasPacking(info: Info): boolean {
  const { scale_factor: factor, add_offset: offset, fill_value: fill } = info;
  return (typeof factor === "number" && factor !== 1) || (typeof offset === "number" && offset !== 0) || (fill !== null && fill !== undefined);
}

/** Return the ranges that are read first for the drawn axes. */
function regionOf(shape: number[], roles: AxisRoles, drawing: Drawing): Region | null {
  if (roles.x === null) return null;
  const [across, down] = [shape[roles.x] ?? 1, roles.y === null ? 1 : (shape[roles.y] ?? 1)];
  if (drawing === "matrix") return { x: wholeRange(across), y: roles.y === null ? null : wholeRange(down) };
  return { x: firstRange(across, down), y: roles.y === null ? null : firstRange(down, across) };
}

/** More values than the server draws at once are thinned out. */
const PICTURE_VALUES = 2 ** 24;

const OPTIONS: DrawingOptions = {
  part: "abs",
  isLog: false,
  isDecoded: true,
  isFlipped: null,
  colours: { map: "Viridis", isInverted: false, scale: ScaleType.Linear, domain: [null, null] },
};

export default function ArrayView(props: ArrayViewProps) {
  if (!props.info.shape) return <p className="empty">This dataset is empty: it has a type, and no values.</p>;
  return <Values {...props} />;
}

function Values({ place, info, onSelection }: ArrayViewProps) {
  const shape = info.shape ?? [];
  const canDraw = isDrawable(info.dtype) && shape.every((length) => length > 0);
  const drawings = useMemo(() => drawingsOf(shape, canDraw, Boolean(info.image) || info.dtype === "uint8"), [info]);
  const [drawing, setDrawing] = useState<Drawing>(drawings[0] ?? "matrix");
  const [roles, setRoles] = useState(() => rolesOf(shape, drawing));
  const [ranges, setRanges] = useState(() => regionOf(shape, roles, drawing));
  const [shown, setShown] = useState(ranges);
  const [options, setOptions] = useState(OPTIONS);
  const [plane, setPlane] = useState<Plane | null>(null);
  const isTime = /M8|m8|datetime|timedelta/.test(info.dtype ?? "");
  const isPacked = hasPacking(info);
  const isDecoded = isPacked && options.isDecoded;
  const names = shape.map((_, axis) => info.dimensions?.[axis] || `axis ${axis}`);

  const change = (next: AxisRoles, as: Drawing = drawing) => {
    const hasMoved = (as === "matrix") !== (drawing === "matrix") || next.x !== roles.x || next.y !== roles.y || next.channel !== roles.channel;
    setRoles(next);
    if (!hasMoved) return;
    const first = regionOf(shape, next, as);
    setRanges(first);
    setShown(first);
  };
  const draw = (next: Drawing) => {
    setDrawing(next);
    change({ ...rolesOf(shape, next), indices: roles.indices }, next);
  };
  const onRegion = useCallback((region: Region) => setShown(region), []);

  const selection = selectionOf(roles, shown?.x ?? null, shown?.y ?? null);
  useEffect(() => onSelection(selection), [selection, onSelection]);

  const axes = useAsked(
    async (signal) => {
      const of = async (axis: number | null) =>
        scaleOf(names[axis ?? 0] ?? "", axis === null ? null : await readCoordinates(place, info, axis, signal));
      return { x: await of(roles.x), y: await of(roles.y) };
    },
    [info, roles.x, roles.y],
  ).value;
  const reading: Reading = useMemo(() => ({ place, roles, part: options.part, isDecoded }), [place, roles, options.part, isDecoded]);
  const isFlipped = options.isFlipped ?? (axes?.y.isIndex === false ? false : true);
  const label = `${place.path} [${selection}]`;
  const part = isComplex(info.dtype) ? options.part : null;
  const picture = drawing === "heat map" || drawing === "image"
    ? { ...pictureOf(options.colours, drawing), part, turn: isTurned(roles) ? 1 : 0, flip: drawing === "image" ? "" : flipOf(axes, isFlipped) }
    : null;

  return (
    <div className="array-view">
      <DrawingBar
        {...{ drawings, drawing, options, plane, isPacked, isFlipped }}
        isComplex={isComplex(info.dtype)}
        onDrawing={draw}
        onOptions={setOptions}
      />
      {shape.length > 0 && (
        <AxisControls
          {...{ shape, names, roles }}
          x={ranges?.x ?? null}
          y={ranges?.y ?? null}
          onRoles={(next) => change(next)}
          onRange={(role, range) => {
            const next = ranges && { ...ranges, [role]: range };
            setRanges(next);
            setShown(next);
          }}
        />
      )}
      <div className="side-by-side">
        <div className="drawing">
          {drawing === "matrix" && (
            <Matrix
              {...{ place, roles, isDecoded, onRegion }}
              x={ranges?.x ?? null}
              y={ranges?.y ?? null}
              isComplex={isComplex(info.dtype)}
              isNumber={canDraw && !isTime && info.dtype !== "bool"}
            />
          )}
          {drawing === "heat map" && axes && ranges?.y && (
            <HeatMap
              {...{ reading, isFlipped, onRegion }}
              x={ranges.x}
              y={ranges.y}
              xScale={axes.x}
              yScale={axes.y}
              title={label}
              colours={options.colours}
              onDomain={setPlane}
            />
          )}
          {drawing === "image" && axes && ranges?.y && (
            <RgbImage {...{ reading, onRegion }} x={ranges.x} y={ranges.y} xScale={axes.x} yScale={axes.y} title="" />
          )}
          {drawing === "line" && axes && ranges && (
            <LineChart
              {...{ reading, onRegion }}
              x={ranges.x}
              xScale={axes.x}
              yLabel={info.units ?? ""}
              isLog={options.isLog}
              title={label}
            />
          )}
        </div>
        <aside aria-label="The shown part">
          {canDraw && !isTime && <Statistics {...{ place, selection, isDecoded, part }} />}
          <Exports {...{ place, selection, isDecoded, drawing }} picture={canDraw ? picture : null} />
        </aside>
      </div>
    </div>
  );
}

/** Return the axes that a picture has to turn round: its first row is the upper one, as the drawing's may not be. */
function flipOf(axes: { x: Scale; y: Scale } | undefined, isFlipped: boolean): string {
  if (!axes) return "";
  return (axes.x.step < 0 ? "x" : "") + ((axes.y.step < 0) === isFlipped ? "y" : "");
}

interface ExportsProps {
  place: Place;
  selection: string;
  isDecoded: boolean;
  drawing: Drawing;
  picture: Parameters | null;
}

function Exports({ place, selection, isDecoded, drawing, picture }: ExportsProps) {
  const name = (place.path.split("/").pop() || place.file.split("/").pop()) ?? "values";
  // The colours of an image are what is stored.
  const decode = isDecoded && drawing !== "image" ? 1 : 0;
  const link = (kind: string, more = {}) => download("slice", { ...place, selection, decode, format: kind, ...more });
  return (
    <p className="exports" aria-label="Save what is shown">
      <span>Save</span>
      <a href={link("npy")} download={`${name}.npy`}>NPY</a>
      {drawing !== "image" && <a href={link("csv")} download={`${name}.csv`}>CSV</a>}
      {picture && <a href={link("png", { ...picture, most: PICTURE_VALUES })} download={`${name}.png`}>PNG</a>}
    </p>
  );
}
