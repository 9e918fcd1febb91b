// Elementwise functions, each beside its derivative, as in encoderlab.model.activations.

const ROOT_2_OVER_PI = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715; // the one fitted constant of the tanh form of GELU

// Chebyshev coefficients of (4 + a) exp(a²/2) Q(a) in t = (a − 4)/(a + 4), from encoderlab.model.gaussian.
const COEFFICIENTS = [
  0.9704512045660766, -0.7517088168395706, 0.22219355567525104, -0.048517753260446085, 0.006925920496242481,
  -0.00032059847439814995, -0.00010054739163210679, 1.8903369019706965e-05, 1.010356885474631e-06,
  -6.145334749397824e-07, -3.3810201200691756e-09, 2.0686508061742833e-08, -1.1282603632469507e-10,
  -7.774015228388695e-10, -9.941424191404708e-12, 3.174482949858303e-11, 1.842480684470494e-12,
  -1.3128616466710965e-12, -1.7415362652654813e-13, 4.9072740317044244e-14, 1.2931384326165576e-14,
  -1.2180663521726341e-15, -8.052147372620933e-16, -2.8604941442616213e-17, 4.057064424335354e-17,
];

/** Q(a), the chance that a standard normal variable exceeds a ≥ 0, by Clenshaw's recurrence. */
function upperTail(a) {
  if (a > 40) return 0;
  const t = (a - 4) / (a + 4);
  let next = 0, here = 0;
  for (let i = COEFFICIENTS.length - 1; i > 0; i--) [here, next] = [2 * t * here - next + COEFFICIENTS[i], here];
  return (Math.exp((a * a) / -2) * (t * here - next + COEFFICIENTS[0])) / (a + 4);
}

const sigmoid = (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
const twiceU = (x) => 2 * ROOT_2_OVER_PI * x * (1 + CUBIC * x * x);

/** name: [f, f′]. At the kink of ReLU we take 0, as NumPy's side does. */
export const ACTIVATIONS = {
  identity: [(x) => x, () => 1],
  relu: [(x) => (x > 0 ? x : 0), (x) => (x > 0 ? 1 : 0)],
  sigmoid: [sigmoid, (x) => sigmoid(x) * sigmoid(-x)],
  tanh: [Math.tanh, (x) => 4 * sigmoid(2 * x) * sigmoid(-2 * x)],
  gelu: [
    (x) => Math.max(x, 0) - Math.abs(x) * upperTail(Math.abs(x)),
    (x) => (x < 0 ? upperTail(-x) : 1 - upperTail(x)) + (x * Math.exp((x * x) / -2) * ROOT_2_OVER_PI) / 2,
  ],
  gelu_tanh: [
    (x) => x * sigmoid(twiceU(x)),
    (x) =>
      sigmoid(twiceU(x)) +
      x * sigmoid(twiceU(x)) * sigmoid(-twiceU(x)) * 2 * ROOT_2_OVER_PI * (1 + 3 * CUBIC * x * x),
  ],
};
