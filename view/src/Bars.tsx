// A histogram as bars.

import * as format from "./format";

interface BarsProps {
  label: string;
  edges: number[];
  counts: number[];
}

const WIDTH = 240;
const HEIGHT = 72;

export function Bars({ label, edges, counts }: BarsProps) {
  const most = Math.max(...counts, 1);
  const step = WIDTH / Math.max(1, counts.length);
  return (
    <figure className="bars">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {counts.map((count, i) => {
          // A bin with few values still shows.
          const height = count ? Math.max(1, (count / most) * HEIGHT) : 0;
          return (
            <rect key={i} x={i * step} y={HEIGHT - height} width={Math.max(0.5, step - 0.6)} height={height}>
              <title>{`${format.number(edges[i])} to ${format.number(edges[i + 1])}: ${format.whole(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{format.number(edges[0])}</span>
        <span>{format.number(edges[edges.length - 1])}</span>
      </figcaption>
    </figure>
  );
}
