/** A small chart over time: bars for what happened in a span, a line for what was measured at a moment. */

import { h, setText, svg } from "./dom.js";
import { absolute, short, tick } from "./format.js";

const WIDTH = 600;
const HEIGHT = 150;
const LEFT = 44;
const BOTTOM = 20;
const TOP = 8;
const TICKS = 4;

/**
 * Draw a chart.
 *
 * `bars` are `{ from, to, value, state, says }`, `points` `{ at, value, says }`;
 * times in milliseconds. The text under the chart tells what is pointed at.
 */
export function chart({ title, note, bars = [], points = [], empty }) {
  const times = [...bars.flatMap((bar) => [bar.from, bar.to]), ...points.map((point) => point.at)];
  const caption = h("figcaption", {}, h("strong", {}, title), h("span", { class: "faint" }, note));
  if (!times.length) return h("figure", { class: "chart" }, caption, h("p", { class: "faint" }, empty));
  const scale = scaleOf(times, [...bars, ...points].map((one) => one.value));
  const told = h("output", { class: "told faint" }, "");
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: highest ${short(scale.highest)}` },
    grid(scale),
    bars.map((bar) => drawnBar(bar, scale)),
    line(points, scale),
  );
  const all = [...bars, ...points.map((point) => ({ ...point, from: point.at, to: point.at }))];
  drawing.addEventListener("pointermove", (event) => setText(told, tellAt(event, drawing, all, scale)));
  drawing.addEventListener("pointerleave", () => setText(told, ""));
  return h("figure", { class: "chart" }, caption, drawing, told);
}

function scaleOf(times, values) {
  const first = Math.min(...times);
  const span = Math.max(Math.max(...times) - first, 1000);
  const highest = rounded(Math.max(...values, 1));
  return {
    first,
    span,
    highest,
    x: (time) => LEFT + ((time - first) / span) * (WIDTH - LEFT - 8),
    y: (value) => HEIGHT - BOTTOM - (value / highest) * (HEIGHT - BOTTOM - TOP),
    time: (x) => first + ((x - LEFT) / (WIDTH - LEFT - 8)) * span,
  };
}

/** The next 1, 2 or 5 times a power of ten. */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function grid(scale) {
  const lines = [0, 0.5, 1].map((part) => {
    const y = scale.y(scale.highest * part);
    return [
      svg("path", { class: "chart-grid", d: `M${LEFT} ${y}H${WIDTH - 8}` }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, short(scale.highest * part)),
    ];
  });
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => {
    const time = scale.first + (scale.span * index) / TICKS;
    const anchor = index === 0 ? "start" : index === TICKS ? "end" : "middle";
    return svg("text", { x: scale.x(time), y: HEIGHT - 5, "text-anchor": anchor }, tick(time, scale.span));
  });
  return [lines, ticks];
}

function drawnBar(bar, scale) {
  const x = scale.x(bar.from);
  const width = Math.max(scale.x(bar.to) - x, 2);
  // An interval that moved nothing is still to be seen.
  const y = Math.min(scale.y(bar.value), HEIGHT - BOTTOM - 3);
  return svg("rect", { x, y, width, height: HEIGHT - BOTTOM - y, "data-interval": bar.state });
}

function line(points, scale) {
  if (!points.length) return null;
  const places = points.map((point) => `${scale.x(point.at).toFixed(1)} ${scale.y(point.value).toFixed(1)}`);
  const dots = points.length < 80 ? places.map((place) => dotAt(place)) : null;
  return [svg("path", { class: "chart-line", d: `M${places.join("L")}` }), dots];
}

function dotAt(place) {
  const [cx, cy] = place.split(" ");
  return svg("circle", { class: "chart-dot", cx, cy, r: 2.5 });
}

function tellAt(event, drawing, all, scale) {
  const box = drawing.getBoundingClientRect();
  const time = scale.time(((event.clientX - box.left) / box.width) * WIDTH);
  const away = (one) => Math.max(one.from - time, time - one.to, 0);
  const nearest = all.reduce((best, one) => (away(one) < away(best) ? one : best));
  return `${absolute(new Date(nearest.from).toISOString())}: ${nearest.says}`;
}
