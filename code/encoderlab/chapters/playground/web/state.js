// The controls: what each may be, where each task starts, and how a state stands in the address.

import { CLOUDS, QUESTIONS } from "./tasks.js";

const SWITCH = [true, false];

/** name: the values that it may take. For seed, from and to. */
export const CONTROLS = {
  task: [...Object.keys(CLOUDS), ...Object.keys(QUESTIONS)],
  attention: SWITCH,
  ffn: SWITCH,
  residual: SWITCH,
  norm: ["none", "post", "pre"],
  depth: [1, 2, 3, 4, 5, 6, 7, 8],
  heads: [1, 2, 4],
  width: [4, 8, 16, 32],
  d_ff: [4, 8, 16, 32, 64],
  activation: ["relu", "gelu", "tanh", "identity"],
  constant: SWITCH,
  positions: SWITCH,
  causal: SWITCH,
  lr: [0.001, 0.003, 0.01, 0.03, 0.1],
  seed: { from: 0, to: 999 },
};

export const isCloud = (task) => task in CLOUDS;

/** The state in which a task starts. */
export function startOf(task) {
  const cloud = isCloud(task);
  return {
    task,
    attention: true,
    ffn: false,
    residual: true,
    norm: "none",
    depth: 1,
    heads: cloud ? 2 : 1,
    width: 16,
    d_ff: 32,
    activation: "relu",
    constant: false,
    positions: task === "previous" || task === "induction",
    causal: false,
    lr: 0.01,
    seed: 0,
  };
}

/** Throw an error that names the control whose value cannot be. */
export function checkState(state) {
  for (const [name, allowed] of Object.entries(CONTROLS)) {
    const value = state[name];
    if (name === "seed") {
      if (!Number.isInteger(value) || value < allowed.from || value > allowed.to)
        throw new RangeError(`seed must be an integer from ${allowed.from} to ${allowed.to}, got ${value}`);
    } else if (!allowed.includes(value))
      throw new RangeError(`${name} must be one of ${allowed.map(written).join(", ")}, got ${value}`);
  }
}

const written = (value) => (value === true ? "on" : value === false ? "off" : String(value));

/** The state as an address has it: the task, and what differs from its start. */
export function toQuery(state) {
  const start = startOf(state.task);
  const changed = Object.keys(CONTROLS).filter((name) => name === "task" || state[name] !== start[name]);
  return changed.map((name) => `${name}=${written(state[name])}`).join("&");
}

/** Read an address; what it should not say falls back to the start of its task, with a sentence about each. */
export function fromQuery(query) {
  const given = new URLSearchParams(query),
    complaints = [];
  const choose = (name, fallback) => {
    const text = given.get(name),
      allowed = CONTROLS[name];
    if (text === null) return fallback;
    const value =
      name === "seed"
        ? /^\d{1,3}$/.test(text)
          ? Number(text)
          : undefined
        : allowed.find((choice) => written(choice) === text);
    if (value !== undefined) return value;
    const choices = name === "seed" ? `${allowed.from} to ${allowed.to}` : allowed.map(written).join(", ");
    complaints.push(`${name}=${text} is not among ${choices}: shown is ${written(fallback)}.`);
    return fallback;
  };
  const start = startOf(choose("task", "moons"));
  const state = Object.fromEntries(
    Object.entries(start).map(([name, value]) => [name, name === "task" ? value : choose(name, value)]),
  );
  for (const name of given.keys()) if (!(name in CONTROLS)) complaints.push(`There is no control ${name}.`);
  return { state, complaints };
}
