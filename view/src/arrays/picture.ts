// The colours of a drawing as the server takes them for a picture of the same.

import { INTERPOLATORS, ScaleType } from "@h5web/lib";
import type { Parameters } from "../api";
import type { ColourOptions } from "./HeatMap";
import type { Drawing } from "./selection";

const STOPS = 33;

/** Return a colour such as "rgb(68, 1, 84)" or "#440154" as six hexadecimal digits. */
export function hexOf(colour: string): string {
  if (colour.startsWith("#")) return colour.slice(1);
  const parts = (colour.match(/\d+(\.\d+)?/g) ?? []).slice(0, 3).map(Number);
  return parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
}

/** Return what draws the same colours on the server. An image has colours of its own. */
export function pictureOf(colours: ColourOptions, drawing: Drawing): Parameters {
  if (drawing === "image") return {};
  const interpolate = INTERPOLATORS[colours.map];
  const stops = Array.from({ length: STOPS }, (_, i) => hexOf(interpolate(i / (STOPS - 1))));
  if (colours.isInverted) stops.reverse();
  const scale = colours.scale === ScaleType.Linear ? null : colours.scale;
  return { stops: stops.join("-"), scale, min: colours.domain[0], max: colours.domain[1] };
}
