"use strict";
// Chips and the search box hide what does not fit; buttons copy a command. Without this script all is shown.
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const box = document.querySelector("input[type=search]");
  const told = document.querySelector("[data-told]");
  const pressed = (kind) => every(`button[data-${kind}][aria-pressed=true]`).map((chip) => chip.dataset[kind]);
  const has = (wanted, value) => !wanted.length || wanted.includes(value);

  const show = () => {
    const [outcomes, loaders] = [pressed("outcome"), pressed("loader")];
    const words = box ? box.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
    const narrowed = outcomes.length + loaders.length + words.length > 0;
    every("main [data-loader]:not(button)").forEach((each) => { each.hidden = !has(loaders, each.dataset.loader); });
    let seen = 0;
    for (const item of every("[data-item]")) {
      const cells = every("td[data-outcome]", item).filter((cell) => !cell.hidden);
      const found = cells.length ? cells.map((cell) => cell.dataset.outcome) : [item.dataset.outcome];
      const text = (item.querySelector("[data-words]") || item).textContent.toLowerCase();
      item.hidden = !found.some((outcome) => has(outcomes, outcome)) || !words.every((word) => text.includes(word));
      seen += !item.hidden && !item.closest("[data-loader][hidden]");
    }
    for (const group of every("[data-group]")) {
      group.hidden = !every("[data-item]", group).some((item) => !item.hidden);
      if (group.tagName === "DETAILS" && narrowed) group.open = !group.hidden;
    }
    if (told) told.textContent = narrowed ? `${seen} shown` : "";
  };

  const copy = (button) => {
    const code = button.parentElement.querySelector("code");
    const done = () => { button.textContent = "copied"; setTimeout(() => { button.textContent = "copy"; }, 1500); };
    const by_hand = () => {
      getSelection().selectAllChildren(code);
      if (document.execCommand("copy")) done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, by_hand);
    else by_hand();
  };

  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) {
      every("button[aria-pressed=true]").forEach((chip) => chip.setAttribute("aria-pressed", "false"));
      if (box) box.value = "";
      show();
    }
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };

  every("button[disabled]").forEach((button) => { button.disabled = false; });
  if (box) { box.disabled = false; box.addEventListener("input", show); }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.hasAttribute("data-copies")) return copy(button);
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    show();
  });
  addEventListener("hashchange", reveal);
  reveal();
})();
