// Random numbers that are the same in every browser and in encoderlab.chapters.playground.generator.

/** Mulberry32: 32 bits of state, good enough to draw weights and examples. */
export class Random {
  constructor(seed) {
    if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32)
      throw new RangeError(`seed must be an integer from 0 to 2³² − 1, got ${seed}`);
    this.state = Math.imul(seed, 0x9e3779b1) >>> 0; // neighbouring seeds start far apart
    for (let k = 0; k < 4; k++) this.uniform();
  }

  /** In [0, 1). */
  uniform() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Of 0 to n − 1. */
  integer(n) {
    return Math.floor(this.uniform() * n);
  }

  /** Standard normal, by Box and Muller. */
  normal() {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** 0 to n − 1 in random order. */
  permutation(n) {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }
}
