// A plane as colours. An overview of every n-th value is drawn at once; where one zooms in, what is visible is read anew.

import {
  Box,
  ColorBar,
  type ColorMap,
  type ColorScaleType,
  type CustomDomain,
  DefaultInteractions,
  HeatmapMesh,
  ResetZoomButton,
  TooltipMesh,
  VisCanvas,
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
import { type Range, clipped, countOf, sameRange, strided } from "./selection";
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
  const { reading, xScale, yScale, colours, title, isFlipped } = props;
  const values = useMemo(() => textured(plane.array), [plane]);
  const domain = widened(useDomain(values, { scaleType: colours.scale }) ?? [0, 1]);
  const [safe] = useSafeDomain(useVisDomain(colours.domain, domain), domain, colours.scale);
  const { background } = useColours();
  const y = plane.y ?? plane.x;
  const isCoarse = plane.x.step > 1 || y.step > 1;
  return (
    <figure className="vis" aria-label={title} aria-busy={isLoading} data-drawn={`${values.shape}`}>
      <VisCanvas
        aspect="auto"
        abscissaConfig={{ visDomain: endsOf(plane.x, xScale), label: xScale.label, formatTick: format.number }}
        ordinateConfig={{ visDomain: endsOf(y, yScale), label: yScale.label, flip: isFlipped, formatTick: format.number }}
      >
        <DefaultInteractions />
        <ResetZoomButton />
        <Visible onVisible={onVisible} />
        <TooltipMesh
          guides="both"
          renderTooltip={(across, down) => <Tip {...{ plane, across, down, xScale, yScale }} />}
        />
        <HeatmapMesh
          values={values}
          domain={safe}
          scaleType={colours.scale}
          colorMap={colours.map}
          invertColorMap={colours.isInverted}
          badColor={background}
          scale={[isReversed(xScale, false) ? -1 : 1, isReversed(yScale, isFlipped) ? -1 : 1, 1]}
        />
        {isCoarse && region?.y && (
          <Detail {...{ reading, region, plane, xScale, yScale, colours, isFlipped }} domain={safe} />
        )}
      </VisCanvas>
      <ColorBar domain={safe} scaleType={colours.scale} colorMap={colours.map} invertColorMap={colours.isInverted} withBounds />
    </figure>
  );
}

/** Colours need two ends, which values that are all the same do not have. */
function widened([low, high]: [number, number]): [number, number] {
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/** Return the ends of an axis. Each value that is drawn stands for all up to the next one. */
function endsOf(range: Range, scale: Scale): [number, number] {
  const first = range.start - 0.5;
  return sorted([toAxis(scale, first), toAxis(scale, first + countOf(range) * range.step)]);
}

const isReversed = (scale: Scale, isFlipped: boolean): boolean => scale.step < 0 !== isFlipped;

interface TipProps {
  plane: Plane;
  across: number;
  down: number;
  xScale: Scale;
  yScale: Scale;
}

/** The value under the pointer, and where it is. */
function Tip({ plane, across, down, xScale, yScale }: TipProps) {
  const at = (range: Range, scale: Scale, value: number) => {
    const index = Math.floor((toIndex(scale, value) + 0.5 - range.start) / range.step);
    return Math.min(Math.max(index, 0), countOf(range) - 1);
  };
  const rows = plane.y ?? plane.x;
  const [row, column] = [at(rows, yScale, down), at(plane.x, xScale, across)];
  const place = (range: Range, scale: Scale, i: number) => format.number(toAxis(scale, range.start + i * range.step));
  return (
    <>
      {`${yScale.label} ${place(rows, yScale, row)}, ${xScale.label} ${place(plane.x, xScale, column)}`}
      <br />
      <strong>{format.number(plane.array.get(row, column))}</strong>
    </>
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
  const [left, right] = endsOf(value.x, xScale);
  const [low, high] = endsOf(value.y, yScale);
  const box = Box.fromPoints(dataToWorld(new Vector3(left, low, 0)), dataToWorld(new Vector3(right, high, 0)));
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
