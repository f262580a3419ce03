import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { thirdParty } from "./third-party";

// The bundle is the data of the Python package `coquina_view`. Its addresses are relative, so that the page also works
// below a proxy's prefix, and no icon or font is inlined that a strict content policy would refuse.
export default defineConfig({
  base: "./",
  plugins: [react(), thirdParty()],
  resolve: {
    alias: {
      ndarray: fileURLToPath(new URL("src/arrays/ndarray.ts", import.meta.url)),
      "ndarray-ops": fileURLToPath(new URL("src/arrays/ndarray.ts", import.meta.url)),
    },
  },
  build: {
    outDir: "coquina_view/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    target: "es2022",
  },
  server: { proxy: { "^/(files|tree|info|slice|histogram|schema|rows|column|points|storage|expr|version|alive|closed)/": "http://127.0.0.1:8642" } },
});
