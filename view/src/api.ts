// The only file that talks to the server.

import { decode, type Values } from "./arrays/values";
import type { Place } from "./types";

/** An answer of the server that is an error: what it says, and where in the text of a condition. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly caret: number | null,
  ) {
    super(message);
  }
}

export type Parameters = Record<string, string | number | boolean | null | undefined>;

const token = (): string | null => new URLSearchParams(window.location.search).get("token");

function address(endpoint: string, parameters: Parameters = {}): URL {
  const url = new URL(`${endpoint}/`, new URL(".", window.location.href));
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

function headers(): HeadersInit {
  const known = token();
  return known ? { Authorization: `Bearer ${known}` } : {};
}

/** Return the address of a download; it carries the token, as a link cannot send headers. */
export function download(endpoint: string, parameters: Parameters): string {
  const url = address(endpoint, parameters);
  const known = token();
  if (known) url.searchParams.set("token", known);
  return url.href;
}

async function ask(endpoint: string, parameters: Parameters, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address(endpoint, parameters), { headers: headers(), signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ServerError(0, "Unreachable", "The server does not answer. Was `coquina view` ended?", null);
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function failure(response: Response): Promise<ServerError> {
  const text = await response.text();
  try {
    const { error, message, caret } = JSON.parse(text);
    return new ServerError(response.status, String(error), String(message), typeof caret === "number" ? caret : null);
  } catch {
    return new ServerError(response.status, "Error", `${response.status} ${response.statusText}`, null);
  }
}

/** Ask for a JSON document. */
export async function json<T>(endpoint: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
  return (await ask(endpoint, parameters, signal)).json();
}

/** Ask for the values of a selection. */
export async function slice(place: Place, parameters: Parameters, signal?: AbortSignal): Promise<Values> {
  const response = await ask("slice", { ...place, format: "bin", ...parameters }, signal);
  const shape = response.headers.get("X-Shape") ?? "";
  return decode(await response.arrayBuffer(), response.headers.get("X-Dtype") ?? "", numbersIn(shape));
}

/** Ask for pairs of two columns. */
export async function points(place: Place, parameters: Parameters, signal?: AbortSignal) {
  const response = await ask("points", { ...place, ...parameters }, signal);
  const pairs = new Float64Array(await response.arrayBuffer());
  return { pairs, total: Number(response.headers.get("X-Total") ?? pairs.length / 2) };
}

/** Read a shape from a header, however it is punctuated: "3,4", "(3, 4)", "[3,4]". */
function numbersIn(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}

const PAGE = Math.random().toString(36).slice(2);
const ALIVE_MS = 5000;

/** Tell the server that the page is open, and when it closes: `coquina view` ends after the last one. */
export function keepAlive(): void {
  const tell = () => {
    fetch(address("alive", { page: PAGE }), { method: "POST", headers: headers() }).catch(() => undefined);
  };
  tell();
  window.setInterval(tell, ALIVE_MS);
  window.addEventListener("pageshow", (event) => event.persisted && tell());
  window.addEventListener("pagehide", () => navigator.sendBeacon(download("closed", { page: PAGE })));
}
