import "@h5web/lib/styles.css";
import "./styles.css";
import { createRoot } from "react-dom/client";
import { keepAlive } from "./api";
import { App } from "./shell/App";

keepAlive();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
