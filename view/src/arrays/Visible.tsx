// Tells, from within a drawing, which part of it zoom and pan leave visible.

import { useCameraState, useVisCanvasContext } from "@h5web/lib";
import { useEffect } from "react";
import { useSettled } from "../useAsked";

export interface VisibleDomains {
  x: [number, number];
  y: [number, number];
}

const SETTLE_MS = 150;

/** Calls back once the view has stopped moving. */
export function Visible({ onVisible }: { onVisible: (domains: VisibleDomains) => void }) {
  const { getVisibleDomains } = useVisCanvasContext();
  const text = useCameraState(
    (camera) => {
      const { xVisibleDomain, yVisibleDomain } = getVisibleDomains(camera);
      return JSON.stringify([xVisibleDomain, yVisibleDomain]);
    },
    [getVisibleDomains],
  );
  const settled = useSettled(text, SETTLE_MS);
  useEffect(() => {
    const [x, y] = JSON.parse(settled);
    onVisible({ x, y });
  }, [settled, onVisible]);
  return null;
}

/** Return ends in rising order: axes may be drawn upside down. */
export function sorted([a, b]: [number, number]): [number, number] {
  return a <= b ? [a, b] : [b, a];
}
