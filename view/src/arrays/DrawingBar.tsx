// How an array is drawn: as what, in which colours, on which scale.

import { ColorMapSelector, DomainWidget, ScaleSelector, ScaleType, type HistogramParams, useDomain } from "@h5web/lib";
import { useMemo } from "react";
import type { ColourOptions } from "./HeatMap";
import type { Plane } from "./plane";
import type { Drawing } from "./selection";
import type { Part } from "./values";

export interface DrawingOptions {
  part: Part;
  isLog: boolean;
  isDecoded: boolean;
  /** Whether y runs downwards; null leaves it to the axis. */
  isFlipped: boolean | null;
  colours: ColourOptions;
}

const PARTS: Part[] = ["abs", "phase", "real", "imag"];
const SCALES = [ScaleType.Linear, ScaleType.Log, ScaleType.SymLog, ScaleType.Sqrt] as ColourOptions["scale"][];

interface DrawingBarProps {
  drawings: Drawing[];
  drawing: Drawing;
  options: DrawingOptions;
  plane: Plane | null;
  isComplex: boolean;
  isPacked: boolean;
  isFlipped: boolean;
  onDrawing: (drawing: Drawing) => void;
  onOptions: (options: DrawingOptions) => void;
}

export function DrawingBar(props: DrawingBarProps) {
  const { drawings, drawing, options, plane, isComplex, isPacked, isFlipped, onDrawing, onOptions } = props;
  return (
    <div className="bar drawing-bar">
      <div className="segments" role="radiogroup" aria-label="Drawn as">
        {drawings.map((name) => (
          <button key={name} type="button" role="radio" aria-checked={name === drawing} onClick={() => onDrawing(name)}>
            {name}
          </button>
        ))}
      </div>
      {isComplex && drawing !== "matrix" && (
        <label className="choice">
          part
          <select aria-label="part" value={options.part} onChange={(event) => onOptions({ ...options, part: event.target.value as Part })}>
            {PARTS.map((part) => (
              <option key={part}>{part}</option>
            ))}
          </select>
        </label>
      )}
      {isPacked && (
        <label className="check" title="Apply scale factor and offset, and leave fill values out">
          <input
            type="checkbox"
            checked={options.isDecoded}
            onChange={(event) => onOptions({ ...options, isDecoded: event.target.checked })}
          />
          decoded
        </label>
      )}
      {drawing === "line" && (
        <label className="check">
          <input type="checkbox" checked={options.isLog} onChange={(event) => onOptions({ ...options, isLog: event.target.checked })} />
          log scale
        </label>
      )}
      {drawing === "heat map" && (
        <>
          <label className="check">
            <input type="checkbox" checked={isFlipped} onChange={(event) => onOptions({ ...options, isFlipped: event.target.checked })} />
            y downwards
          </label>
          <Colours plane={plane} colours={options.colours} onColours={(colours) => onOptions({ ...options, colours })} />
        </>
      )}
    </div>
  );
}

interface ColoursProps {
  plane: Plane | null;
  colours: ColourOptions;
  onColours: (colours: ColourOptions) => void;
}

function Colours({ plane, colours, onColours }: ColoursProps) {
  const domain = useDomain(plane?.array ?? [], { scaleType: colours.scale }) ?? [0, 1];
  const histogram = useMemo(() => plane && binned(plane, domain), [plane, domain[0], domain[1]]);
  return (
    <div className="colours">
      <DomainWidget
        dataDomain={domain}
        customDomain={colours.domain}
        scaleType={colours.scale}
        histogram={histogram ?? undefined}
        onCustomDomainChange={(next) => onColours({ ...colours, domain: next })}
      />
      <ColorMapSelector
        value={colours.map}
        invert={colours.isInverted}
        onValueChange={(map) => onColours({ ...colours, map })}
        onInversionChange={() => onColours({ ...colours, isInverted: !colours.isInverted })}
      />
      <ScaleSelector value={colours.scale} options={SCALES} onScaleChange={(scale) => onColours({ ...colours, scale })} />
    </div>
  );
}

const BINS = 48;

/** Count the drawn values in bins, for the widget that sets the ends of the colours. */
function binned(plane: Plane, [low, high]: [number, number]): HistogramParams {
  const counts = new Array<number>(BINS).fill(0);
  const width = (high - low) / BINS || 1;
  const { data } = plane.array;
  for (let i = 0; i < data.length; i += 1) {
    const bin = Math.min(BINS - 1, Math.floor(((data[i] ?? NaN) - low) / width));
    if (bin >= 0) counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { values: counts, bins: Array.from({ length: BINS + 1 }, (_, i) => low + i * width) };
}
