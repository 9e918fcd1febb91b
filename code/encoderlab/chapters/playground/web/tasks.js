// What there is to learn: two classes of points in a plane, and questions about a sequence.

import { Random } from "./random.js";
const SCALE = 2; // coordinates in [−1, 1] are doubled, so that they start at about unit size

/** Each draws one point [x, y, class] inside the square from −1 to 1. */
export const CLOUDS = {
  moons(random) {
    // two half circles that reach into each other
    const label = random.integer(2),
      a = Math.PI * random.uniform(),
      s = label ? 1 : -1;
    const x = s * (0.55 * Math.cos(a) - 0.27),
      y = s * (0.75 * Math.sin(a) - 0.2);
    return [x + 0.05 * random.normal(), y + 0.05 * random.normal(), label];
  },
  rings(random) {
    // a disc inside a ring, as in chapter 1
    const label = random.integer(2),
      u = random.uniform(),
      a = 2 * Math.PI * random.uniform();
    const radius = Math.sqrt(label ? 0.36 + 0.45 * u : 0.2025 * u);
    return [radius * Math.cos(a), radius * Math.sin(a), label];
  },
  xor(random) {
    // four squares, and a gap along the axes
    const side = () => (0.05 + 0.85 * random.uniform()) * (random.integer(2) ? 1 : -1);
    const x = side(),
      y = side();
    return [x, y, x * y > 0 ? 1 : 0];
  },
  checkerboard(random) {
    // three by three squares
    const i = random.integer(3),
      j = random.integer(3),
      at = (k) => (k - 1) * 0.6 + 0.52 * (random.uniform() - 0.5);
    return [at(i), at(j), (i + j) % 2];
  },
};

/** The same points for everyone. */
export function pointsOf(name, count = 200) {
  const random = new Random(1000);
  return Array.from({ length: count }, () => CLOUDS[name](random));
}

/** Write example i as one token [2x, 2y, 1, 0], or after a constant token [0, 0, 0, 1] if n is 2. */
export function place(features, i, n, x, y) {
  const at = (i * n + n - 1) * 4;
  features[at] = SCALE * x;
  features[at + 1] = SCALE * y;
  features[at + 2] = 1;
  if (n === 2) features[at - 1] = 1;
}

/** Points as features (count, n, 4). */
export function tokensOf(points, n) {
  const features = new Float64Array(points.length * n * 4);
  points.forEach(([x, y], i) => place(features, i, n, x, y));
  return features;
}

/**
 * How many of the points the best straight line puts on its sides, as a share.
 *
 * The best line can be moved until it passes through two points, and from there back so that both are right:
 * so all pairs are tried, with the others counted on either side.
 */
export function bestLine(points) {
  let best = 0;
  for (let i = 0; i < points.length; i++)
    for (let j = 0; j < i; j++) {
      const [x, y] = points[i],
        dx = points[j][0] - x,
        dy = points[j][1] - y;
      let right = 0;
      points.forEach(([u, v, label], k) => {
        if (k !== i && k !== j) right += dx * (v - y) > dy * (u - x) === (label === 1);
      });
      best = Math.max(best, right + 2, points.length - right);
    }
  return best / points.length;
}

/** A question about a sequence: `fill(random, on)` sets features of tokens to 1, and returns the answer. */
const question = (n, n_features, n_classes, shortcut, fill) => ({
  shape: { n, n_features, n_classes, read_at: -1 },
  shortcut, // the accuracy that needs no understanding, as encoderlab.training.tasks has it
  draw(random, batch) {
    const features = new Float64Array(batch * n * n_features),
      target = new Uint8Array(batch);
    for (let b = 0; b < batch; b++)
      target[b] = fill(random, (token, feature) => (features[(b * n + token) * n_features + feature] = 1));
    return { features, target };
  },
});

const N = 8,
  M = 6,
  SYMBOLS = 12,
  BITS = 6;

export const QUESTIONS = {
  // Eight different symbols: which stands before the last?
  previous: question(N, N, N, 1 / (N - 1), (random, on) => {
    const s = random.permutation(N);
    s.forEach((symbol, i) => on(i, symbol));
    return s[N - 2];
  }),
  // The last symbol has been seen before: what followed it then?
  induction: question(N, N, N, 2 / (N - 2), (random, on) => {
    const s = random.permutation(N).slice(0, N - 1),
      copy = random.integer(N - 2);
    [...s, s[copy]].forEach((symbol, i) => on(i, symbol));
    return s[copy + 1];
  }),
  // Entries a → b of one cycle, in random order: where does the last symbol lead in two steps?
  two_hop: question(M + 1, 3 * SYMBOLS, SYMBOLS, 1 / (M - 3), (random, on) => {
    const s = random.permutation(SYMBOLS).slice(0, M),
      order = random.permutation(M);
    s.forEach((symbol, i) => {
      on(order[i], symbol);
      on(order[i], SYMBOLS + s[(i + 1) % M]);
    });
    on(M, 2 * SYMBOLS + s[0]);
    return s[2];
  }),
  // Two of six bits are marked: is exactly one of them a 1?
  xor_among: question(BITS + 1, 5, 2, 0.75, (random, on) => {
    const [a, b] = random.permutation(BITS);
    let ones = 0;
    for (let i = 0; i < BITS; i++) {
      const bit = random.integer(2),
        marked = i === a || i === b;
      on(i, bit + 2 * marked);
      if (marked) ones += bit;
    }
    on(BITS, 4);
    return ones % 2;
  }),
};

/** Write each token of one example as a reader sees it; "_" after a bit marks it. */
export function words(task, features) {
  const { n, n_features, n_classes } = QUESTIONS[task].shape,
    letter = (k) => String.fromCharCode(65 + k);
  return Array.from({ length: n }, (_, i) => {
    const on = [...features.slice(i * n_features, (i + 1) * n_features).keys()].filter(
      (f) => features[i * n_features + f],
    );
    if (task === "xor_among") return on[0] === 4 ? "?" : `${on[0] % 2}${on[0] > 1 ? "_" : ""}`;
    if (task === "two_hop")
      return on.length === 2
        ? `${letter(on[0])}→${letter(on[1] - n_classes)}`
        : letter(on[0] - 2 * n_classes);
    return letter(on[0]);
  });
}

/** What the classes are called. */
export const answers = (task) =>
  task === "xor_among"
    ? ["no", "yes"]
    : Array.from({ length: QUESTIONS[task].shape.n_classes }, (_, k) => String.fromCharCode(65 + k));
