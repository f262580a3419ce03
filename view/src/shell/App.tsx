// The page: a tree on the left, the chosen object on the right.

import { useEffect, useState } from "react";
import { json } from "../api";
import type { Files, Place, Version } from "../types";
import { useAsked } from "../useAsked";
import { Panel } from "./Panel";
import { Problem } from "./Problem";
import { useRoute } from "./route";
import { nextTheme, useTheme } from "./theme";
import { Tree } from "./Tree";

export function App() {
  const [route, go] = useRoute();
  const [isTreeOpen, setTreeOpen] = useState(false);
  const [theme, setTheme] = useTheme();
  const files = useAsked((signal) => json<Files>("files", { path: "" }, signal), []);
  const version = useAsked((signal) => json<Version>("version", {}, signal), []);
  const root = files.value?.root ?? "";
  const select = (place: Place) => {
    setTreeOpen(false);
    go({ place, view: "" });
  };

  useEffect(() => {
    const first = files.value?.entries[0];
    if (!route.place && files.value?.single && first) go({ place: { file: first.path, path: "/" }, view: "" });
  }, [files.value]);
  useEffect(() => setTreeOpen(false), [route.place?.file, route.place?.path]);
  useEffect(() => {
    document.title = [route.place?.path.replace(/^\/$/, ""), route.place?.file ?? root, "coquina"].filter(Boolean).join(" – ");
  }, [route.place, root]);

  return (
    <div className={isTreeOpen ? "page tree-open" : "page"}>
      <a className="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>
        Skip to the data
      </a>
      <header>
        <button
          type="button"
          className="menu"
          aria-label="Files"
          aria-expanded={isTreeOpen}
          aria-controls="files"
          onClick={() => setTreeOpen(!isTreeOpen)}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12" /></svg>
        </button>
        <strong>coquina</strong>
        <span className="root">{root}</span>
        <span className="grow" />
        <span className="version">{version.value?.coquina}</span>
        <button type="button" className="plain" onClick={() => setTheme(nextTheme(theme))} aria-label={`Colours: ${theme}`}>
          {theme}
        </button>
      </header>
      <nav id="files" aria-label="Files">
        {files.value && <Tree files={files.value} selected={route.place} onSelect={select} />}
        {files.error && <Problem error={files.error} />}
      </nav>
      <main id="main" tabIndex={-1}>
        {route.place ? (
          <Panel
            key={`${route.place.file}|${route.place.path}`}
            place={route.place}
            view={route.view}
            onView={(view) => go({ place: route.place, view })}
            onSelect={select}
          />
        ) : (
          !files.isLoading && <p className="empty">Choose a file, an array or a table in the tree.</p>
        )}
      </main>
    </div>
  );
}
