/** Numbers, times and durations as people read them. */

import { h } from "./dom.js";

const exact = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

const BYTES = ["B", "kB", "MB", "GB", "TB"];
const UNITS = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
];

/** `12,345`; a dash where nothing is known. */
export function count(value) {
  return known(value) ? exact.format(value) : "–";
}

/** `12.3K`, for where there is little room. */
export function short(value) {
  return known(value) ? compact.format(value) : "–";
}

/** `1 record`, `2 records`. */
export function plural(value, word, words = `${word}s`) {
  return `${count(value)} ${value === 1 ? word : words}`;
}

/** Bytes as `812 B`, `4.1 kB`, `2.3 GB`. */
export function size(value) {
  if (!known(value)) return "–";
  const power = value < 1000 ? 0 : Math.min(BYTES.length - 1, Math.floor(Math.log10(value) / 3));
  return `${power ? (value / 1000 ** power).toFixed(1) : value} ${BYTES[power]}`;
}

/** Seconds as `0.8 s`, `12 s`, `3 min 20 s`, `2 d 4 h`. */
export function duration(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 10) return `${(Math.round(seconds * 10) / 10).toString()} s`;
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  if (at < 0) return `${Math.round(seconds)} s`;
  const [unit, size] = UNITS[at];
  const [lesser, part] = UNITS[at + 1] ?? ["s", 1];
  const rest = Math.floor((seconds % size) / part);
  return `${Math.floor(seconds / size)} ${unit}${rest ? ` ${rest} ${lesser}` : ""}`;
}

/** A moment relative to now: `12 s ago`, `in 3 min`. */
export function relative(iso) {
  if (!iso) return "–";
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (Math.abs(seconds) < 2) return "now";
  return seconds > 0 ? `${coarse(seconds)} ago` : `in ${coarse(-seconds)}`;
}

function coarse(seconds) {
  const found = UNITS.find(([, size]) => seconds >= size);
  return found ? `${Math.floor(seconds / found[1])} ${found[0]}` : `${Math.floor(seconds)} s`;
}

/** `21 Nov 2026, 14:31:20`. */
export function absolute(iso) {
  return iso ? clock.format(new Date(iso)) : "–";
}

/** A tick of a time axis over a span of milliseconds. */
export function tick(time, span) {
  return (span > 36 * 3600 * 1000 ? day : hour).format(new Date(time));
}

/** A `<time>` that reads relatively and shows the moment itself on hover. */
export function moment(iso) {
  return iso ? h("time", { datetime: iso, title: absolute(iso) }, relative(iso)) : h("span", { class: "faint" }, "–");
}

/** JSON on one line, as offsets and places are shown. */
export function json(value) {
  return JSON.stringify(value);
}

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}
