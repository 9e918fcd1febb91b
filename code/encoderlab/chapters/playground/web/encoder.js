// The encoder of encoderlab a second time, in plain JavaScript: forward, exact backward, Adam.
//
// Names and the order of the parameters are those of encoderlab.training.classifier.Classifier. Every array is a
// Float64Array; the tokens of a batch are the rows of one matrix, (batch · n, width), row after row.

import { ACTIVATIONS } from "./activations.js";
import { Arena, addProduct } from "./matrix.js";

/**
 * The switches, as in EncoderConfig without RMSNorm and the parallel block, and three that NumPy's side keeps
 * elsewhere (positions, causal) or has not (attention).
 */
export const CONFIG = {
  d_model: 16, n_heads: 2, d_ff: 32, depth: 1, ffn: true, residual: true, norm: "none", activation: "relu",
  eps: 1e-5, final_norm: false, attention: true, positions: "none", causal: false,
};

const CHOICES = {
  norm: ["none", "post", "pre"], activation: Object.keys(ACTIVATIONS), positions: ["none", "learned", "sinusoidal"],
};

/** Throw an error that names the argument, what came and what was expected. */
function check(values, names, least) {
  for (const name of names)
    if (!Number.isInteger(values[name]) || values[name] < least)
      throw new RangeError(`${name} must be an integer of at least ${least}, got ${values[name]}`);
}

function checkConfig(config) {
  for (const name of Object.keys(config)) if (!(name in CONFIG)) throw new RangeError(`config has no ${name}`);
  check(config, ["d_model", "n_heads", "d_ff"], 1);
  check(config, ["depth"], 0);
  if (config.d_model % config.n_heads)
    throw new RangeError(`n_heads must divide d_model = ${config.d_model}, got ${config.n_heads}`);
  for (const name of ["ffn", "residual", "final_norm", "attention", "causal"])
    if (typeof config[name] !== "boolean") throw new RangeError(`${name} must be true or false, got ${config[name]}`);
  for (const [name, choices] of Object.entries(CHOICES))
    if (!choices.includes(config[name]))
      throw new RangeError(`${name} must be one of ${choices.join(", ")}, got ${config[name]}`);
  if (!(config.eps > 0 && config.eps < Infinity))
    throw new RangeError(`eps must be positive and finite, got ${config.eps}`);
}

/** Yield name and shape of every parameter in use, in order. */
function* shapes({ n, n_features, n_classes }, { d_model: d, d_ff: f, ...c }) {
  const norm = { gamma: [d], beta: [d] };
  yield ["embedding", { W: [n_features, d] }];
  if (c.positions === "learned") yield ["positions", { P: [n, d] }];
  yield ["readout", { W: [d, n_classes], b: [n_classes] }];
  const square = [d, d];
  for (let i = 0; i < c.depth; i++) {
    if (c.attention) {
      const matrices = { W_Q: square, W_K: square, W_V: square, W_O: square };
      yield [`layers.${i}.attention`, { ...matrices, b_Q: [d], b_K: [d], b_V: [d], b_O: [d] }];
      if (c.norm !== "none") yield [`layers.${i}.attention_norm`, norm];
    }
    if (c.ffn) {
      yield [`layers.${i}.ffn`, { W_1: [d, f], W_2: [f, d], b_1: [f], b_2: [d] }];
      if (c.norm !== "none") yield [`layers.${i}.ffn_norm`, norm];
    }
  }
  if (c.final_norm) yield ["final_norm", norm];
}

/** Sines in the even columns, cosines in the odd ones: (n, d). */
function sinusoidalPositions(n, d) {
  return Float64Array.from({ length: n * d }, (_, i) => {
    const column = i % d, angle = Math.floor(i / d) * 1e4 ** ((-2 * Math.floor(column / 2)) / d);
    return column % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** A token's features become a vector, the encoder mixes the vectors, one of them becomes class logits. */
export class Classifier {
  /**
   * @param shape {n, n_features, n_classes, read_at}: tokens, entries of a token, classes, the position read
   * @param config some of CONFIG
   * Parameters and gradient are one vector each; `parameters[name]` is {shape, w, g} with views into both.
   */
  constructor(shape, config) {
    const c = { ...CONFIG, ...config };
    checkConfig(c);
    check(shape, ["n", "n_features", "n_classes"], 1);
    if (!Number.isInteger(shape.read_at) || shape.read_at < -shape.n || shape.read_at >= shape.n)
      throw new RangeError(`read_at must be a position of n = ${shape.n} tokens, got ${shape.read_at}`);
    Object.assign(this, { shape, config: c, arena: new Arena(), parameters: {}, groups: {} });
    const groups = [...shapes(shape, c)], size = (s) => s.reduce((a, b) => a * b, 1);
    const total = groups.flatMap(([, fields]) => Object.values(fields)).reduce((sum, s) => sum + size(s), 0);
    this.vector = new Float64Array(total);
    this.gradient = new Float64Array(total);
    let at = 0;
    for (const [name, fields] of groups) {
      this.groups[name] = {};
      for (const [field, s] of Object.entries(fields)) {
        const range = [at, (at += size(s))];
        const entry = { shape: s, w: this.vector.subarray(...range), g: this.gradient.subarray(...range) };
        this.groups[name][field] = this.parameters[`${name}.${field}`] = entry;
      }
    }
    this.layers = Array.from({ length: c.depth }, (_, i) => Object.fromEntries(
      ["attention", "attention_norm", "ffn", "ffn_norm"].map((part) => [part, this.groups[`layers.${i}.${part}`]]),
    ));
    this.sinusoid = c.positions === "sinusoidal" ? sinusoidalPositions(shape.n, c.d_model) : null;
  }

  /** Draw N(0, 1/fan_in), twice that for W_2, and N(0, 1/4) for embedding and positions; biases are zero. */
  draw(random) {
    for (const [name, { shape, w }] of Object.entries(this.parameters)) {
      if (shape.length === 1) w.fill(name.endsWith("gamma") ? 1 : 0);
      else {
        const outside = name === "embedding.W" || name === "positions.P";
        const scale = outside ? 0.5 : Math.sqrt((name.endsWith("W_2") ? 2 : 1) / shape[0]);
        for (let i = 0; i < w.length; i++) w[i] = scale * random.normal();
      }
    }
    return this;
  }

  /** features (batch, n, n_features) → logits (batch, n_classes). What was computed on the way stays in `trace`. */
  forward(features) {
    const { n, n_features, n_classes, read_at } = this.shape, { config: c, groups } = this, d = c.d_model;
    const batch = features.length / (n * n_features), rows = batch * n;
    if (!Number.isInteger(batch))
      throw new RangeError(`features must hold ${n} × ${n_features} numbers for each example, got ${features.length}`);
    this.arena.reset();
    let x = this.linear(features, n_features, groups.embedding.W); // (batch · n, d)
    const P = c.positions === "learned" ? groups.positions.P.w : this.sinusoid; // (n, d)
    if (P) for (let i = 0; i < x.length; i++) x[i] += P[i % P.length];
    const trace = (this.trace = { features, batch, hidden: [x], layers: [] });
    for (const layer of this.layers) {
      const kept = {};
      if (c.attention) {
        kept.attention = this.sublayer(x, layer.attention_norm, (z) => this.attention(z, layer.attention));
        x = kept.attention.output; // (batch · n, d)
      }
      if (c.ffn) {
        kept.ffn = this.sublayer(x, layer.ffn_norm, (z) => this.feedForward(z, layer.ffn));
        x = kept.ffn.output; // (batch · n, d)
      }
      trace.layers.push(kept);
      trace.hidden.push(x);
    }
    if (c.final_norm) {
      trace.final = this.standardize(x);
      x = this.rescale(trace.final, groups.final_norm);
    }
    trace.read = this.arena.zeros(batch * d); // (batch, d): one token of each example
    for (let b = 0, at = (read_at + n) % n; b < batch; b++, at += n)
      trace.read.set(x.subarray(at * d, (at + 1) * d), b * d);
    return (trace.logits = this.linear(trace.read, d, groups.readout.W, groups.readout.b)); // (batch, n_classes)
  }

  /** The mean cross-entropy of the targets (batch,); its gradient by every parameter is left in `gradient`. */
  lossAndGradient(features, target) {
    const logits = this.forward(features), { trace, config: c, groups } = this, { batch } = trace;
    const { n, n_features, n_classes: k, read_at } = this.shape, d = c.d_model;
    if (target.length !== batch) throw new RangeError(`target must hold ${batch} classes, got ${target.length}`);
    this.gradient.fill(0);
    const gLogits = this.arena.zeros(batch * k);
    let loss = 0;
    for (let b = 0, o = 0; b < batch; b++, o += k) {
      if (!(target[b] >= 0 && target[b] < k)) throw new RangeError(`target must lie in 0 to ${k - 1}, got ${target[b]}`);
      let largest = -Infinity, total = 0;
      for (let j = 0; j < k; j++) largest = Math.max(largest, logits[o + j]);
      for (let j = 0; j < k; j++) total += gLogits[o + j] = Math.exp(logits[o + j] - largest);
      for (let j = 0; j < k; j++) gLogits[o + j] = (gLogits[o + j] / total - (j === target[b] ? 1 : 0)) / batch;
      loss += Math.log(total) - (logits[o + target[b]] - largest);
    }
    const gRead = this.linearBack(gLogits, trace.read, d, groups.readout.W, groups.readout.b);
    let g = this.arena.zeros(batch * n * d); // only one token of each example was read
    for (let b = 0, at = (read_at + n) % n; b < batch; b++, at += n) g.set(gRead.subarray(b * d, (b + 1) * d), at * d);
    if (c.final_norm) g = this.rescaleBack(g, trace.final, groups.final_norm);
    for (let i = c.depth - 1; i >= 0; i--) {
      const layer = this.layers[i], { attention, ffn } = trace.layers[i];
      if (ffn) g = this.sublayerBack(g, ffn, layer.ffn_norm, (gy) => this.feedForwardBack(gy, ffn, layer.ffn));
      if (attention)
        g = this.sublayerBack(g, attention, layer.attention_norm,
          (gy) => this.attentionBack(gy, attention, layer.attention));
    }
    if (c.positions === "learned") {
      const gP = groups.positions.P.g; // (n, d)
      for (let i = 0; i < g.length; i++) gP[i % gP.length] += g[i];
    }
    addProduct(n_features, d, batch * n, features, 0, 1, n_features, g, 0, d, 1, groups.embedding.W.g, 0, d);
    return loss / batch;
  }

  // ---- the parts, each beside the way back through it -----------------------------------------------------

  /** x W + b for every row: (rows, k) → (rows, m). */
  linear(x, k, W, b) {
    const m = W.shape[1], rows = x.length / k, y = this.arena.zeros(rows * m);
    if (b) for (let i = 0; i < y.length; i += m) y.set(b.w, i);
    addProduct(rows, m, k, x, 0, k, 1, W.w, 0, m, 1, y, 0, m);
    return y;
  }

  /** ∂W += xᵀ g, ∂b += Σ g, and g Wᵀ is added to gx (rows, k). */
  linearBack(g, x, k, W, b, gx = this.arena.zeros(x.length)) {
    const m = W.shape[1], rows = x.length / k;
    addProduct(k, m, rows, x, 0, 1, k, g, 0, m, 1, W.g, 0, m);
    if (b) for (let i = 0; i < g.length; i += m) for (let j = 0; j < m; j++) b.g[j] += g[i + j];
    addProduct(rows, k, m, g, 0, m, 1, W.w, 0, 1, m, gx, 0, k);
    return gx;
  }

  /** Call `work(o, s)` for every head of every example: where its columns begin in Q, K, V, and its pattern. */
  eachHead(rows, work) {
    const { n } = this.shape, { d_model: d, n_heads: h } = this.config;
    for (let b = 0, s = 0; b < rows / n; b++) for (let a = 0; a < h; a++, s += n * n) work(b * n * d + (a * d) / h, s);
  }

  /** softmax(Q Kᵀ/√d_head) V for each head, then W_O. A lone token sees itself alone, so Q and K do nothing. */
  attention(z, w) {
    const { n } = this.shape, { d_model: d, n_heads: h, causal } = this.config, rows = z.length / d, dh = d / h;
    const V = this.linear(z, d, w.W_V, w.b_V); // (batch · n, h · d_head)
    if (n === 1) return { V, heads: V, y: this.linear(V, d, w.W_O, w.b_O) };
    const Q = this.linear(z, d, w.W_Q, w.b_Q), K = this.linear(z, d, w.W_K, w.b_K); // (batch · n, h · d_head)
    const pattern = this.arena.zeros(rows * h * n), heads = this.arena.zeros(rows * d); // pattern: (batch, h, n, n)
    this.eachHead(rows, (o, s) => {
      addProduct(n, n, dh, Q, o, d, 1, K, o, 1, d, pattern, s, n);
      for (let i = 0, row = s; i < n; i++, row += n) {
        const seen = causal ? i + 1 : n; // a token sees these first ones
        let largest = -Infinity, total = 0;
        for (let j = 0; j < seen; j++) largest = Math.max(largest, pattern[row + j]);
        for (let j = 0; j < seen; j++) total += pattern[row + j] = Math.exp((pattern[row + j] - largest) / Math.sqrt(dh));
        for (let j = 0; j < n; j++) pattern[row + j] = j < seen ? pattern[row + j] / total : 0;
      }
      addProduct(n, dh, n, pattern, s, n, 1, V, o, d, 1, heads, o, d);
    });
    return { Q, K, V, pattern, heads, y: this.linear(heads, d, w.W_O, w.b_O) };
  }

  /** With H = A V: ∂V = Aᵀ G, ∂A = G Vᵀ; back through the softmax; ∂Q = ∂S K/√d_head, ∂K = ∂Sᵀ Q/√d_head. */
  attentionBack(g, { z, kept: { Q, K, V, pattern, heads } }, w) {
    const { n } = this.shape, { d_model: d, n_heads: h } = this.config, dh = d / h, rows = z.length / d;
    const gHeads = this.linearBack(g, heads, d, w.W_O, w.b_O); // (batch · n, h · d_head)
    if (!pattern) return this.linearBack(gHeads, z, d, w.W_V, w.b_V);
    const [gQ, gK, gV, gS] = [rows * d, rows * d, rows * d, n * n].map((size) => this.arena.zeros(size));
    this.eachHead(rows, (o, s) => {
      addProduct(n, dh, n, pattern, s, 1, n, gHeads, o, d, 1, gV, o, d);
      gS.fill(0);
      addProduct(n, n, dh, gHeads, o, d, 1, V, o, 1, d, gS, 0, n); // ∂A, (n, n)
      for (let i = 0; i < n * n; i += n) {
        let along = 0;
        for (let j = i; j < i + n; j++) along += gS[j] * pattern[s + j];
        for (let j = i; j < i + n; j++) gS[j] = (pattern[s + j] * (gS[j] - along)) / Math.sqrt(dh); // ∂S
      }
      addProduct(n, dh, n, gS, 0, n, 1, K, o, d, 1, gQ, o, d);
      addProduct(n, dh, n, gS, 0, 1, n, Q, o, d, 1, gK, o, d);
    });
    const gz = this.linearBack(gQ, z, d, w.W_Q, w.b_Q);
    this.linearBack(gK, z, d, w.W_K, w.b_K, gz);
    return this.linearBack(gV, z, d, w.W_V, w.b_V, gz);
  }

  /** f(z W₁ + b₁) W₂ + b₂. */
  feedForward(z, w) {
    const { d_model: d, d_ff } = this.config, [f] = ACTIVATIONS[this.config.activation];
    const preactivation = this.linear(z, d, w.W_1, w.b_1), activation = this.arena.zeros(preactivation.length);
    for (let i = 0; i < activation.length; i++) activation[i] = f(preactivation[i]); // (batch · n, d_ff)
    return { preactivation, activation, y: this.linear(activation, d_ff, w.W_2, w.b_2) };
  }

  feedForwardBack(g, { z, kept: { preactivation, activation } }, w) {
    const { d_model: d, d_ff } = this.config, [, slope] = ACTIVATIONS[this.config.activation];
    const gPre = this.linearBack(g, activation, d_ff, w.W_2, w.b_2);
    for (let i = 0; i < gPre.length; i++) gPre[i] *= slope(preactivation[i]);
    return this.linearBack(gPre, z, d, w.W_1, w.b_1);
  }

  /** Skip and LayerNorm around F. Post-LN: LN(x + F(x)). Pre-LN: x + F(LN(x)). */
  sublayer(x, norm, F) {
    const { norm: where, residual } = this.config;
    let normed = where === "pre" ? this.standardize(x) : null;
    const z = normed ? this.rescale(normed, norm) : x, kept = F(z), u = kept.y; // all (batch · n, d)
    if (residual) for (let i = 0; i < u.length; i++) u[i] += x[i];
    if (where !== "post") return { z, kept, normed, output: u };
    normed = this.standardize(u);
    return { z, kept, normed, output: this.rescale(normed, norm) };
  }

  sublayerBack(g, { normed }, norm, FBack) {
    const { norm: where, residual } = this.config;
    if (where === "post") g = this.rescaleBack(g, normed, norm);
    let gx = FBack(g);
    if (where === "pre") gx = this.rescaleBack(gx, normed, norm);
    if (residual) for (let i = 0; i < gx.length; i++) gx[i] += g[i];
    return gx;
  }

  /** (x − mean)/√(variance + eps) for every row, and the roots. */
  standardize(x) {
    const { d_model: d, eps } = this.config, xHat = this.arena.zeros(x.length), sigma = this.arena.zeros(x.length / d);
    for (let i = 0, o = 0; o < x.length; i++, o += d) {
      let mean = 0, square = 0;
      for (let j = o; j < o + d; j++) mean += x[j] / d;
      for (let j = o; j < o + d; j++) square += (xHat[j] = x[j] - mean) ** 2;
      sigma[i] = Math.sqrt(square / d + eps);
      for (let j = o; j < o + d; j++) xHat[j] /= sigma[i];
    }
    return { xHat, sigma };
  }

  /** γ x̂ + β. */
  rescale({ xHat }, { gamma, beta }) {
    const d = this.config.d_model, y = this.arena.zeros(xHat.length);
    for (let o = 0; o < y.length; o += d) for (let j = 0; j < d; j++) y[o + j] = xHat[o + j] * gamma.w[j] + beta.w[j];
    return y;
  }

  /** (v − mean(v) − x̂ mean(v ⊙ x̂))/σ with v = γ ⊙ g. */
  rescaleBack(g, { xHat, sigma }, { gamma, beta }) {
    const d = this.config.d_model, gx = this.arena.zeros(g.length);
    for (let i = 0, o = 0; o < g.length; i++, o += d) {
      let mean = 0, along = 0;
      for (let j = 0; j < d; j++) {
        const v = (gx[o + j] = g[o + j] * gamma.w[j]);
        gamma.g[j] += g[o + j] * xHat[o + j];
        beta.g[j] += g[o + j];
        mean += v / d;
        along += (v * xHat[o + j]) / d;
      }
      for (let j = o; j < o + d; j++) gx[j] = (gx[j] - mean - xHat[j] * along) / sigma[i];
    }
    return gx;
  }
}

/** Adam of Kingma and Ba 2015, algorithm 1, in place. */
export class Adam {
  constructor(vector, beta_1 = 0.9, beta_2 = 0.999, eps = 1e-8) {
    const m = new Float64Array(vector.length), v = new Float64Array(vector.length);
    Object.assign(this, { vector, beta_1, beta_2, eps, m, v, steps: 0 });
  }

  step(gradient, lr) {
    if (!(lr > 0 && lr < Infinity)) throw new RangeError(`lr must be positive and finite, got ${lr}`);
    const { vector, m, v, beta_1, beta_2, eps } = this, t = ++this.steps;
    const rate = lr / (1 - beta_1 ** t), correction = 1 - beta_2 ** t;
    for (let i = 0; i < vector.length; i++) {
      m[i] = beta_1 * m[i] + (1 - beta_1) * gradient[i];
      v[i] = beta_2 * v[i] + (1 - beta_2) * gradient[i] * gradient[i];
      vector[i] -= (rate * m[i]) / (Math.sqrt(v[i] / correction) + eps);
    }
  }
}

/** The learning rate of a step, counted from 0: it rises linearly over `warmup` steps, then stays. */
export const warmedUp = (step, lr, warmup) => lr * Math.min(1, (step + 1) / Math.max(warmup, 1));
