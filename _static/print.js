// Paper is white. A page that its reader sees dark is printed in the light theme, with what is folded open.
(() => {
  "use strict";
  const page = document.documentElement;
  const print = matchMedia("print");
  let before; // while the page is dressed for print: its theme on the screen, and what was folded there

  function dress() {
    if (before) return;
    before = { theme: page.dataset.theme, folded: [...document.querySelectorAll("details:not([open])")] };
    page.dataset.theme = "light";
    for (const details of before.folded) details.open = true;
  }

  function undress() {
    if (!before) return;
    page.dataset.theme = before.theme;
    for (const details of before.folded) details.open = false;
    before = undefined;
  }

  addEventListener("beforeprint", dress);
  addEventListener("afterprint", undress);
  print.addEventListener("change", () => (print.matches ? dress() : undress()));
})();
