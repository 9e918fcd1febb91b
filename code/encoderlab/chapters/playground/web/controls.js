// The controls of the figure: made once, shown in the state that they are in.

import { CONTROLS, isCloud, toQuery } from "./state.js";
import { BLOCKS, LABELS, SAMPLES, TASKS, WIRES } from "./texts.js";

/** An element with its attributes and what it holds. */
export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

/** Make all controls of a Playground. */
export function buildControls(it) {
  buildTries(it);
  buildTasks(it);
  buildDiagram(it);
  buildSettings(it);
  for (const button of it.figure.querySelectorAll("[data-do]"))
    button.addEventListener("click", () => it[button.dataset.do]());
  it.$("[data-speed]").addEventListener("change", (event) =>
    it.worker.postMessage({ type: "speed", speed: Number(event.target.value) }),
  );
  it.$("[data-do=copy]").hidden = !it.link;
}

/** Links to the set states. */
function buildTries(it) {
  for (const { name, query } of it.tries) {
    const anchor = make("a", { href: `#${it.figure.id}?${query}`, "data-query": query }, name);
    anchor.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      it.begin(query);
      it.write();
    });
    it.$(".pg-tries").append(anchor);
  }
}

/** A radio button for each task, with a small picture. */
function buildTasks(it) {
  for (const [task, [name]] of Object.entries(TASKS)) {
    const input = make("input", { type: "radio", name: `${it.figure.id}-task`, value: task });
    const picture = isCloud(task)
      ? make("canvas", { "data-thumbnail": task, "aria-hidden": "true" })
      : make("i", { "aria-hidden": "true" }, SAMPLES[task]);
    input.addEventListener("change", () => it.set({ task }));
    it.$(".pg-tasks").append(
      make("label", { title: TASKS[task][1] }, input, make("span", {}, picture, name)),
    );
  }
}

/** The drawing of the network, whose blocks are switches. */
function buildDiagram(it) {
  const diagram = it.$(".pg-diagram");
  diagram.innerHTML = WIRES;
  for (const block of BLOCKS) {
    const { key, at, name, label = name, value } = block,
      switches = key in CONTROLS;
    const [left, top, width, height] = at;
    const element = make(switches ? "button" : "div", {
      class: `pg-block${key === "residual" ? " pg-skip" : ""}`,
      style: `left:${left}px;top:${top}px;width:${width}px;height:${height}px`,
    });
    if (switches) {
      element.type = "button";
      if (label !== name) element.setAttribute("aria-label", label); // else the text shown is the name
      element.addEventListener("click", () =>
        it.set({ [key]: value ? (it.state.norm === value ? "none" : value) : !it.state[key] }),
      );
    }
    element.append(make("span", {}, name), make("small", { "aria-hidden": "true" }));
    for (const event of ["pointerenter", "focus"]) element.addEventListener(event, () => tell(it, block));
    block.elements = (block.elements ?? new Map()).set(it, element);
    diagram.append(element);
  }
  const stepper = make("div", { class: "pg-depth", role: "group", "aria-label": "Depth" });
  for (const [sign, by, label] of [
    ["+", 1, "One layer more"],
    ["−", -1, "One layer less"],
  ]) {
    const button = make("button", { type: "button", "aria-label": label, "data-by": by }, sign);
    button.addEventListener("click", () => it.set({ depth: it.state.depth + by }));
    stepper.append(button);
  }
  stepper.insertBefore(make("output", { "aria-live": "off" }), stepper.lastChild);
  diagram.append(stepper);
}

/** Sizes, learning rate and seed. */
function buildSettings(it) {
  for (const [name, text] of Object.entries(LABELS)) {
    const allowed = CONTROLS[name];
    const field =
      name === "seed"
        ? make("input", { type: "number", min: allowed.from, max: allowed.to, step: 1 })
        : make("select", {}, ...allowed.map((value) => make("option", { value }, String(value))));
    field.dataset.control = name;
    field.addEventListener("change", () => {
      const value = name === "activation" ? field.value : Number(field.value);
      const fits =
        name !== "seed" || (Number.isInteger(value) && value >= allowed.from && value <= allowed.to);
      if (fits) it.set({ [name]: value });
      else field.value = it.state.seed;
    });
    it.$(".pg-settings").append(make("label", {}, text, field));
  }
}

/** Say what a block does, and how many numbers it holds. */
function tell(it, { about, parameters, name, label = name }) {
  if (!about) return;
  const groups =
    it.frame?.parameters.filter(
      ([path]) =>
        parameters && path.includes(parameters) && (parameters.includes("norm") || !path.includes("_norm")),
    ) ?? [];
  const count = groups.reduce((sum, [, size]) => sum + size, 0);
  it.$(".pg-about").textContent =
    `${label}. ${about}${count ? ` ${count.toLocaleString("en")} parameters.` : parameters ? " Off: no parameters." : ""}`;
}

/** Bring every control to the state. */
export function showControls(it) {
  const { state, figure } = it,
    cloud = isCloud(state.task),
    query = toQuery(state);
  for (const input of figure.querySelectorAll(".pg-tasks input")) input.checked = input.value === state.task;
  for (const field of figure.querySelectorAll("[data-control]")) {
    field.value = state[field.dataset.control];
    const idle =
      (!state.ffn && ["d_ff", "activation"].includes(field.dataset.control)) ||
      (!state.attention && field.dataset.control === "heads");
    field.disabled = idle; // it would change nothing
  }
  for (const { key, value, sub, cloud: where, elements } of BLOCKS) {
    const element = elements.get(it),
      part = sub ?? "attention";
    const on = value
      ? state.norm === value && state[part]
      : key === "residual"
        ? state.residual && state[part]
        : state[key];
    element.hidden = where !== undefined && where !== cloud;
    if (element.type === "button") {
      element.setAttribute("aria-pressed", value ? state.norm === value : state[key]);
      element.classList.toggle("pg-off", !on);
    }
    const small = {
      attention: `${state.heads} head${state.heads > 1 ? "s" : ""}`,
      ffn: `${state.width} → ${state.d_ff} → ${state.width}`,
    }[key];
    if (small) element.lastChild.textContent = state[key] ? small : "off";
  }
  const diagram = it.$(".pg-diagram");
  diagram.dataset.skips = [
    state.residual && state.attention && "attention",
    state.residual && state.ffn && "ffn",
  ]
    .filter(Boolean)
    .join(" ");
  diagram.dataset.deep = state.depth > 1;
  it.$(".pg-depth output").textContent = `× ${state.depth}`;
  for (const button of figure.querySelectorAll(".pg-depth button"))
    button.disabled = !CONTROLS.depth.includes(state.depth + Number(button.dataset.by));
  it.$("[data-title]").textContent = TASKS[state.task][1];
  it.$("[data-strip]").textContent = cloud
    ? "What the readout would say after each layer"
    : "Who looks (rows) at whom (columns)";
  it.$("[data-do=example]").hidden = cloud;
  it.$(".pg-note").textContent = "";
  const set = it.tries.find((one) => one.query === query);
  const own = "A state of your own: guess what you will see, then press Train.";
  it.$(".pg-expect").replaceChildren(
    ...(set ? [`${set.expect} ${set.found} `, it.link ? make("a", { href: set.chapter }, set.title) : ""] : [own]),
  );
  for (const anchor of figure.querySelectorAll(".pg-tries a")) {
    if (anchor.dataset.query === query) anchor.setAttribute("aria-current", "true");
    else anchor.removeAttribute("aria-current");
  }
}
