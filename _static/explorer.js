// Lets a reader steer the explorers of a page. Every state was drawn when the book was built (explorer/page.py):
// here the states are unpacked while the browser is idle, and the one that the controls describe is shown.
(() => {
  "use strict";
  const WRITE_EVERY = 300; // ms, at least, between two writes of the address
  const STEP_EVERY = 600; // ms between two steps of a control that plays

  // A state lists, for each control, the place of its value among the control's values.
  class Explorer {
    constructor(figure, { controls, frames, sentences }) {
      Object.assign(this, { figure, frames, sentences, form: figure.querySelector("form") });
      this.panels = figure.querySelectorAll(".explorer-moving");
      this.says = figure.querySelector(".explorer-says");
      this.note = figure.querySelector(".explorer-note");
      this.controls = controls.map(([name, texts, start]) => {
        const inputs = [...this.form.querySelectorAll(`input[name="${name}"]`)];
        return { name, texts, start, inputs, input: inputs[0], isRange: inputs[0].type === "range" };
      });
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.addEventListener("input", () => {
        this.stop();
        this.move(this.chosen());
      });
      for (const button of this.form.querySelectorAll("button"))
        button.addEventListener("click", () => this[button.dataset.do](button));
      this.show(this.initial());
    }

    initial() {
      return this.controls.map(({ start }) => start);
    }

    chosen() {
      return this.controls.map(({ isRange, input, inputs }) =>
        isRange ? (input.value - input.min) / input.step : inputs.findIndex((radio) => radio.checked));
    }

    show(state) {
      let frame = 0; // states are in order, the last control varying fastest
      this.controls.forEach(({ isRange, texts, input, inputs }, k) => {
        frame = frame * texts.length + state[k];
        if (isRange) {
          input.value = +input.min + state[k] * input.step;
          input.setAttribute("aria-valuetext", texts[state[k]]);
          input.closest(".explorer-steps").querySelector("output").textContent = texts[state[k]];
        } else inputs[state[k]].checked = true;
      });
      this.panels.forEach((panel, k) => (panel.innerHTML = this.frames[frame][k]));
      this.says.textContent = this.sentences[frame];
      this.note.textContent = "";
    }

    move(state) {
      this.show(state);
      write(this);
    }

    reset() {
      this.stop();
      this.move(this.initial());
    }

    async copy() {
      const address = location.href.split("#")[0] + this.link();
      try {
        await navigator.clipboard.writeText(address);
        this.note.textContent = "Link copied";
      } catch {
        write(this);
        if (window === window.top) this.note.textContent = "The link is in the address bar";
        else this.note.replaceChildren("Not copied. The link is ", anchor(address)); // the bar is another page's
      }
    }

    play(button) {
      if (this.stop() === button) return;
      const k = this.controls.findIndex(({ name }) => name === button.dataset.key);
      const count = this.controls[k].texts.length;
      const step = () => {
        const state = this.chosen();
        state[k] = (state[k] + 1) % count;
        this.move(state);
        if (state[k] === count - 1) this.stop();
      };
      this.playing = { button, timer: setInterval(step, STEP_EVERY) };
      button.firstChild.data = "Pause";
      this.says.setAttribute("aria-live", "off"); // a sentence at every step is too much to listen to
      step();
    }

    stop() {
      const { button, timer } = this.playing ?? {};
      if (button) button.firstChild.data = "Play";
      clearInterval(timer);
      this.playing = undefined;
      this.says.setAttribute("aria-live", "polite");
      return button;
    }

    // What the address says after its "#": name?ffn=off&depth=6
    link() {
      const state = this.chosen();
      const values = this.controls.map(({ name, texts }, k) => [name, texts[state[k]]]);
      return `#${this.figure.id}?${new URLSearchParams(values)}`;
    }

    restore() {
      const { name, query } = asked();
      if (name !== this.figure.id || query === undefined) return;
      const values = new URLSearchParams(query);
      const places = this.controls.map(({ name, texts }) => texts.indexOf(values.get(name)));
      this.stop();
      this.show(places.map((place, k) => (place < 0 ? this.controls[k].start : place)));
      const unknown = [...values].filter(([key, value]) =>
        !this.controls.some(({ name, texts }) => name === key && texts.includes(value)));
      if (unknown.length) {
        const states = unknown.map(([key, value]) => `${key} = ${value}`).join(", ");
        this.note.textContent = `The address asks for ${states}, which this figure does not have`;
      }
      this.figure.scrollIntoView();
    }
  }

  // What the address asks for: the figure before the "?", and the state behind it, if there is one.
  function asked() {
    const [name, query] = location.hash.slice(1).split("?");
    return { name, query };
  }

  // A figure that the address names and this page does not have is told at the head of the page.
  function tellWhatIsMissing() {
    document.querySelector(".explorer-missing")?.remove();
    const { name, query } = asked();
    if (!name || query === undefined || document.getElementById(name)) return;
    const note = document.createElement("p");
    note.className = "explorer-missing";
    note.setAttribute("role", "status");
    note.textContent = `The address asks for the figure "${name}", which is not on this page.`;
    (document.querySelector("article") ?? document.body).prepend(note);
  }

  function anchor(address) {
    const link = document.createElement("a");
    Object.assign(link, { href: address, textContent: address, target: "_blank" });
    return link;
  }

  let moved, writing; // the explorer that moved last, and the timer after which the address names it
  function write(explorer) {
    moved = explorer;
    writing ??= setTimeout(() => {
      writing = undefined;
      history.replaceState(history.state, "", moved.link());
      document.querySelector(".explorer-missing")?.remove();
    }, WRITE_EVERY);
  }

  async function unpack(figure) {
    const bytes = Uint8Array.from(atob(figure.querySelector("script").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  async function start(figure) {
    const states = await unpack(figure).catch(() => undefined);
    if (!states) {
      figure.dataset.still = ""; // explorer.css shows the note that says so
      return;
    }
    const explorer = new Explorer(figure, states);
    explorer.form.hidden = false;
    explorer.restore();
    addEventListener("hashchange", () => explorer.restore());
    figure.dataset.ready = "";
  }

  function startAll() {
    tellWhatIsMissing();
    addEventListener("hashchange", tellWhatIsMissing);
    const whenIdle = window.requestIdleCallback ?? ((task) => setTimeout(task, 100));
    for (const figure of document.querySelectorAll("figure.explorer:not(.diagram, [data-found])")) {
      figure.dataset.found = ""; // the script may be loaded twice
      whenIdle(() => start(figure), { timeout: 1000 });
    }
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
  else startAll();
})();
