// Two columns of a table, plotted against each other.

import { Glyphs, GlyphType, ResetZoomButton, DefaultInteractions, TooltipMesh, VisCanvas, extendDomain, getDomain } from "@h5web/lib";
import { useMemo, useState } from "react";
import { Color } from "three";
import { json, points } from "../api";
import * as format from "../format";
import { useColours } from "../shell/colours";
import { Problem } from "../shell/Problem";
import type { Place, Schema } from "../types";
import { useAsked } from "../useAsked";

const MOST = 100_000;
const PLOTTED = ["integer", "float", "bool", "time"];

export default function PlotView({ place, where }: { place: Place; where: string }) {
  const { value: schema, error } = useAsked((signal) => json<Schema>("schema", { ...place }, signal), [place.file, place.path]);
  const [chosen, setChosen] = useState<{ x?: string; y?: string }>({});
  const names = (schema?.columns ?? []).filter((column) => PLOTTED.includes(column.kind)).map((column) => column.name);
  const x = chosen.x ?? names[0];
  const y = chosen.y ?? names[1] ?? names[0];
  if (error) return <Problem error={error} />;
  if (!schema) return null;
  if (!x || !y) return <p className="empty">This table has no columns of numbers.</p>;
  return (
    <div className="plot-view">
      <div className="bar">
        <Choice label="x" value={x} names={names} onChange={(name) => setChosen({ ...chosen, x: name })} />
        <Choice label="y" value={y} names={names} onChange={(name) => setChosen({ ...chosen, y: name })} />
        {where !== "" && <span className="quiet">where {where}</span>}
      </div>
      <Plot place={place} x={x} y={y} where={where} />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  names: string[];
  onChange: (name: string) => void;
}

function Choice({ label, value, names, onChange }: ChoiceProps) {
  return (
    <label className="choice">
      {label}
      <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Plot({ place, x, y, where }: { place: Place; x: string; y: string; where: string }) {
  const { value, error, isLoading } = useAsked(
    (signal) => points(place, { x, y, where, most: MOST }, signal),
    [place.file, place.path, x, y, where],
  );
  const { line } = useColours();
  const axes = useMemo(() => {
    const pairs = value?.pairs ?? new Float64Array();
    const abscissas = pairs.filter((_, i) => i % 2 === 0);
    const ordinates = pairs.filter((_, i) => i % 2 === 1);
    return { abscissas, ordinates, x: domainOf(abscissas), y: domainOf(ordinates) };
  }, [value]);
  if (error) return <Problem error={error} />;
  if (!value) return <p className="loading" role="status">Reading…</p>;
  const count = value.pairs.length / 2;
  return (
    <figure className="plot" aria-label={`${y} by ${x}`} aria-busy={isLoading}>
      <VisCanvas
        abscissaConfig={{ visDomain: axes.x, showGrid: true, label: x, formatTick: format.number }}
        ordinateConfig={{ visDomain: axes.y, showGrid: true, label: y, formatTick: format.number }}
      >
        <DefaultInteractions />
        <ResetZoomButton />
        <TooltipMesh guides="both" renderTooltip={(a, b) => `${x} ${format.number(a)}, ${y} ${format.number(b)}`} />
        <Glyphs abscissas={axes.abscissas} ordinates={axes.ordinates} glyphType={GlyphType.Circle} color={glyphColour(line)} size={count > 5000 ? 3 : 6} />
      </VisCanvas>
      <figcaption>
        {count < value.total ? `${format.whole(count)} of ${format.whole(value.total)} rows, evenly taken` : `${format.whole(count)} rows`}
      </figcaption>
    </figure>
  );
}

/** Points are drawn by a shader that takes linear colours for those of the screen; this makes up for it. */
function glyphColour(colour: string): string {
  return `#${new Color(colour).convertLinearToSRGB().getHexString()}`;
}

function domainOf(values: Float64Array): [number, number] {
  return extendDomain(getDomain(values) ?? [0, 1], 0.04);
}
