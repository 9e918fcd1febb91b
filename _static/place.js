// Keeps the place that the address names. Formulas and fonts change the height of what stands above it after the
// page is shown, and not every browser holds the scroll: until all is there, or the reader takes over, the place is
// set again at each change.
(() => {
  "use strict";
  const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"];

  function place() {
    const name = location.hash.slice(1).split("?")[0];
    try {
      return document.getElementById(decodeURIComponent(name));
    } catch {
      return null; // a lone "%"
    }
  }

  const hold = () => place()?.scrollIntoView({ behavior: "instant" });
  const watch = new ResizeObserver(hold);
  const leave = () => watch.disconnect();

  async function settle() {
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    requestAnimationFrame(() => requestAnimationFrame(leave)); // the last change is seen by then
  }

  // Whoever loads a page again, or goes back to it, returns to where they were.
  const [navigation] = performance.getEntriesByType("navigation");
  if (!location.hash || (navigation && navigation.type !== "navigate")) return;
  for (const hand of HANDS) addEventListener(hand, leave, { capture: true, once: true, passive: true });
  watch.observe(document.body);
  if (document.readyState === "complete") settle();
  else addEventListener("load", settle);
})();
