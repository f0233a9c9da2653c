/** What can be done to a connector, each with the words that say so. */

import { api } from "./api.js";
import { ask } from "./dialogs.js";
import { h } from "./dom.js";
import { plural } from "./format.js";
import { attempt, tell, warn } from "./notices.js";

const AT_ONCE = 6;

/** Pause; nothing is lost by it, so nothing is asked. */
export const pause = (name) => attempt(`Paused ${name}`, () => api.pause(name));

/** Resume. */
export const resume = (name) => attempt(`Resumed ${name}`, () => api.resume(name));

/** Restart the connector and its tasks, or only what failed. */
export function restart(name, onlyFailed) {
  const done = `Restarting ${onlyFailed ? "what failed of " : ""}${name}`;
  return attempt(done, () => api.restart(name, onlyFailed));
}

/** Restart one task. */
export const restartTask = (name, task) =>
  attempt(`Restarting task ${task} of ${name}`, () => api.restartTask(name, task));

/** Start a run whatever the schedule says. */
export const runNow = (name) => attempt(`Requested a run of ${name}`, () => api.run(name));

/** Stop, having said what that means. */
export async function stop(name) {
  const says = h(
    "ul",
    {},
    h("li", {}, "The running interval ends at its next commit point; what is committed stays."),
    h("li", {}, "Its tasks are removed. Its offsets are kept and can be changed while it is stopped."),
    h("li", {}, "Resume starts it again from its offsets."),
  );
  const yes = await ask({ title: `Stop ${name}?`, says, confirm: "Stop" });
  return yes && attempt(`Stopped ${name}`, () => api.stop(name));
}

/** Delete, having asked what becomes of the offsets. */
export async function remove(name) {
  const keep = choice("keep", "Keep its offsets", "A new connector with this name continues where this one ended.");
  const forget = choice(
    "forget",
    "Delete its offsets",
    "A new connector with this name starts over and reads everything again.",
  );
  keep.querySelector("input").checked = true;
  const says = [
    h("p", {}, "Its run ends at the next commit point, then its configuration and tasks are removed."),
    h("p", {}, "What it has written stays where it is: no topic, file or table is touched."),
    h("fieldset", {}, h("legend", {}, "Offsets"), keep, forget),
  ];
  const yes = await ask({ title: `Delete ${name}?`, says, confirm: "Delete", isDanger: true });
  const offsets = forget.querySelector("input").checked ? "forget" : "keep";
  return yes && attempt(`Deleted ${name}`, () => api.remove(name, offsets));
}

function choice(value, title, says) {
  const input = h("input", { type: "radio", name: "offsets", value });
  return h("label", { class: "choice" }, input, h("span", {}, h("strong", {}, title), h("small", {}, says)));
}

/** Do one thing to many connectors, a few at a time, and say how it went. */
export async function forAll(names, done, act) {
  const failures = [];
  const waiting = [...names];
  async function work() {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      await act(name).catch((error) => failures.push(`${name}: ${error.message}`));
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const succeeded = names.length - failures.length;
  if (succeeded) tell(`${done} ${plural(succeeded, "connector")}`);
  if (failures.length) warn(`${plural(failures.length, "connector")} refused. ${failures.slice(0, 3).join("; ")}`);
}
