/** What the page says without being asked: toasts, and whether the API and Airflow can be reached. */

import { button, h, setText } from "./dom.js";
import { absolute } from "./format.js";

const SHOWN_MS = 6000;

/** Say that something was done. */
export function tell(text) {
  const toast = show("toast", text);
  setTimeout(() => toast.remove(), SHOWN_MS);
}

/** Say what went wrong; it stays until closed. */
export function warn(text) {
  const toast = show("toast toast-bad", text);
  toast.setAttribute("role", "alert");
}

function show(kind, text) {
  const toast = h("div", { class: kind }, h("span", {}, text));
  toast.append(button("Close", () => toast.remove(), { class: "quiet" }));
  const box = document.getElementById("toasts");
  box.append(toast);
  // A modal dialog would lie over it and make it inert.
  (document.querySelector("dialog[open]") ?? document.body).append(box);
  return toast;
}

/** Run an act, say how it went, and return whether it went well. */
export async function attempt(done, act) {
  try {
    await act();
  } catch (error) {
    warn(error.message);
    return false;
  }
  if (done) tell(done);
  return true;
}

/** Show or hide the line that says the API cannot be reached. */
export function setOffline(reason) {
  const banner = document.getElementById("offline");
  banner.hidden = !reason;
  setText(banner, reason ? `${reason} What you see may be out of date; trying again…` : "");
}

/** Show or hide the line that says Airflow does not answer; the longest silence comes first. */
export function setSilence(silences) {
  const banner = document.getElementById("silence");
  const [longest] = silences;
  banner.hidden = !longest;
  const since = longest && `Airflow has not responded since ${absolute(longest.since)} (${longest.observer}: ${longest.reason}).`;
  setText(banner, longest ? `${since} Waiting connectors are still started when there is data; new schedules, pauses and restarts wait.` : "");
}
