/** Where an imported connector is, and switching it to the other side: step by step, for as long as the page is open. */

import { api } from "../api.js";
import { ask } from "../dialogs.js";
import { button, fill, h, setText } from "../dom.js";
import { plural } from "../format.js";
import { loginFields, remember } from "../import/cluster.js";

const SECONDS = 5;

/** The steps of each direction, in the API's words. */
const STEPS = {
  here: ["recorded its state", "stopped there", "stored its offsets here", "started here", "recorded that it has moved"],
  there: ["recorded its state", "stopped here", "wrote its offsets there", "started there", "recorded that it has moved"],
};
const TITLES = { here: "Switch here", there: "Switch back" };

/** Make the section → `{ element, update }`; it stays empty for a connector that was created here. */
export function switching(context, signal) {
  const parts = {
    where: h("p"),
    acts: h("div", { class: "acts" }),
    steps: h("ol", { class: "steps", "aria-label": "Steps of the switch" }),
    status: h("p", { role: "status", class: "faint" }),
    problem: h("p", { class: "problem", role: "alert", hidden: true }),
  };
  const buttons = Object.fromEntries(
    Object.keys(TITLES).map((side) => [side, button(`${TITLES[side]}…`, () => begin(side), { class: side === "here" ? "primary" : "" })]),
  );
  fill(parts.acts, Object.values(buttons));
  const body = [h("h2", {}, "Moved from Kafka Connect"), parts.where, parts.acts, parts.steps, parts.status, parts.problem];
  const element = h("section", { class: "card switching", hidden: true }, body);
  let moved = null;
  let isForeign = true;
  let isBusy = false;

  async function update() {
    if (!isForeign || isBusy) return;
    try {
      moved = await api.moved(context.name, signal);
    } catch {
      // The view says so itself, and asks again.
      return;
    }
    isForeign = moved.url !== null;
    element.hidden = !isForeign;
    if (isForeign && !isBusy) paint();
  }

  function paint() {
    const isOpen = moved.state !== null;
    setText(parts.where, isOpen ? unfinished(moved) : moved.newest === "here" ? arrived(moved) : waiting(moved));
    buttons.here.hidden = !isOpen && moved.newest === "here";
    buttons.there.hidden = !isOpen && moved.newest === "there";
    for (const one of Object.values(buttons)) one.disabled = isBusy;
  }

  async function begin(side) {
    const { url } = moved;
    const login = loginFields(url);
    const says = [h("ul", {}, explained(side, url).map((line) => h("li", {}, line))), login.element];
    if (!(await ask({ title: `${TITLES[side]}: ${context.name}`, says, confirm: TITLES[side] })) || isBusy) return;
    isBusy = true;
    paint();
    trouble("");
    let reason = "";
    try {
      await carryOut(side, url, login.read());
    } catch (error) {
      if (error.name !== "AbortError") reason = error.message;
      setText(parts.status, "");
    }
    isBusy = false;
    await update();
    paint();
    trouble(reason);
    await context.refresh();
  }

  /** Ask for some seconds of work at a time, until nothing is left; the address is the one that was shown. */
  async function carryOut(side, url, login) {
    const body = { url, ...login, back: side === "there", seconds: SECONDS };
    showSteps(side, STEPS[side][0]);
    setText(parts.status, "Switching…");
    let round;
    do {
      round = await api.switchOver(context.name, body, signal);
      remember(url, login);
      showSteps(side, round.next);
      setText(parts.status, round.next === null ? finished(side, round) : progress(round));
    } while (round.next !== null);
  }

  function showSteps(side, next) {
    const now = next === null ? STEPS[side].length : STEPS[side].indexOf(next);
    const lines = STEPS[side].map((step, index) => {
      const state = index < now ? "done" : index === now ? "now" : "to do";
      return h("li", { "data-step": state, "aria-current": state === "now" ? "step" : null }, step, h("small", { class: "faint" }, ` ${state}`));
    });
    fill(parts.steps, lines);
  }

  function trouble(reason) {
    parts.problem.hidden = !reason;
    const isBegun = moved.state !== null;
    const remedy = " Nothing is lost: press the same button to continue, or the other one to undo it.";
    setText(parts.problem, reason && isBegun ? reason + remedy : reason);
    if (reason && !isBegun) fill(parts.steps, []);
  }

  return { element, update };
}

function arrived(moved) {
  return `It was moved here from ${moved.url}, where it is still kept, stopped. Its newest offsets are here.`;
}

function waiting(moved) {
  return `It is still at ${moved.url}, with its newest offsets, and stopped here.`;
}

function unfinished(moved) {
  return `A switch from or to ${moved.url} has started and is not finished: the newest offsets are ${moved.newest}. Choose where the connector should run.`;
}

function explained(side, url) {
  if (side === "here") {
    return [
      `It will be stopped at ${url}, and its tasks end.`,
      "Its final offsets are stored here, and it gets the same state here: running, paused or stopped.",
      "It can be switched back at any time.",
    ];
  }
  return [
    "It will be stopped here, and its run ends at the next commit point.",
    `Its offsets are written to ${url}, and it gets the same state there: running, paused or stopped.`,
    "It can be switched here again at any time.",
  ];
}

function progress(round) {
  if (!round.waiting_for) return `There it is ${round.there}, here ${round.here}. Going on…`;
  const tasks = round.tasks_there ? ` (${plural(round.tasks_there, "task")} there)` : "";
  return `Waiting for ${round.waiting_for}${tasks}…`;
}

function finished(side, round) {
  if (side === "here") return `It is here now, ${round.here}.`;
  const { differing } = round;
  const told = differing.length ? ` It runs with the values it has there of ${differing.join(", ")}.` : "";
  return `It is there now, ${round.there}.${told}`;
}
