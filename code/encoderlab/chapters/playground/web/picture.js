// What is drawn: the plane, who looks at whom, and the curves of training.

const FONT = (size) => `${size}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

/** The figure's colours, as the page has them now: name → [r, g, b]. */
export function coloursOf(figure) {
  const style = getComputedStyle(figure),
    pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const names = ["ink", "paper", "quiet", "line", "accent", "one", "zero", "ground"];
  return Object.fromEntries(
    names.map((name) => {
      pixel.fillStyle = style.getPropertyValue(`--pg-${name}`).trim();
      pixel.fillRect(0, 0, 1, 1);
      return [name, [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3)];
    }),
  );
}

const rgb = (colour, alpha = 1) => `rgba(${colour}, ${alpha})`;

/** Make a canvas as sharp as the screen; returns its context, width and height in CSS pixels. */
export function sharpen(canvas) {
  const { clientWidth: w, clientHeight: h } = canvas,
    ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  return { g, w, h };
}

const small = document.createElement("canvas");

/** Paint log odds (res × res) as the colours of the two classes, with the boundary and the points over them. */
export function drawPlane(canvas, map, res, points, colours) {
  const { g, w } = sharpen(canvas),
    { one, zero, ground } = colours;
  if (!w) return;
  small.width = small.height = res;
  const image = new ImageData(res, res);
  for (let i = 0; i < map.length; i++) {
    const lean = Math.tanh(map[i] / 2),
      share = 0.62 * Math.abs(lean) ** 0.8,
      colour = lean > 0 ? one : zero;
    for (let k = 0; k < 3; k++) image.data[4 * i + k] = ground[k] + (colour[k] - ground[k]) * share;
    image.data[4 * i + 3] = 255;
  }
  small.getContext("2d").putImageData(image, 0, 0);
  g.imageSmoothingEnabled = true;
  g.imageSmoothingQuality = "high";
  g.drawImage(small, 0, 0, w, w);
  drawBoundary(g, map, res, w, rgb(colours.ink), points ? Math.max(2, w / 170) : 1.3);
  if (points) drawPoints(g, points, w, w, w / 2, Math.max(2.4, w / 110), colours);
}

/** Where the odds are even: a line through each cell whose corners disagree (marching squares). */
function drawBoundary(g, map, res, size, colour, width) {
  const at = (c) => ((c + 0.5) / res) * size;
  g.beginPath();
  for (let r = 0; r + 1 < res; r++)
    for (let c = 0; c + 1 < res; c++) {
      const corners = [
          [c, r],
          [c + 1, r],
          [c + 1, r + 1],
          [c, r + 1],
        ],
        odds = corners.map(([x, y]) => map[y * res + x]),
        cuts = [];
      for (let k = 0; k < 4; k++) {
        const a = odds[k],
          b = odds[(k + 1) % 4];
        if (a > 0 === b > 0) continue;
        const [x, y] = corners[k],
          [u, v] = corners[(k + 1) % 4],
          t = a / (a - b);
        cuts.push([at(x + t * (u - x)), at(y + t * (v - y))]);
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) {
        g.moveTo(...cuts[k]);
        g.lineTo(...cuts[k + 1]);
      }
    }
  Object.assign(g, { strokeStyle: colour, lineWidth: width, lineCap: "round", lineJoin: "round" });
  g.stroke();
}

function drawPoints(g, points, w, h, scale, radius, { one, zero, paper }) {
  for (const [x, y, label] of points) {
    g.beginPath();
    g.arc(w / 2 + x * scale, h / 2 - y * scale, radius, 0, 7);
    g.fillStyle = rgb(label ? one : zero);
    g.fill();
    if (radius > 2) Object.assign(g, { lineWidth: 1, strokeStyle: rgb(paper) }).stroke();
  }
}

/** The points of a task, small. */
export function drawThumbnail(canvas, points, colours) {
  const { g, w, h } = sharpen(canvas);
  drawPoints(g, points.slice(0, 120), w, h, h * 0.5, 1.5, colours);
}

/**
 * The tokens once for each layer, and lines from every token to those that it sees, as strong as it sees them.
 * Over them the answers, each as likely as its bar is high.
 */
export function drawLooks(canvas, { patterns, probabilities, target }, names, answerNames, heads, colours) {
  const { g, w, h } = sharpen(canvas),
    n = names.length,
    depth = patterns.length;
  if (!w) return;
  const { ink, quiet, accent, paper, line, one, zero } = colours,
    hues = [one, zero, accent, quiet];
  const top = h * 0.3,
    bottom = h - 24,
    row = (level) => bottom - ((bottom - top) * level) / depth,
    col = (i) => ((i + 0.5) / n) * w;
  g.lineCap = "round";
  patterns.forEach((pattern, layer) => {
    if (!pattern) return;
    for (let a = 0; a < heads; a++)
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          const weight = pattern[(a * n + i) * n + j];
          if (weight < 0.03) continue;
          g.beginPath();
          const [x0, y0, x1, y1] = [col(j), row(layer), col(i), row(layer + 1)],
            bend = (y1 - y0) * 0.5;
          g.moveTo(x0, y0);
          g.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
          const read = i === n - 1; // the token whose output is the answer
          Object.assign(g, {
            strokeStyle: rgb(hues[a % 4], weight * (read ? 1 : 0.45)),
            lineWidth: (read ? 4.5 : 2.5) * Math.sqrt(weight) + 0.3,
          });
          g.stroke();
        }
  });
  const size = Math.min(14, (w / n) * (names[0].length > 2 ? 0.3 : 0.42));
  for (let level = 0; level <= depth; level++)
    names.forEach((name, i) => {
      const asked = i === n - 1,
        [x, y] = [col(i), row(level)],
        half = Math.min(name.length > 2 ? 26 : 15, (w / n) * 0.46);
      g.beginPath();
      if (level) g.arc(x, y, level === depth && asked ? 7 : 4.5, 0, 7);
      else g.roundRect(x - half, y - 12, 2 * half, 24, 6);
      g.fillStyle = rgb(asked ? accent : paper);
      g.fill();
      Object.assign(g, { strokeStyle: rgb(asked ? accent : quiet), lineWidth: 1.2 }).stroke();
      if (level) return;
      Object.assign(g, {
        fillStyle: rgb(asked ? paper : ink),
        font: `600 ${FONT(size)}`,
        textAlign: "center",
        textBaseline: "middle",
      });
      g.fillText(name.replace("_", ""), x, y + 0.5);
      if (name.endsWith("_")) g.fillRect(x - 5, y + 7.5, 10, 2);
    });
  const k = probabilities.length,
    full = top - 52,
    foot = top - 32,
    step = Math.min(w / k, 70),
    left = (w - k * step) / 2;
  probabilities.forEach((p, c) => {
    const x = left + c * step + step * 0.18,
      wide = step * 0.64,
      right = c === target;
    g.fillStyle = rgb(line, 0.5);
    g.fillRect(x, foot - full, wide, full);
    g.fillStyle = rgb(right ? accent : quiet);
    g.fillRect(x, foot - full * p, wide, full * p);
    Object.assign(g, {
      fillStyle: rgb(right ? accent : ink),
      font: `${right ? 700 : 400} ${FONT(12)}`,
      textAlign: "center",
      textBaseline: "top",
    });
    g.fillText(answerNames[c], x + wide / 2, foot + 4);
  });
}

/** The weights of one head: each row a token that looks, each column one that is seen. */
export function drawPattern(canvas, pattern, n, names, colours) {
  const { g, w } = sharpen(canvas),
    pad = w * 0.14,
    cell = (w - pad) / n;
  if (!w) return;
  Object.assign(g, {
    font: FONT(Math.min(cell * (names[0].length > 2 ? 0.36 : 0.7), 12)),
    textAlign: "center",
    textBaseline: "middle",
  });
  for (let i = 0; i < n; i++) {
    g.fillStyle = rgb(i === n - 1 ? colours.accent : colours.quiet);
    g.fillText(names[i].replace("_", "\u0332"), pad / 2, pad + (i + 0.5) * cell);
    g.fillText(names[i].replace("_", "\u0332"), pad + (i + 0.5) * cell, pad / 2);
    for (let j = 0; j < n; j++) {
      g.fillStyle = rgb(colours.line, 0.25);
      g.fillRect(pad + j * cell, pad + i * cell, cell - 1, cell - 1);
      g.fillStyle = rgb(colours.accent, pattern[i * n + j]);
      g.fillRect(pad + j * cell, pad + i * cell, cell - 1, cell - 1);
    }
  }
}

/** Accuracy and loss over the steps, and the line that the accuracy must cross to have learned something. */
export function drawCurve(canvas, losses, accuracies, line, colours) {
  const { g, w, h } = sharpen(canvas),
    left = 42,
    right = w - 30,
    top = 16,
    bottom = h - 18;
  if (!w) return;
  const { quiet, accent, ink } = colours,
    steps = Math.max(60, losses.at(-1)?.[0] ?? 0);
  const x = (step) => left + (step / steps) * (right - left),
    y = (share) => bottom - share * (bottom - top);
  Object.assign(g, { lineWidth: 1, strokeStyle: rgb(colours.line), font: FONT(11), textBaseline: "middle" });
  g.textAlign = "right";
  for (const share of [0, 0.5, 1]) {
    g.beginPath();
    g.moveTo(left, y(share));
    g.lineTo(right, y(share));
    g.stroke();
    g.fillStyle = rgb(accent);
    g.fillText(`${100 * share} %`, left - 4, y(share));
  }
  const highest = Math.max(
    0.7,
    ...losses
      .slice(0, 20)
      .map(([, loss]) => loss)
      .filter(Number.isFinite),
  );
  g.textAlign = "left";
  g.fillStyle = rgb(quiet);
  g.fillText(highest.toFixed(1), right + 4, y(1));
  g.fillText("0", right + 4, y(0));
  Object.assign(g, { textAlign: "center", textBaseline: "bottom" });
  g.fillText(`${steps} steps`, right - 26, h);
  g.setLineDash([5, 4]);
  Object.assign(g, { strokeStyle: rgb(ink, 0.75), lineWidth: 1.2 });
  g.beginPath();
  g.moveTo(left, y(line.share));
  g.lineTo(right, y(line.share));
  g.stroke();
  g.setLineDash([]);
  const draw = (list, share, colour, width) => {
    const every = Math.max(1, Math.floor(list.length / 500));
    g.beginPath();
    list.forEach(([step, value], i) => {
      if (Number.isFinite(value) && (i % every === 0 || i === list.length - 1))
        g.lineTo(x(step), y(Math.min(1, share(value))));
    });
    Object.assign(g, { strokeStyle: rgb(colour), lineWidth: width, lineJoin: "round" });
    g.stroke();
  };
  draw(losses, (loss) => loss / highest, quiet, 1.5);
  draw(accuracies, (share) => share, accent, 2.5);
  Object.assign(g, { font: `600 ${FONT(11)}`, textAlign: "left", textBaseline: "top" });
  g.fillStyle = rgb(accent);
  g.fillText("accuracy", left, 0);
  Object.assign(g, { fillStyle: rgb(quiet), textAlign: "right" });
  g.fillText("loss", right, 0);
  Object.assign(g, {
    fillStyle: rgb(ink),
    font: FONT(11),
    textAlign: "right",
    textBaseline: line.share > 0.6 ? "top" : "bottom",
  });
  g.fillText(line.label, right - 4, y(line.share) + (line.share > 0.6 ? 3 : -3));
}
