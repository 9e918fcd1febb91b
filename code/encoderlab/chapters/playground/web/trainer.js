// Trains one state of the controls, step by step, and says what the model would answer.

import { Adam, Classifier, warmedUp } from "./encoder.js";
import { Random } from "./random.js";
import { checkState, isCloud } from "./state.js";
import { QUESTIONS, pointsOf, tokensOf } from "./tasks.js";

const BATCH = 64; // examples of a question in one step; points are all used in every step
const WINDOW = 10; // batches of fresh examples whose accuracy is averaged
const WARMUP = 50; // steps over which the learning rate rises, for questions

export class Trainer {
  /** `state` as in state.js; the same state gives the same training everywhere. */
  constructor(state) {
    checkState(state);
    this.state = state;
    this.cloud = isCloud(state.task);
    this.random = new Random(state.seed);
    const { width: d_model, heads: n_heads, d_ff, depth, ffn, residual, norm, activation, attention } = state;
    const config = { d_model, n_heads, d_ff, depth, ffn, residual, norm, activation, attention };
    let shape;
    if (this.cloud) {
      const points = pointsOf(state.task),
        n = state.constant ? 2 : 1;
      shape = { n, n_features: 4, n_classes: 2, read_at: -1 };
      this.batch = { features: tokensOf(points, n), target: Uint8Array.from(points, ([, , label]) => label) };
    } else {
      shape = QUESTIONS[state.task].shape;
      config.positions = state.positions ? "learned" : "none";
      config.causal = state.causal;
    }
    this.model = new Classifier(shape, config).draw(this.random);
    this.adam = new Adam(this.model.vector);
    this.recent = []; // accuracies of the last batches, each before the step that it led to
    this.steps = 0;
    this.solvedAt = null; // the steps after which 98 of 100 answers were right for the first time
    this.diverged = false;
  }

  /** One step; returns the loss before it. A loss that is not finite ends the training. */
  step() {
    const { features, target } = this.cloud
      ? this.batch
      : QUESTIONS[this.state.task].draw(this.random, BATCH);
    const loss = this.model.lossAndGradient(features, target);
    if (!Number.isFinite(loss)) {
      this.diverged = true;
      return loss;
    }
    this.recent.push(this.right(this.model.trace.logits, target));
    if (this.recent.length > (this.cloud ? 1 : WINDOW)) this.recent.shift();
    this.adam.step(this.model.gradient, warmedUp(this.steps, this.state.lr, this.cloud ? 0 : WARMUP));
    this.steps++;
    if (this.solvedAt === null && this.solved()) this.solvedAt = this.steps;
    return loss;
  }

  /** The share of right answers: on all points now, or on the fresh examples of the last ten batches. */
  accuracy() {
    if (this.cloud) return this.right(this.model.forward(this.batch.features), this.batch.target);
    return this.recent.length ? this.recent.reduce((a, b) => a + b, 0) / this.recent.length : null;
  }

  /** Whether 98 of 100 answers are right, over a full window. */
  solved() {
    const needed = this.cloud ? 1 : WINDOW;
    return this.recent.length === needed && this.recent.reduce((a, b) => a + b, 0) >= 0.98 * needed;
  }

  right(logits, target) {
    const k = this.model.shape.n_classes;
    let sum = 0;
    for (let b = 0; b < target.length; b++) {
      let best = 0;
      for (let j = 1; j < k; j++) if (logits[b * k + j] > logits[b * k + best]) best = j;
      sum += best === target[b];
    }
    return sum / target.length;
  }

  /** The readout applied to the token after each layer, log odds of class 1, on a square of res × res points. */
  maps(res) {
    const { n } = this.model.shape,
      d = this.model.config.d_model,
      { W, b } = this.model.groups.readout;
    if (this.square?.res !== res) {
      const at = (i) => (2 * (i + 0.5)) / res - 1;
      const points = Array.from({ length: res * res }, (_, i) => [at(i % res), -at(Math.floor(i / res))]);
      this.square = { res, features: tokensOf(points, n) };
    }
    this.model.forward(this.square.features);
    const w = Array.from({ length: d }, (_, j) => W.w[2 * j + 1] - W.w[2 * j]);
    return this.model.trace.hidden.map((hidden) =>
      Float32Array.from({ length: res * res }, (_, i) => {
        let odds = b.w[1] - b.w[0];
        for (let j = 0, o = (i * n + n - 1) * d; j < d; j++) odds += hidden[o + j] * w[j];
        return odds;
      }),
    );
  }

  /** One example of a question: what is seen by whom in each layer, and what the model answers. */
  example(seed) {
    const { features, target } = QUESTIONS[this.state.task].draw(new Random(seed), 1);
    const logits = this.model.forward(features),
      largest = Math.max(...logits);
    const odds = Array.from(logits, (v) => Math.exp(v - largest)),
      total = odds.reduce((a, b) => a + b, 0);
    const patterns = this.model.trace.layers.map(({ attention }) =>
      attention ? Float32Array.from(attention.kept.pattern) : null,
    );
    return { features, target: target[0], probabilities: odds.map((v) => v / total), patterns };
  }
}
