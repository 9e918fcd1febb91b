// What the figure says and where its blocks stand.

export const TASKS = {
  moons: ["Moons", "Which of two interlocking half circles does the point belong to?"],
  rings: ["Rings", "Does the point lie in the disc or in the ring around it?"],
  xor: ["XOR", "Do the signs of the two coordinates agree?"],
  checkerboard: ["Checkerboard", "Does the point lie on a white square or on a black one?"],
  previous: ["Previous token", "Which letter stands before the last?"],
  induction: ["Induction", "The last letter has been seen before. What followed it then?"],
  two_hop: ["Two look-ups", "Each entry leads on. Where does the last letter lead in two steps?"],
  xor_among: ["XOR of two", "Is exactly one of the two underlined bits a 1?"],
};
export const SAMPLES = { previous: "A B C", induction: "A C … A", two_hop: "A→B→C", xor_among: "0 1 1 0" };
export const SHORTCUTS = {
  previous: "guessing among the others",
  induction: "one position, or the next",
  two_hop: "guessing among the rest",
  xor_among: "counting the marked ones",
};

// Blocks of the drawing: x, y, width, height in a box of 260 × 440; what a press changes; what they do.
export const BLOCKS = [
  {
    key: "constant",
    at: [2, 0, 124, 30],
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
export const LABELS = {
  heads: "Heads",
  width: "Width",
  d_ff: "FFN width",
  activation: "Activation",
  lr: "Learning rate",
  seed: "Seed",
};
export const PLAY = "M3 1l11 7-11 7z";
export const PAUSE = "M3 2h4v12H3zM9 2h4v12H9z";

// The lines between the blocks; the two skips carry the name of the sub-layer that they lead round.
const skip = (part, from) =>
  `<g class="pg-skip-line" data-part="${part}"><path d="M118 ${from}H34q-10 0-10 10v82q0 10 10 10h73"/>` +
  `<circle cx="118" cy="${from + 102}" r="11"/><path d="M112 ${from + 102}h12M118 ${from + 96}v12"/></g>`;
const wire = [30, 44, 72, 97, 119, 127, 171, 179, 201, 209, 231, 249, 271, 279, 323, 331, 353, 361, 383, 410]
  .map((y, i) => (i % 2 ? `V${y}` : `M118 ${y}`))
  .join("");
export const WIRES =
  `<svg viewBox="0 0 260 440" aria-hidden="true"><path class="pg-wire" d="${wire}"/>` +
  `${skip("attention", 88)}${skip("ffn", 240)}</svg><div class="pg-frame"></div>`;
