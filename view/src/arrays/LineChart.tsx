// A line of values; where one zooms in, what is visible is read anew.

import { type AxisScaleType, CurveType, DataCurve, DefaultInteractions, ResetZoomButton, ScaleType, TooltipMesh, VisCanvas, extendDomain, useDomain } from "@h5web/lib";
import { useCallback, useMemo, useState } from "react";
import * as format from "../format";
import { useColours } from "../shell/colours";
import { Problem } from "../shell/Problem";
import { useAsked } from "../useAsked";
import type { Region } from "./HeatMap";
import { type Reading, type Scale, readPlane, toAxis, toIndex } from "./plane";
import { type Range, clipped, indicesOf, sameRange, strided } from "./selection";
import { Visible, type VisibleDomains, sorted } from "./Visible";

const MOST = 50_000;
const FEW = 200;

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
  const isFiner = finer.step < (overview.value?.x.step ?? 1);
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
  const whole = overview.value;
  const plane = isFiner && detail.value ? detail.value : whole;
  const abscissas = useMemo(() => plane && indicesOf(plane.x).map((i) => toAxis(xScale, i)), [plane, xScale]);
  const domain = useDomain(whole?.array ?? [], { scaleType });
  if (overview.error) return <Problem error={overview.error} />;
  if (!whole || !plane || !abscissas) return <p className="loading" role="status">Reading…</p>;
  const last = whole.x.start + (plane ? Math.max(1, x.stop - x.start - 1) : 1);
  const ends = sorted([toAxis(xScale, x.start), toAxis(xScale, last)]);
  return (
    <figure className="vis" aria-label={title} aria-busy={overview.isLoading} data-drawn={`${plane.array.shape}`}>
      <VisCanvas
        abscissaConfig={{ visDomain: extendDomain(ends, 0.01), showGrid: true, label: xScale.label, isIndexAxis: xScale.isIndex }}
        ordinateConfig={{
          visDomain: extendDomain(domain ?? [isLog ? 1 : 0, 10], 0.05, scaleType),
          showGrid: true,
          label: yLabel,
          scaleType,
        }}
      >
        <DefaultInteractions />
        <ResetZoomButton />
        <Visible onVisible={onVisible} />
        <TooltipMesh
          guides="vertical"
          renderTooltip={(at) => {
            const index = Math.round((toIndex(xScale, at) - plane.x.start) / plane.x.step);
            const value = plane.array.get(Math.min(Math.max(index, 0), abscissas.length - 1));
            return `${xScale.label} ${format.number(abscissas[index])}: ${format.number(value)}`;
          }}
        />
        <DataCurve
          abscissas={abscissas}
          ordinates={plane.array.data}
          color={line}
          curveType={abscissas.length <= FEW ? CurveType.LineAndGlyphs : CurveType.LineOnly}
          ignoreValue={(value) => !Number.isFinite(value)}
        />
      </VisCanvas>
    </figure>
  );
}
