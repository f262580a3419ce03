// Light or dark colours: those of the system, or the ones that were chosen.

import { useEffect, useState } from "react";

export type Theme = "auto" | "light" | "dark";
const THEMES: Theme[] = ["auto", "light", "dark"];
const KEY = "coquina-theme";

export const nextTheme = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";

/** Frames of other sites may have no storage; the choice lasts as long as the page then. */
function stored(): Theme {
  try {
    const kept = window.localStorage.getItem(KEY) as Theme | null;
    return kept && THEMES.includes(kept) ? kept : "auto";
  } catch {
    return "auto";
  }
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (theme === "auto") delete dataset.theme;
    else dataset.theme = theme;
    try {
      window.localStorage.setItem(KEY, theme);
    } catch {
      // Nothing is lost but the choice.
    }
  }, [theme]);
  return [theme, setTheme];
}
