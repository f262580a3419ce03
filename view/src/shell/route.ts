// Which object and view the page shows, kept in the address, so that reloads and the back button work.

import { useCallback, useEffect, useState } from "react";
import type { Place } from "../types";

export interface Route {
  place: Place | null;
  view: string;
}

/** Read a route from the part of an address behind "#". */
export function parse(hash: string): Route {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const file = fields.get("file");
  const place = file === null ? null : { file, path: fields.get("path") ?? "/" };
  return { place, view: fields.get("view") ?? "" };
}

export function textOf({ place, view }: Route): string {
  if (!place) return "";
  const fields = new URLSearchParams({ file: place.file, path: place.path });
  if (view) fields.set("view", view);
  return `#${fields}`;
}

export function useRoute(): [Route, (route: Route) => void] {
  const [route, setRoute] = useState(() => parse(window.location.hash));
  useEffect(() => {
    const onChange = () => setRoute(parse(window.location.hash));
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  const go = useCallback((next: Route) => {
    const text = textOf(next);
    if (text !== window.location.hash) window.location.hash = text;
  }, []);
  return [route, go];
}
