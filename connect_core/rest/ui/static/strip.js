/** The last intervals as a strip of marks: colour tells the state, height the records. */

import { svg } from "./dom.js";
import { count, plural } from "./format.js";

const PLACES = 20;
const STEP = 6;
const WIDTH = 4;
const HEIGHT = 20;
const LEAST = 4;

/** Draw the last intervals, the newest at the right. One path a state keeps a long list light. */
export function strip(marks) {
  const shown = marks.slice(-PLACES);
  const most = Math.max(1, ...shown.map((mark) => mark.records));
  const paths = new Map();
  shown.forEach((mark, index) => {
    const x = (PLACES - shown.length + index) * STEP;
    const height = mark.state === "FAILED" ? HEIGHT : LEAST + (HEIGHT - LEAST) * Math.sqrt(mark.records / most);
    paths.set(mark.state, `${paths.get(mark.state) ?? ""}M${x} ${HEIGHT}v${-height.toFixed(1)}h${WIDTH}V${HEIGHT}z`);
  });
  const label = summary(shown);
  return svg(
    "svg",
    { class: "strip", viewBox: `0 0 ${PLACES * STEP} ${HEIGHT}`, role: "img", "aria-label": label },
    svg("title", {}, label),
    svg("path", { class: "strip-base", d: `M0 ${HEIGHT - 0.5}H${PLACES * STEP}` }),
    [...paths].map(([state, d]) => svg("path", { d, "data-interval": state })),
  );
}

function summary(marks) {
  if (!marks.length) return "No interval yet";
  const states = new Map();
  for (const mark of marks) states.set(mark.state, (states.get(mark.state) ?? 0) + 1);
  const parts = [...states].map(([state, number]) => `${count(number)} ${state}`);
  const records = marks.reduce((sum, mark) => sum + mark.records, 0);
  return `Last ${plural(marks.length, "interval")}: ${parts.join(", ")}; ${plural(records, "record")}`;
}
