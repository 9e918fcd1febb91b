// Keeps the place that the address names. Formulas and fonts change the height of what stands above it after the
// page is shown, and not every browser holds the scroll: until all is there, or the reader takes over, the place is
// set again at each change.
(() => {
  "use strict";
  const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"];
  const QUIET = 2000; // ms without a change of height, after which the page counts as finished

  function place() {
    const name = location.hash.slice(1).split("?")[0];
    try {
      return document.getElementById(decodeURIComponent(name));
    } catch {
      return null; // a lone "%"
    }
  }

  const hold = () => place()?.scrollIntoView({ behavior: "instant" });
  let quiet; // runs out when nothing has moved for a while
  const watch = new ResizeObserver(() => {
    hold();
    if (quiet) rest();
  });
  const leave = () => watch.disconnect();

  function rest() {
    clearTimeout(quiet);
    quiet = setTimeout(leave, QUIET);
  }

  async function settle() {
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    hold();
    rest();
  }

  // Whoever loads a page again, or goes back to it, returns to where they were.
  const [navigation] = performance.getEntriesByType("navigation");
  if (!location.hash || (navigation && navigation.type !== "navigate")) return;
  for (const hand of HANDS) addEventListener(hand, leave, { capture: true, once: true, passive: true });
  watch.observe(document.body);
  if (document.readyState === "complete") settle();
  else addEventListener("load", settle);
})();
