/** The tasks: their states, their traces on one click, each restartable. */

import { restartTask } from "../acts.js";
import { api } from "../api.js";
import { button, fill, h } from "../dom.js";
import { pill } from "../states.js";
import { attempt } from "../notices.js";
import { trace } from "./trace.js";

/** Show the tasks. */
export function showTasks(element, context) {
  let drawn = null;
  return {
    update(overview) {
      const current = JSON.stringify(overview.task_views);
      if (drawn === current) return;
      drawn = current;
      const open = new Set([...element.querySelectorAll("details[open]")].map((one) => one.closest("[data-task]").dataset.task));
      fill(element, overview.task_views.length ? overview.task_views.map((task) => card(task, context, open)) : none(overview));
    },
  };
}

function card(task, context, open) {
  const restart = button("Restart", async () => {
    restart.disabled = true;
    await restartTask(context.name, task.task);
    await context.refresh();
    restart.disabled = false;
  });
  restart.setAttribute("aria-label", `Restart task ${task.task}`);
  return h(
    "article",
    { class: "card task", "data-task": task.task },
    h("header", {}, h("h2", {}, `Task ${task.task}`), pill(task.state), h("span", { class: "faint grow" }, task.worker_id), restart),
    task.trace ? trace(task.trace, open.has(String(task.task))) : null,
    settings(task.task, context.name),
  );
}

function settings(task, name) {
  const body = h("pre", { tabindex: "0" }, "Loading…");
  const box = h("details", { class: "settings" }, h("summary", {}, "Configuration"), body);
  box.addEventListener("toggle", async () => {
    if (!box.open) return;
    await attempt("", async () => {
      const found = (await api.tasks(name)).find((one) => one.id.task === task);
      fill(body, found ? JSON.stringify(found.config, null, 2) : "The task no longer exists.");
    });
  });
  return box;
}

function none(overview) {
  const why = overview.state === "STOPPED" ? "A stopped connector has none." : "The first plan assigns them.";
  return h("p", { class: "faint" }, `No task yet. ${why}`);
}
