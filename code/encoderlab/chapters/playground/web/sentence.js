// The one sentence under the picture, and the line that accuracy has to cross.

import { isCloud, startOf } from "./state.js";
import { QUESTIONS, bestLine, pointsOf } from "./tasks.js";
import { SHORTCUTS, TASKS } from "./texts.js";

export const percent = (share) => `${Math.floor(100 * share + 1e-9)} %`; // 99.5 is not 100

const lines = {};

/** What can be had without learning what matters: the best straight line, or the best shortcut. */
export function lineToCross(task) {
  if (!isCloud(task)) {
    const share = QUESTIONS[task].shortcut;
    return { share, label: `${SHORTCUTS[task]}: ${percent(share)}` };
  }
  const share = (lines[task] ??= bestLine(pointsOf(task)));
  return { share, label: `the best straight line: ${percent(share)}` };
}

/** The parts that are in. */
function parts(s) {
  const cloud = isCloud(s.task),
    on = [];
  if (s.attention) on.push("attention");
  if (s.ffn) on.push(s.activation === "identity" ? "an FFN without a bend" : "an FFN");
  if (s.norm !== "none") on.push(`${s.norm}-LN`);
  const also = [
    !s.residual && "no skips",
    cloud && s.constant && "a constant token",
    !cloud && s.positions !== startOf(s.task).positions && (s.positions ? "positions" : "no positions"),
    s.causal && !cloud && "causal mask",
  ];
  const layers = `${s.depth} layer${s.depth > 1 ? "s" : ""}`;
  return [on.length ? on.join(", ") : "no sub-layer", layers, ...also.filter(Boolean)].join(", ");
}

/** What is on show, with its numbers. */
export function sentence(state, { steps, accuracy, diverged, solvedAt, longest }) {
  const shown = `${TASKS[state.task][0]}, with ${parts(state)}:`;
  if (diverged)
    return `${shown} after ${steps} steps the loss is no longer a number. Training has diverged: a smaller learning rate may help.`;
  if (!steps) return `${shown} weights as drawn, nothing has been trained.`;
  const what = isCloud(state.task)
    ? "200 points are on their side"
    : "last fresh examples were answered right";
  const said = [
    `${shown} after ${steps} step${steps > 1 ? "s" : ""} ${percent(accuracy)} of the ${what};`,
    `${lineToCross(state.task).label.replace(":", " gives")}.`,
    solvedAt && `98 % were reached after ${solvedAt} steps.`,
    longest && "Training pauses here; Reset begins anew.",
  ];
  return said.filter(Boolean).join(" ");
}
