// The figure: controls, the worker behind them, and what it has learned so far.

import { coloursOf, drawCurve, drawLooks, drawPattern, drawPlane, drawThumbnail } from "./picture.js";
import { CONTROLS, fromQuery, isCloud, startOf, toQuery } from "./state.js";
import { QUESTIONS, answers, bestLine, pointsOf, words } from "./tasks.js";

const WRITE_EVERY = 300; // ms, at least, between two writes of the address
const STILL =
  "This figure stands still: training in the page takes JavaScript and a browser that lets it start a worker.";

const TASKS = {
  moons: ["Moons", "Which of two interlocking half circles does the point belong to?"],
  rings: ["Rings", "Does the point lie in the disc or in the ring around it?"],
  xor: ["XOR", "Do the signs of the two coordinates agree?"],
  checkerboard: ["Checkerboard", "Does the point lie on a white square or on a black one?"],
  previous: ["Previous token", "Which letter stands before the last?"],
  induction: ["Induction", "The last letter has been seen before. What followed it then?"],
  two_hop: ["Two look-ups", "Each entry leads on. Where does the last letter lead in two steps?"],
  xor_among: ["XOR of two", "Is exactly one of the two underlined bits a 1?"],
};
const SAMPLES = { previous: "A B C", induction: "A C … A", two_hop: "A→B→C", xor_among: "0 1 1 0" };
const SHORTCUTS = {
  previous: "guessing among the others",
  induction: "always one position",
  two_hop: "guessing among the rest",
  xor_among: "counting the marked ones",
};

// Blocks of the drawing: x, y, width, height in a box of 260 × 440; what a press changes; what they do.
const BLOCKS = [
  {
    key: "constant",
    at: [12, 0, 112, 30],
    name: "Constant token",
    cloud: true,
    about: "A second token, the same for every point. With it attention has a choice.",
  },
  { key: "token", at: [132, 0, 92, 30], name: "token (x, y)", cloud: true },
  {
    key: "positions",
    at: [4, 0, 80, 30],
    name: "Positions",
    cloud: false,
    parameters: "positions",
    about: "A learned vector for each place. Without it the tokens are a set.",
  },
  { key: "tokens", at: [90, 0, 56, 30], name: "tokens", cloud: false },
  {
    key: "causal",
    at: [152, 0, 104, 30],
    name: "Causal mask",
    cloud: false,
    about: "Each token sees itself and those before it.",
  },
  {
    key: "embedding",
    at: [48, 44, 140, 28],
    name: "Embedding",
    parameters: "embedding",
    about: "One matrix: features become a vector.",
  },
  {
    key: "norm",
    value: "pre",
    at: [56, 97, 124, 22],
    name: "LayerNorm",
    label: "LayerNorm before attention (pre-LN)",
    parameters: "attention_norm",
    about: "Pre-LN: each token is brought to mean 0 and variance 1 before the sub-layer reads it.",
  },
  {
    key: "attention",
    at: [48, 127, 140, 44],
    name: "Attention",
    parameters: "attention.",
    about: "Each token takes a weighted mean of all of them; the weights depend on the tokens.",
  },
  {
    key: "residual",
    at: [6, 88, 38, 104],
    name: "",
    label: "Skip connection around attention",
    about: "The skip: what went in is added to what the sub-layer gives.",
  },
  {
    key: "norm",
    value: "post",
    at: [56, 209, 124, 22],
    name: "LayerNorm",
    label: "LayerNorm after attention (post-LN)",
    parameters: "attention_norm",
    about: "Post-LN: each token is brought to mean 0 and variance 1 after the skip.",
  },
  {
    key: "norm",
    value: "pre",
    at: [56, 249, 124, 22],
    name: "LayerNorm",
    label: "LayerNorm before the FFN (pre-LN)",
    parameters: "ffn_norm",
    sub: "ffn",
    about: "Pre-LN: each token is brought to mean 0 and variance 1 before the sub-layer reads it.",
  },
  {
    key: "ffn",
    at: [48, 279, 140, 44],
    name: "FFN",
    parameters: "ffn.",
    about: "Two matrices with an activation between them, for each token alone.",
  },
  {
    key: "residual",
    at: [6, 240, 38, 104],
    name: "",
    label: "Skip connection around the FFN",
    sub: "ffn",
    about: "The skip: what went in is added to what the sub-layer gives.",
  },
  {
    key: "norm",
    value: "post",
    at: [56, 361, 124, 22],
    name: "LayerNorm",
    label: "LayerNorm after the FFN (post-LN)",
    parameters: "ffn_norm",
    sub: "ffn",
    about: "Post-LN: each token is brought to mean 0 and variance 1 after the skip.",
  },
  {
    key: "readout",
    at: [48, 410, 140, 28],
    name: "Readout",
    parameters: "readout",
    about: "One matrix: the last token's vector becomes a score for each answer.",
  },
];
const LABELS = {
  heads: "Heads",
  width: "Width",
  d_ff: "FFN width",
  activation: "Activation",
  lr: "Learning rate",
  seed: "Seed",
};
const PLAY = "M3 1l11 7-11 7z",
  PAUSE = "M3 2h4v12H3zM9 2h4v12H9z";

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const percent = (share) => `${Math.floor(100 * share + 1e-9)} %`; // 99.5 is not 100

class Playground {
  constructor(figure) {
    this.figure = figure;
    this.$ = (selector) => figure.querySelector(selector);
    const { tries, link } = JSON.parse(this.$("script[type='application/json']").textContent);
    Object.assign(this, {
      tries,
      link,
      points: {},
      lines: {},
      running: false,
      visible: true,
      frame: null,
      losses: [],
      accuracies: [],
      seed: 0,
    });
    this.worker = new Worker(URL.createObjectURL(new Blob([`(${work})()`], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = () => this.stand();
    this.build();
    this.begin(figure.dataset.state);
    if (link) this.restore();
  }

  /** Give up: the pictures drawn beforehand stay, with a sentence. */
  stand() {
    this.worker?.terminate();
    this.figure.dataset.still = "";
    this.$(".pg-still").textContent = STILL;
  }

  // ---- state ------------------------------------------------------------------------------------------------

  begin(query) {
    const { state, complaints } = fromQuery(query);
    this.state = state;
    this.speed(isCloud(state.task) ? 30 : 0);
    this.reset(complaints);
  }

  /** Move a control: training begins anew, and goes on if it was going on. */
  set(changes, write = true) {
    const was = this.running;
    const other = changes.task && changes.task !== this.state.task;
    this.state = { ...(other ? startOf(changes.task) : this.state), ...changes };
    if (other) this.speed(isCloud(this.state.task) ? 30 : 0);
    this.reset();
    if (was) this.train(true);
    if (write) this.write();
  }

  reset(complaints = []) {
    Object.assign(this, {
      complaints,
      losses: [],
      accuracies: [],
      frame: null,
      epoch: (this.epoch ?? 0) + 1,
    });
    this.train(false, false);
    this.worker.postMessage({ type: "reset", state: this.state, epoch: this.epoch });
    this.showControls();
  }

  train(on, tell = true) {
    this.running = on;
    if (tell) this.worker.postMessage({ type: on && this.visible ? "run" : "pause" });
    this.showTraining();
    this.say();
  }

  speed(steps) {
    this.$("[data-speed]").value = steps;
    this.worker.postMessage({ type: "speed", speed: steps });
  }

  /** Motion pauses when out of sight. */
  see(visible) {
    if (visible === this.visible) return;
    this.visible = visible;
    if (this.running) this.worker.postMessage({ type: visible ? "run" : "pause" });
  }

  address() {
    return `#${this.figure.id}?${toQuery(this.state)}`;
  }

  write() {
    if (!this.link) return;
    this.writing ??= setTimeout(() => {
      this.writing = undefined;
      history.replaceState(history.state, "", this.address());
    }, WRITE_EVERY);
  }

  restore() {
    const [name, query] = location.hash.slice(1).split("?");
    if (name !== this.figure.id || query === undefined) return;
    this.begin(query);
    this.figure.scrollIntoView();
  }

  // ---- what the worker sends --------------------------------------------------------------------------------

  receive(data) {
    if (data.type === "error") {
      this.stand();
      this.$(".pg-still").textContent = `Training stopped: ${data.message}.`;
      return;
    }
    requestAnimationFrame(() => {
      this.worker.postMessage({ type: "drawn" });
      if (data.epoch !== this.epoch) return; // of a state that has been left
      this.frame = data;
      this.losses.push(...data.losses);
      this.accuracies.push(...data.accuracies.filter(([, share]) => share !== null));
      if (this.running && (data.diverged || data.longest)) this.running = false;
      this.figure.dataset.ready = "";
      this.draw();
    });
  }

  draw() {
    if (!this.frame) return;
    this.colours ??= coloursOf(this.figure);
    const { frame, state, colours } = this,
      plane = this.$(".pg-plane"),
      heads = state.heads;
    for (const [name, text] of Object.entries(this.numbers()))
      this.$(`[data-number="${name}"]`).textContent = text;
    if (frame.maps && isCloud(state.task)) {
      drawPlane(plane, frame.maps.at(-1), frame.res, this.pointsOf(state.task), colours);
      this.strip(frame.maps.map((_, i) => (i ? `layer ${i}` : "embedding"))).forEach((canvas, i) =>
        drawPlane(canvas, frame.maps[i], frame.res, null, colours),
      );
    } else if (frame.example && !isCloud(state.task)) {
      const names = words(state.task, frame.example.features),
        n = names.length;
      drawLooks(plane, frame.example, names, answers(state.task), heads, colours);
      const patterns = frame.example.patterns.flatMap((pattern, layer) =>
        pattern
          ? Array.from({ length: heads }, (_, a) => [
              `layer ${layer + 1}${heads > 1 ? `, head ${a + 1}` : ""}`,
              pattern.subarray(a * n * n, (a + 1) * n * n),
            ])
          : [],
      );
      this.strip(patterns.map(([name]) => name)).forEach((canvas, i) =>
        drawPattern(canvas, patterns[i][1], n, names, colours),
      );
    }
    drawCurve(this.$(".pg-curve"), this.losses, this.accuracies, this.line(), colours);
    this.showTraining();
    this.say();
  }

  numbers() {
    const { steps, accuracy, parameters } = this.frame,
      loss = this.losses.at(-1)?.[1];
    return {
      steps,
      loss: loss === undefined ? "–" : Number.isFinite(loss) ? loss.toFixed(3) : "∞",
      accuracy: accuracy === null ? "–" : percent(accuracy),
      parameters: `· ${parameters.reduce((sum, [, size]) => sum + size, 0).toLocaleString("en")} parameters`,
    };
  }

  /** Small pictures, as many as there are names. */
  strip(names) {
    const strip = this.$(".pg-strip");
    if (strip.children.length !== names.length)
      strip.replaceChildren(
        ...names.map(() => make("div", {}, make("canvas", { "aria-hidden": "true" }), make("span"))),
      );
    strip.classList.toggle("pg-many", names.length > 4);
    names.forEach((name, i) => (strip.children[i].lastChild.textContent = name));
    return [...strip.querySelectorAll("canvas")];
  }

  pointsOf(task) {
    return (this.points[task] ??= pointsOf(task));
  }

  /** The line that accuracy must cross before anything has been learned that matters. */
  line() {
    const { task } = this.state;
    if (!isCloud(task))
      return {
        share: QUESTIONS[task].shortcut,
        label: `${SHORTCUTS[task]}: ${percent(QUESTIONS[task].shortcut)}`,
      };
    const share = (this.lines[task] ??= bestLine(this.pointsOf(task)));
    return { share, label: `the best straight line: ${percent(share)}` };
  }

  // ---- the sentence -----------------------------------------------------------------------------------------

  parts() {
    const { state: s } = this,
      cloud = isCloud(s.task),
      on = [];
    if (s.attention) on.push("attention");
    if (s.ffn) on.push(s.activation === "identity" ? "an FFN without a bend" : "an FFN");
    if (s.norm !== "none") on.push(`${s.norm}-LN`);
    const text = `${on.length ? on.join(", ") : "no sub-layer"}, ${s.depth} layer${s.depth > 1 ? "s" : ""}`;
    const also = [
      !s.residual && "no skips",
      cloud && s.constant && "a constant token",
      !cloud && s.positions !== startOf(s.task).positions && (s.positions ? "positions" : "no positions"),
      s.causal && !cloud && "causal mask",
    ];
    return [text, ...also.filter(Boolean)].join(", ");
  }

  say() {
    const { frame, state, complaints } = this,
      says = this.$(".pg-says");
    if (!frame) return;
    const cloud = isCloud(state.task),
      line = this.line(),
      parts = this.parts();
    const shown = `${TASKS[state.task][0]}, with ${parts}: `;
    let seen = "weights as drawn, nothing has been trained.";
    if (frame.diverged)
      seen = `the loss is no longer a number after ${frame.steps} steps. Training has diverged: a smaller learning rate may help.`;
    else if (frame.steps) {
      const share = frame.accuracy === null ? "" : percent(frame.accuracy);
      seen =
        `after ${frame.steps} step${frame.steps > 1 ? "s" : ""} ${share} of the ${cloud ? "200 points are on their side" : "last fresh examples were answered right"}; ` +
        `${line.label.replace(":", " gives")}.`;
      if (frame.solvedAt) seen += ` 98 % were reached after ${frame.solvedAt} steps.`;
      if (frame.longest && !this.running) seen += " Training pauses here; Reset begins anew.";
    }
    const text = [...complaints, shown + seen].join(" ");
    says.setAttribute("aria-live", this.running ? "off" : "polite"); // not at every step
    if (says.textContent !== text) says.textContent = text;
    this.$(".pg-plane").setAttribute("aria-label", text);
    this.$(".pg-curve").setAttribute(
      "aria-label",
      `Accuracy and loss over ${frame.steps} steps; ${line.label}.`,
    );
  }

  // ---- controls ---------------------------------------------------------------------------------------------

  build() {
    const { figure } = this;
    for (const { name, query } of this.tries) {
      const anchor = make("a", { href: `#${figure.id}?${query}`, "data-query": query }, name);
      anchor.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.begin(query);
        this.write();
      });
      this.$(".pg-tries").append(anchor);
    }
    for (const [task, [name]] of Object.entries(TASKS)) {
      const input = make("input", { type: "radio", name: `${figure.id}-task`, value: task });
      const picture = isCloud(task)
        ? make("canvas", { "data-thumbnail": task, "aria-hidden": "true" })
        : make("i", { "aria-hidden": "true" }, SAMPLES[task]);
      input.addEventListener("change", () => this.set({ task }));
      this.$(".pg-tasks").append(
        make("label", { title: TASKS[task][1] }, input, make("span", {}, picture, name)),
      );
    }
    const diagram = this.$(".pg-diagram");
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
        element.setAttribute("aria-label", label);
        element.addEventListener("click", () =>
          this.set({ [key]: value ? (this.state.norm === value ? "none" : value) : !this.state[key] }),
        );
      }
      element.append(make("span", {}, name), make("small"));
      for (const event of ["pointerenter", "focus"]) element.addEventListener(event, () => this.tell(block));
      block.elements = (block.elements ?? new Map()).set(this, element);
      diagram.append(element);
    }
    const stepper = make("div", { class: "pg-depth", role: "group", "aria-label": "Depth" });
    for (const [sign, by, label] of [
      ["+", 1, "One layer more"],
      ["−", -1, "One layer less"],
    ]) {
      const button = make("button", { type: "button", "aria-label": label, "data-by": by }, sign);
      button.addEventListener("click", () => this.set({ depth: this.state.depth + by }));
      stepper.append(button);
    }
    stepper.insertBefore(make("output", { "aria-live": "off" }), stepper.lastChild);
    diagram.append(stepper);
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
        if (fits) this.set({ [name]: value });
        else field.value = this.state.seed;
      });
      this.$(".pg-settings").append(make("label", {}, text, field));
    }
    const actions = {
      train: () => this.train(!this.running),
      step: () => {
        this.running = false;
        this.worker.postMessage({ type: "step" });
        this.showTraining();
      },
      reset: () => this.reset(),
      example: () => this.worker.postMessage({ type: "example", seed: ++this.seed }),
      copy: () => this.copy(),
      save: () => this.save(),
    };
    for (const button of figure.querySelectorAll("[data-do]"))
      button.addEventListener("click", actions[button.dataset.do]);
    this.$("[data-speed]").addEventListener("change", (event) =>
      this.worker.postMessage({ type: "speed", speed: Number(event.target.value) }),
    );
    this.$("[data-do=copy]").hidden = !this.link;
    figure.dataset.live = "";
    const redraw = () => {
      this.colours = coloursOf(figure);
      this.thumbnails();
      this.draw();
    };
    new ResizeObserver(redraw).observe(this.$(".pg-stage"));
    new MutationObserver(redraw).observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["data-theme"],
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    let inside = true;
    const look = () => this.see(inside && !document.hidden);
    new IntersectionObserver(([{ isIntersecting }]) => {
      inside = isIntersecting;
      look();
    }).observe(this.$(".pg-stage"));
    document.addEventListener("visibilitychange", look);
    if (this.link) addEventListener("hashchange", () => this.restore());
  }

  thumbnails() {
    for (const canvas of this.figure.querySelectorAll("[data-thumbnail]"))
      drawThumbnail(canvas, this.pointsOf(canvas.dataset.thumbnail), this.colours);
  }

  /** Say what a block does, and how many numbers it holds. */
  tell({ about, parameters, name, label = name }) {
    if (!about) return;
    const groups =
      this.frame?.parameters.filter(
        ([path]) =>
          parameters && path.includes(parameters) && (parameters.includes("norm") || !path.includes("_norm")),
      ) ?? [];
    const count = groups.reduce((sum, [, size]) => sum + size, 0);
    this.$(".pg-about").textContent =
      `${label}. ${about}${count ? ` ${count.toLocaleString("en")} parameters.` : parameters ? " Off: no parameters." : ""}`;
  }

  showControls() {
    const { state, figure } = this,
      cloud = isCloud(state.task),
      query = toQuery(state);
    for (const input of figure.querySelectorAll(".pg-tasks input"))
      input.checked = input.value === state.task;
    for (const field of figure.querySelectorAll("[data-control]")) {
      field.value = state[field.dataset.control];
      const idle =
        (!state.ffn && ["d_ff", "activation"].includes(field.dataset.control)) ||
        (!state.attention && field.dataset.control === "heads");
      field.closest("label").classList.toggle("pg-idle", idle);
    }
    for (const { key, value, sub, cloud: where, elements } of BLOCKS) {
      const element = elements.get(this),
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
    const diagram = this.$(".pg-diagram");
    diagram.dataset.skips = [
      state.residual && state.attention && "attention",
      state.residual && state.ffn && "ffn",
    ]
      .filter(Boolean)
      .join(" ");
    diagram.dataset.deep = state.depth > 1;
    this.$(".pg-depth output").textContent = `× ${state.depth}`;
    for (const button of figure.querySelectorAll(".pg-depth button"))
      button.disabled = !CONTROLS.depth.includes(state.depth + Number(button.dataset.by));
    this.$("[data-title]").textContent = TASKS[state.task][1];
    this.$("[data-strip]").textContent = cloud
      ? "What the readout would say after each layer"
      : "Who looks (rows) at whom (columns)";
    this.$("[data-do=example]").hidden = cloud;
    this.$(".pg-note").textContent = "";
    const set = this.tries.find((one) => one.query === query);
    const own = "A state of your own: guess what you will see, then press Train.";
    this.$(".pg-expect").replaceChildren(
      ...(set ? [`${set.expect} ${set.found} `, make("a", { href: set.chapter }, set.title)] : [own]),
    );
    for (const anchor of figure.querySelectorAll(".pg-tries a")) {
      if (anchor.dataset.query === query) anchor.setAttribute("aria-current", "true");
      else anchor.removeAttribute("aria-current");
    }
  }

  showTraining() {
    const button = this.$("[data-do=train]"),
      text = this.running ? "Pause" : "Train";
    if (button.lastElementChild.textContent === text) return;
    button.lastElementChild.textContent = text;
    button.querySelector("path").setAttribute("d", this.running ? PAUSE : PLAY);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(location.href.split("#")[0] + this.address());
      this.$(".pg-note").textContent = "Link copied";
    } catch {
      history.replaceState(history.state, "", this.address());
      this.$(".pg-note").textContent = "The link is in the address bar";
    }
  }

  /** The picture, with its sentence under it, as a file. */
  save() {
    const plane = this.$(".pg-plane"),
      size = 1200,
      margin = 40,
      text = this.$(".pg-says").textContent.split(" ");
    const canvas = make("canvas"),
      g = canvas.getContext("2d"),
      { ink, paper } = this.colours;
    const lines = [""];
    g.font = "30px sans-serif";
    for (const word of text) {
      if (g.measureText(lines.at(-1) + word).width > size) lines.push("");
      lines[lines.length - 1] += `${word} `;
    }
    canvas.width = size + 2 * margin;
    canvas.height = size + 3 * margin + 42 * lines.length;
    g.fillStyle = `rgb(${paper})`;
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.drawImage(plane, margin, margin, size, size);
    Object.assign(g, { fillStyle: `rgb(${ink})`, font: "30px sans-serif", textBaseline: "top" });
    lines.forEach((line, i) => g.fillText(line, margin, size + 2 * margin + 42 * i));
    canvas.toBlob((blob) => {
      const address = URL.createObjectURL(blob);
      make("a", { href: address, download: "playground.png" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    });
  }
}

// The lines between the blocks; the two skips carry the name of the sub-layer that they lead round.
const WIRES = `<svg viewBox="0 0 260 440" aria-hidden="true"><g class="pg-wire"><path d="M118 30V44M118 72V97M118 119V127M118 171V179M118 201V209M118 231V249M118 271V279M118 323V331M118 353V361M118 383V410"/></g>
<g class="pg-skip-line" data-part="attention"><path d="M118 88H34q-10 0-10 10v82q0 10 10 10h73"/><circle cx="118" cy="190" r="11"/><path d="M112 190h12M118 184v12"/></g>
<g class="pg-skip-line" data-part="ffn"><path d="M118 240H34q-10 0-10 10v82q0 10 10 10h73"/><circle cx="118" cy="342" r="11"/><path d="M112 342h12M118 336v12"/></g></svg><div class="pg-frame"></div>`;

for (const figure of document.querySelectorAll("figure.playground:not([data-found])")) {
  figure.dataset.found = ""; // the script may stand in the page twice
  try {
    new Playground(figure);
  } catch (error) {
    figure.dataset.still = "";
    figure.querySelector(".pg-still").textContent = STILL;
    if (!(error instanceof DOMException || error instanceof ReferenceError || error instanceof TypeError))
      throw error;
  }
}
