/** Links to Airflow and others. Airflow shows this page in a frame that may neither open windows nor leave its tab. */

import { h } from "./dom.js";

/** Whether the page stands in Airflow's frame. */
export const isFramed = window.parent !== window;

/** A link to a page outside; a text where there is none. */
export function outsideLink(text, url, properties = {}) {
  if (!isWebAddress(url)) return h("span", properties, text);
  return h("a", { href: url, rel: "noreferrer", onclick: isFramed ? leaveFrame : undefined, ...properties }, text);
}

function isWebAddress(url) {
  try {
    return Boolean(url) && ["http:", "https:"].includes(new URL(url, document.baseURI).protocol);
  } catch {
    return false;
  }
}

/** Let Airflow's own document follow the link: its frame forbids us to. */
function leaveFrame(event) {
  event.preventDefault();
  const outside = window.parent.document;
  const link = outside.createElement("a");
  link.href = event.currentTarget.href;
  outside.body.append(link);
  link.click();
  link.remove();
}
