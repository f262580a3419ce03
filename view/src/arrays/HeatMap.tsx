// A plane as colours. An overview of every n-th value is drawn at once; where one zooms in, what is visible is read anew.

import {
  Box,
  type ColorMap,
  type ColorScaleType,
  type CustomDomain,
  HeatmapMesh,
  HeatmapVis,
  useDomain,
  useSafeDomain,
  useVisCanvasContext,
  useVisDomain,
} from "@h5web/lib";
import { useCallback, useMemo, useState } from "react";
import { Vector3 } from "three";
import * as format from "../format";
import { useColours } from "../shell/colours";
import { Problem } from "../shell/Problem";
import { useAsked } from "../useAsked";
import { type Plane, type Reading, type Scale, readPlane, textured, toAxis, toIndex } from "./plane";
import { type Range, clipped, countOf, indicesOf, sameRange, strided } from "./selection";
import { Visible, type VisibleDomains, sorted } from "./Visible";

const SIDE = 1024;

export interface ColourOptions {
  map: ColorMap;
  isInverted: boolean;
  scale: ColorScaleType;
  domain: CustomDomain;
}

export interface Region {
  x: Range;
  y: Range | null;
}

interface HeatMapProps {
  reading: Reading;
  x: Range;
  y: Range;
  xScale: Scale;
  yScale: Scale;
  isFlipped: boolean;
  title: string;
  dtype: string;
  colours: ColourOptions;
  onRegion: (region: Region) => void;
  onDomain: (plane: Plane) => void;
}

export function HeatMap(props: HeatMapProps) {
  const { reading, x, y, xScale, yScale, onRegion } = props;
  const [region, setRegion] = useState<Region | null>(null);
  const key = JSON.stringify([reading, x, y]);
  const overview = useAsked(
    async (signal) => {
      const plane = await readPlane(reading, strided(x, SIDE), strided(y, SIDE), signal);
      props.onDomain(plane);
      return plane;
    },
    [key],
  );
  const onVisible = useCallback(
    (visible: VisibleDomains) => {
      const part = (whole: Range, scale: Scale, domain: [number, number]) => {
        const [low, high] = sorted([toIndex(scale, domain[0]), toIndex(scale, domain[1])]);
        return clipped(whole, low + 0.5, high + 0.5);
      };
      const next = { x: part(x, xScale, visible.x), y: part(y, yScale, visible.y) };
      setRegion((before) => (before && sameRange(before.x, next.x) && sameRange(before.y, next.y) ? before : next));
      onRegion(next);
    },
    [x, y, xScale, yScale, onRegion],
  );
  if (overview.error) return <Problem error={overview.error} />;
  if (!overview.value) return <p className="loading" role="status">Reading…</p>;
  return <Drawn {...props} plane={overview.value} region={region} onVisible={onVisible} isLoading={overview.isLoading} />;
}

interface DrawnProps extends HeatMapProps {
  plane: Plane;
  region: Region | null;
  onVisible: (visible: VisibleDomains) => void;
  isLoading: boolean;
}

function Drawn({ plane, region, onVisible, isLoading, ...props }: DrawnProps) {
  const { reading, xScale, yScale, colours, title, dtype, isFlipped } = props;
  const values = useMemo(() => textured(plane.array), [plane]);
  const domain = useDomain(values, { scaleType: colours.scale }) ?? [0, 1];
  const [safe] = useSafeDomain(useVisDomain(colours.domain, domain), domain, colours.scale);
  const abscissas = useMemo(() => indicesOf(plane.x).map((i) => toAxis(xScale, i)), [plane, xScale]);
  const ordinates = useMemo(() => indicesOf(plane.y ?? plane.x).map((i) => toAxis(yScale, i)), [plane, yScale]);
  const isCoarse = plane.x.step > 1 || (plane.y?.step ?? 1) > 1;
  return (
    <div className="vis" aria-busy={isLoading} data-drawn={`${values.shape}`}>
      <HeatmapVis
        dataArray={values}
        domain={safe}
        colorMap={colours.map}
        invertColorMap={colours.isInverted}
        scaleType={colours.scale}
        aspect="auto"
        title={title}
        dtype={dtype}
        abscissaParams={{ value: abscissas, label: xScale.label }}
        ordinateParams={{ value: ordinates, label: yScale.label }}
        flipYAxis={isFlipped}
        renderTooltip={({ abscissa, ordinate, xi, yi }) => (
          <>
            {`${yScale.label} ${format.number(ordinate)}, ${xScale.label} ${format.number(abscissa)}`}
            <br />
            <strong>{format.number(plane.array.get(yi, xi))}</strong>
          </>
        )}
      >
        <Visible onVisible={onVisible} />
        {isCoarse && region?.y && (
          <Detail {...{ reading, region, plane, xScale, yScale, colours, isFlipped }} domain={safe} />
        )}
      </HeatmapVis>
    </div>
  );
}

interface DetailProps {
  reading: Reading;
  region: Region;
  plane: Plane;
  xScale: Scale;
  yScale: Scale;
  colours: ColourOptions;
  isFlipped: boolean;
  domain: [number, number];
}

/** The visible part, drawn over the overview with more of its values. */
function Detail({ reading, region, plane, xScale, yScale, colours, isFlipped, domain }: DetailProps) {
  const x = strided(region.x, SIDE);
  const y = strided(region.y ?? region.x, SIDE);
  const isFiner = x.step < plane.x.step || y.step < (plane.y?.step ?? 1);
  const { value } = useAsked(
    isFiner ? (signal) => readPlane(reading, x, y, signal) : null,
    [JSON.stringify([reading, x, y, isFiner])],
  );
  const { dataToWorld } = useVisCanvasContext();
  const { background } = useColours();
  const values = useMemo(() => value && textured(value.array), [value]);
  if (!value?.y || !values) return null;
  // A value's cell reaches half a step to both sides; the overview's cells begin half of ITS step before.
  const corner = (end: "low" | "high") => {
    const at = (range: Range, coarse: Range) => {
      const index = end === "low" ? range.start : range.start + countOf(range) * range.step;
      return index - coarse.step / 2;
    };
    return dataToWorld(
      new Vector3(toAxis(xScale, at(value.x, plane.x)), toAxis(yScale, at(value.y ?? value.x, plane.y ?? plane.x)), 0),
    );
  };
  const box = Box.fromPoints(corner("low"), corner("high"));
  const isReversed = (scale: Scale, flipped: boolean) => (scale.step < 0) !== flipped;
  return (
    <HeatmapMesh
      values={values}
      domain={domain}
      scaleType={colours.scale}
      colorMap={colours.map}
      invertColorMap={colours.isInverted}
      badColor={background}
      size={box.size}
      position={[box.center.x, box.center.y, 0.1]}
      scale={[isReversed(xScale, false) ? -1 : 1, isReversed(yScale, isFlipped) ? -1 : 1, 1]}
    />
  );
}
