// Colours that WebGL needs as values, from the style sheet's variables.

import { useEffect, useState } from "react";

export interface Colours {
  line: string;
  background: string;
}

function read(): Colours {
  const style = window.getComputedStyle(document.documentElement);
  const of = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  return { line: of("--line", "#0f6e78"), background: of("--canvas", "#ffffff") };
}

/** Return the colours of now; they change with the theme. */
export function useColours(): Colours {
  const [colours, setColours] = useState(read);
  useEffect(() => {
    const again = () => setColours(read());
    const media = window.matchMedia("(prefers-color-scheme: dark)");
    const observer = new MutationObserver(again);
    media.addEventListener("change", again);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      media.removeEventListener("change", again);
      observer.disconnect();
    };
  }, []);
  return colours;
}
