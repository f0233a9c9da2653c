/** The REST API beside this page: Connect's own endpoints, and those under `/v1`. */

/** The page lives in `ui/`, the API one folder up, whatever the prefix is. */
const ROOT = new URL("..", document.baseURI);

/** An answer that is none: `status` 0 where nothing answered at all. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(method, path, { body, signal } = {}) {
  const options = { method, signal, headers: { Accept: "application/json" }, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await reach(new URL(path, ROOT), options);
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, reason(response, text));
  return text ? JSON.parse(text) : null;
}

async function reach(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The REST API does not respond.");
  }
}

function reason(response, text) {
  if (response.status === 401) return "You are not signed in: sign in to Airflow, then reload this page.";
  try {
    return JSON.parse(text).message || `HTTP ${response.status}`;
  } catch {
    return `HTTP ${response.status} ${response.statusText}`;
  }
}

function segment(name) {
  // What a browser takes out of an address must not lead to another endpoint.
  if (name === "." || name === "..") throw new ApiError(400, `There can be no address for a connector named "${name}".`);
  return encodeURIComponent(name);
}

function paged(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

const connect = (name, rest = "") => `connectors/${segment(name)}${rest}`;
const beyond = (name, rest = "") => `v1/connectors/${segment(name)}${rest}`;

export const api = {
  worker: () => call("GET", "v1/worker"),
  connectors: (signal) => call("GET", "v1/connectors", { signal }),
  connector: (name, signal) => call("GET", beyond(name), { signal }),

  create: (name, config, state) => call("POST", "connectors", { body: { name, config, initial_state: state } }),
  remove: (name, offsets) => call("DELETE", connect(name, `?offsets=${offsets}`)),
  pause: (name) => call("PUT", connect(name, "/pause")),
  resume: (name) => call("PUT", connect(name, "/resume")),
  stop: (name) => call("PUT", connect(name, "/stop")),
  restart: (name, onlyFailed) => call("POST", connect(name, `/restart?includeTasks=true&onlyFailed=${onlyFailed}`)),
  restartTask: (name, task) => call("POST", connect(name, `/tasks/${task}/restart`)),
  run: (name) => call("POST", beyond(name, "/run")),

  intervals: (name, before, limit, signal) =>
    call("GET", paged(beyond(name, "/intervals"), { limit, before }), { signal }),
  interval: (name, sequence) => call("GET", beyond(name, `/intervals/${sequence}`)),
  intervalFiles: (name, sequence, limit) => call("GET", paged(beyond(name, `/intervals/${sequence}/files`), { limit })),
  verify: (name, to, seconds, signal) => call("POST", paged(beyond(name, "/verify"), { to, seconds }), { signal }),
  slots: (name, from, to, signal) => call("GET", paged(beyond(name, "/slots"), { from, to }), { signal }),
  backfill: (name, from, to) => call("POST", beyond(name, "/backfill"), { body: { from, to } }),
  tasks: (name) => call("GET", connect(name, "/tasks")),
  lag: (name, signal) => call("GET", beyond(name, "/lag"), { signal }),
  schemas: (name, signal) => call("GET", beyond(name, "/schemas"), { signal }),
  skipped: (name, signal) => call("GET", beyond(name, "/skipped"), { signal }),
  acts: (name) => call("GET", beyond(name, "/acts")),

  importReport: (body, signal) => call("POST", "v1/import/report", { body, signal }),
  importConnector: (name, body, signal) => call("POST", beyond(name, "/import"), { body, signal }),
  moved: (name, signal) => call("GET", beyond(name, "/switch"), { signal }),
  switchOver: (name, body, signal) => call("POST", beyond(name, "/switch"), { body, signal }),

  offsets: (name, signal) => call("GET", connect(name, "/offsets"), { signal }),
  alterOffsets: (name, offsets) => call("PATCH", connect(name, "/offsets"), { body: { offsets } }),
  resetOffsets: (name) => call("DELETE", connect(name, "/offsets")),
  previewOffsets: (name, wanted) => call("POST", beyond(name, "/offsets/preview"), { body: wanted }),
  rewind: (name, to) => call("POST", beyond(name, "/rewind"), { body: { to } }),
  offsetMoves: (name, before) => call("GET", paged(beyond(name, "/offsets/history"), { before })),

  config: (name) => call("GET", connect(name, "/config")),
  saveConfig: (name, config) => call("PUT", connect(name, "/config"), { body: config }),
  configHistory: (name) => call("GET", beyond(name, "/config/history")),
  plugins: () => call("GET", "connector-plugins"),
  pluginConfig: (plugin) => call("GET", `connector-plugins/${segment(plugin)}/config`),
  validate: (plugin, config, signal) =>
    call("PUT", `connector-plugins/${segment(plugin)}/config/validate`, { body: config, signal }),
};
