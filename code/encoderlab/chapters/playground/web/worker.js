// The worker: trains while the page draws, and sends a frame whenever the page has drawn the last one.

import { Trainer } from "./trainer.js";

const FRAME_EVERY = 60; // ms, at least, between two frames at full speed
const SLICE = 14; // ms of training between two looks at the messages
const SLOW_RES = 64; // the plane, drawn at leisure
const LONGEST = 3000; // steps, then training pauses by itself

let trainer,
  epoch,
  speed = 30,
  running = false,
  waiting = false,
  stale = false,
  seed = 0,
  losses = [],
  accuracies = [],
  last = 0;
const channel = new MessageChannel();
channel.port1.onmessage = () => tick();

/** speed is in steps a second; 0 is as fast as it goes. */
const soon = (ms) => (ms > 0 ? setTimeout(tick, ms) : channel.port2.postMessage(0));

const ACTIONS = {
  reset(message) {
    trainer = new Trainer(message.state);
    epoch = message.epoch; // frames of the state before are not drawn
    running = false;
    [losses, accuracies] = [[], [[0, trainer.accuracy()]]];
    frame();
  },
  run() {
    if (running || trainer.diverged) return;
    running = true;
    soon(0);
  },
  pause() {
    running = false;
    frame();
  },
  step() {
    running = false;
    train();
    frame();
  },
  speed(message) {
    speed = message.speed;
  },
  example(message) {
    seed = message.seed;
    frame();
  },
  drawn() {
    waiting = false;
    if (stale) frame();
  },
};

onmessage = ({ data }) => {
  try {
    ACTIONS[data.type](data);
  } catch (error) {
    running = false;
    postMessage({ type: "error", message: error.message });
  }
};

function train() {
  const loss = trainer.step();
  losses.push([trainer.steps, loss]);
  if (trainer.diverged || trainer.steps >= LONGEST) running = false;
}

function tick() {
  if (!running) return;
  const start = performance.now();
  if (speed) train();
  else while (running && performance.now() - start < SLICE) train();
  if (!running || (!waiting && start - last > (speed ? 0 : FRAME_EVERY))) frame();
  if (running) soon(speed ? 1000 / speed - (performance.now() - start) : 0);
}

function frame() {
  if (waiting) {
    stale = true; // the page has not drawn the last one: it gets the next when it has
    return;
  }
  [waiting, stale, last] = [true, false, performance.now()];
  const accuracy = trainer.accuracy(),
    { steps, diverged, solvedAt } = trainer;
  if (accuracy !== null && steps) accuracies.push([steps, accuracy]);
  const message = {
    type: "frame",
    epoch,
    steps,
    diverged,
    solvedAt,
    running,
    accuracy,
    losses,
    accuracies,
    longest: steps >= LONGEST,
  };
  if (trainer.cloud) {
    message.res = running ? (trainer.state.depth > 3 ? 28 : 40) : SLOW_RES;
    message.maps = trainer.maps(message.res);
  } else message.example = trainer.example(seed);
  message.parameters = Object.entries(trainer.model.parameters).map(([name, { w }]) => [name, w.length]);
  postMessage(message);
  [losses, accuracies] = [[], []];
}
