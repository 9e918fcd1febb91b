// The one product that everything is made of, and the memory that a step of training uses.

/**
 * C += A B, for A (m, k), B (k, n) and C (m, n) that lie anywhere in typed arrays.
 *
 * A[i, p] stands at a + i·ai + p·ap, B[p, j] at b + p·bp + j·bj, C[i, j] at c + i·ci + j. Strides that are
 * exchanged read a transpose. Two rows and four columns at a time: eight sums from six loads.
 */
export function addProduct(m, n, k, A, a, ai, ap, B, b, bp, bj, C, c, ci) {
  for (let i = 0; i < m; i += 2) {
    const two = i + 1 < m;
    for (let j = 0; j < n; j += 4) {
      const left = n - j; // columns past the last repeat the first, and are not stored
      const d1 = left > 1 ? bj : 0, d2 = left > 2 ? 2 * bj : 0, d3 = left > 3 ? 3 * bj : 0;
      let x = (a + i * ai) | 0, y = two ? (x + ai) | 0 : x, w = (b + j * bj) | 0;
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
      for (let p = 0; p < k; p++) {
        const u = A[x], v = A[y], w0 = B[w], w1 = B[w + d1], w2 = B[w + d2], w3 = B[w + d3];
        s0 += u * w0; s1 += u * w1; s2 += u * w2; s3 += u * w3;
        t0 += v * w0; t1 += v * w1; t2 += v * w2; t3 += v * w3;
        x = (x + ap) | 0; y = (y + ap) | 0; w = (w + bp) | 0;
      }
      let to = c + i * ci + j;
      C[to] += s0;
      if (left > 1) C[to + 1] += s1;
      if (left > 2) C[to + 2] += s2;
      if (left > 3) C[to + 3] += s3;
      if (!two) continue;
      to += ci;
      C[to] += t0;
      if (left > 1) C[to + 1] += t1;
      if (left > 2) C[to + 2] += t2;
      if (left > 3) C[to + 3] += t3;
    }
  }
}

/** Arrays of one step, cut from one block that the next step uses again. */
export class Arena {
  constructor() {
    this.block = new Float64Array(1 << 16);
    this.used = 0;
  }

  reset() {
    this.used = 0;
  }

  /** An array of zeros, valid until the next reset. */
  zeros(size) {
    if (this.used + size > this.block.length) {
      this.block = new Float64Array(2 * (this.block.length + size)); // what was cut before keeps the old block
      this.used = 0;
    }
    return this.block.subarray(this.used, (this.used += size)).fill(0);
  }
}
