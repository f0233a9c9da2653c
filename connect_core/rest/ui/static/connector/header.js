/** The top of a connector's page: which one, in what state, and the acts. */

import { pause, remove, restart, resume, runNow, stop } from "../acts.js";
import { outsideLink } from "../airflow.js";
import { button, fill, h } from "../dom.js";
import { go } from "../routes.js";
import { shortClass } from "../list/model.js";
import { overall, pill, setPill } from "../states.js";

/** Make the header; `refresh` asks the API again. */
export function header(name, refresh) {
  const state = pill("UNASSIGNED");
  state.hidden = true;
  const facts = h("p", { class: "facts faint" });
  let isBusy = false;
  const act = (one) => async (event) => {
    if (isBusy) return;
    isBusy = true;
    const pressed = event.currentTarget;
    if (await one()) await refresh();
    isBusy = false;
    if (pressed.hidden) acts.focus();
  };
  const acts = buttons(name, act);
  const element = h(
    "header",
    { class: "connector-top" },
    h("p", { class: "crumb" }, h("a", { href: "#/" }, "Connectors")),
    h("div", { class: "title" }, h("h1", {}, name), state, acts.element),
    facts,
  );
  let drawn = "";
  return {
    element,
    update(overview) {
      state.hidden = false;
      setPill(state, overall(overview.state, Object.keys(overview.tasks), overview.is_stalled));
      acts.update(overview);
      const { plugin_version, schedule, guarantee, guarantee_condition, dag_url } = overview;
      const current = JSON.stringify([plugin_version, schedule, guarantee, guarantee_condition, dag_url]);
      if (drawn !== current) fill(facts, factsOf(overview));
      drawn = current;
    },
  };
}

function buttons(name, act) {
  const made = {
    run: button("Run now", act(() => runNow(name))),
    pause: button("Pause", act(() => pause(name))),
    resume: button("Resume", act(() => resume(name)), { class: "primary" }),
    failed: button("Restart failed", act(() => restart(name, true)), { class: "primary" }),
    restart: button("Restart", act(() => restart(name, false)), { title: "Restart the connector and all its tasks" }),
    stop: button("Stop", act(() => stop(name))),
    remove: button("Delete", act(() => removed(name)), { class: "danger quiet" }),
  };
  const element = h("div", { class: "acts", role: "group", "aria-label": "Acts" }, Object.values(made));
  return {
    element,
    /** Where the keyboard goes on when the button it was on has gone. */
    focus: () => Object.values(made).find((one) => !one.hidden)?.focus(),
    update(overview) {
      const state = overview.state;
      const isIdle = state === "PAUSED" || state === "STOPPED";
      const hasFailed = state === "FAILED" || (overview.tasks.FAILED ?? 0) > 0;
      made.run.hidden = isIdle;
      made.pause.hidden = isIdle;
      made.resume.hidden = !isIdle;
      made.failed.hidden = !hasFailed || state === "STOPPED";
      made.restart.hidden = state === "STOPPED";
      made.stop.hidden = state === "STOPPED";
    },
  };
}

async function removed(name) {
  if (await remove(name)) go("#/");
}

function factsOf(overview) {
  const facts = [
    overview.type,
    h("span", { title: overview.connector_class }, shortClass(overview.connector_class)),
    overview.plugin_version,
    h("span", { title: overview.guarantee_condition }, overview.guarantee),
    overview.schedule,
    overview.dag_url ? outsideLink("Airflow DAG", overview.dag_url) : null,
  ];
  return facts.filter(Boolean).map((fact, index) => [index ? " · " : "", fact]);
}
