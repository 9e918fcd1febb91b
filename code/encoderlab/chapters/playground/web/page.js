// The figure: controls, the worker behind them, and what it has learned so far.

import { buildControls, make, showControls } from "./controls.js";
import { coloursOf, drawCurve, drawLooks, drawPattern, drawPlane, drawThumbnail } from "./picture.js";
import { fromQuery, isCloud, startOf, toQuery } from "./state.js";
import { lineToCross, percent, sentence } from "./sentence.js";
import { answers, pointsOf, words } from "./tasks.js";
import { PAUSE, PLAY } from "./texts.js";

const WRITE_EVERY = 300; // ms, at least, between two writes of the address
const STILL =
  "This figure stands still: training in the page takes JavaScript and a browser that lets it start a worker.";

class Playground {
  constructor(figure) {
    this.figure = figure;
    this.$ = (selector) => figure.querySelector(selector);
    const { tries, link } = JSON.parse(this.$("script[type='application/json']").textContent);
    Object.assign(this, {
      tries,
      link,
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
    buildControls(this);
    this.watch();
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
    // a control moved, or the button was pressed
    Object.assign(this, {
      complaints,
      losses: [],
      accuracies: [],
      frame: null,
      epoch: (this.epoch ?? 0) + 1,
    });
    this.train(false, false);
    this.worker.postMessage({ type: "reset", state: this.state, epoch: this.epoch });
    showControls(this);
  }

  train(on = !this.running, tell = true) {
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
      drawPlane(plane, frame.maps.at(-1), frame.res, pointsOf(state.task), colours);
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
    drawCurve(this.$(".pg-curve"), this.losses, this.accuracies, lineToCross(state.task), colours);
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

  say() {
    if (!this.frame) return;
    const text = [...this.complaints, sentence(this.state, this.frame)].join(" "),
      says = this.$(".pg-says");
    says.setAttribute("aria-live", this.running ? "off" : "polite"); // not at every step
    if (says.textContent !== text) says.textContent = text;
    this.$(".pg-plane").setAttribute("aria-label", text);
    const { label } = lineToCross(this.state.task);
    this.$(".pg-curve").setAttribute(
      "aria-label",
      `Accuracy and loss over ${this.frame.steps} steps; ${label}.`,
    );
  }

  /** Draw anew when the figure's size or the page's colours change; pause when it is out of sight. */
  watch() {
    const { figure } = this;
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
      drawThumbnail(canvas, pointsOf(canvas.dataset.thumbnail), this.colours);
  }

  // ---- what buttons do ---------------------------------------------------------------------------------------

  step() {
    this.running = false;
    this.worker.postMessage({ type: "step" });
    this.showTraining();
  }

  example() {
    this.worker.postMessage({ type: "example", seed: ++this.seed });
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

for (const figure of document.querySelectorAll("figure.playground:not([data-found])")) {
  figure.dataset.found = ""; // the script may stand in the page twice
  figure.querySelector(".pg-still").textContent = window.Worker ? "" : STILL;
  try {
    if (window.Worker) new Playground(figure);
  } catch (error) {
    figure.dataset.still = "";
    figure.querySelector(".pg-still").textContent = STILL;
    if (!(error instanceof DOMException)) throw error; // the browser forbids workers here
  }
}
