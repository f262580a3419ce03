// A line of values; where one zooms in, what is visible is read anew.

import { type AxisScaleType, CurveType, DataCurve, DefaultInteractions, ResetZoomButton, ScaleType, TooltipMesh, VisCanvas, extendDomain, useDomain } from "@h5web/lib";
import { useCallback, useMemo, useState } from "react";
import * as format from "../format";
import { useColours } from "../shell/colours";
import { Problem } from "../shell/Problem";
import { useAsked } from "../useAsked";
import { envelope } from "./envelope";
import type { Region } from "./HeatMap";
import { type Plane, type Reading, type Scale, readPlane, toAxis, toIndex } from "./plane";
import { type Range, clipped, countOf, sameRange, strided } from "./selection";
import type { Numbers } from "./values";
import { Visible, type VisibleDomains, sorted } from "./Visible";

// Values that are read at once, and points that are drawn of them.
const MOST = 1 << 21;
const POINTS = 6000;
const FEW = 200;

/** Return what is drawn of a line: the visible part and as much again on both sides, as few points that look the same. */
function curveOf(plane: Plane, region: Range, scale: Scale) {
  const { start, step } = plane.x;
  const margin = region.stop - region.start;
  const from = Math.max(0, Math.floor((region.start - margin - start) / step));
  const to = Math.min(countOf(plane.x), Math.ceil((region.stop + margin - start) / step));
  const part = { start: start + from * step, stop: start + to * step, step };
  const { at, values } = envelope(plane.array.data.subarray(from, to) as Numbers, part, POINTS);
  return { abscissas: at.map((index) => toAxis(scale, index)), ordinates: Array.from(values) };
}

interface LineChartProps {
  reading: Reading;
  x: Range;
  xScale: Scale;
  yLabel: string;
  isLog: boolean;
  title: string;
  onRegion: (region: Region) => void;
}

export function LineChart({ reading, x, xScale, yLabel, isLog, title, onRegion }: LineChartProps) {
  const [region, setRegion] = useState(x);
  const overview = useAsked(
    (signal) => readPlane(reading, strided(x, MOST), null, signal),
    [JSON.stringify([reading, x])],
  );
  const finer = strided(region, MOST);
  const whole = overview.value;
  const isFiner = finer.step < (whole?.x.step ?? 1);
  const detail = useAsked(
    isFiner ? (signal) => readPlane(reading, finer, null, signal) : null,
    [JSON.stringify([reading, finer, isFiner])],
  );
  const onVisible = useCallback(
    (visible: VisibleDomains) => {
      const [low, high] = sorted([toIndex(xScale, visible.x[0]), toIndex(xScale, visible.x[1])]);
      const next = clipped(x, low, high + 1);
      setRegion((before) => (sameRange(before, next) ? before : next));
      onRegion({ x: next, y: null });
    },
    [x, xScale, onRegion],
  );
  const { line } = useColours();
  const scaleType: AxisScaleType = isLog ? ScaleType.Log : ScaleType.Linear;
  const plane = isFiner && detail.value ? detail.value : whole;
  const drawn = useMemo(() => plane && curveOf(plane, region, xScale), [plane, region, xScale]);
  const domain = useDomain(whole?.array ?? [], { scaleType });
  if (overview.error) return <Problem error={overview.error} />;
  if (!whole || !plane || !drawn) return <p className="loading" role="status">Reading…</p>;
  const last = x.start + Math.max(1, x.stop - x.start - 1);
  const ends = sorted([toAxis(xScale, x.start), toAxis(xScale, last)]);
  return (
    <figure className="vis" aria-label={title} aria-busy={overview.isLoading} data-drawn={drawn.abscissas.length}>
      <VisCanvas
        abscissaConfig={{ visDomain: extendDomain(ends, 0.01), showGrid: true, label: xScale.label, formatTick: format.number }}
        ordinateConfig={{
          visDomain: extendDomain(domain ?? [isLog ? 1 : 0, 10], 0.05, scaleType),
          showGrid: true,
          label: yLabel,
          scaleType,
          formatTick: isLog ? undefined : format.number,
        }}
      >
        <DefaultInteractions />
        <ResetZoomButton />
        <Visible onVisible={onVisible} />
        <TooltipMesh
          guides="vertical"
          renderTooltip={(at) => {
            const index = Math.round((toIndex(xScale, at) - plane.x.start) / plane.x.step);
            const near = Math.min(Math.max(index, 0), countOf(plane.x) - 1);
            const place = toAxis(xScale, plane.x.start + near * plane.x.step);
            return `${xScale.label} ${format.number(place)}: ${format.number(plane.array.get(near))}`;
          }}
        />
        <DataCurve
          abscissas={drawn.abscissas}
          ordinates={drawn.ordinates}
          color={line}
          curveType={drawn.abscissas.length <= FEW ? CurveType.LineAndGlyphs : CurveType.LineOnly}
          ignoreValue={(value) => !Number.isFinite(value)}
        />
      </VisCanvas>
    </figure>
  );
}
