"use strict";
(() => {
  const panel = document.getElementById("panel");
  const content = panel.querySelector(".content");
  let opener = null;

  const copy = (passage) => {
    const shown = passage.cloneNode(true);
    shown.removeAttribute("id");
    shown.querySelectorAll("[id]").forEach((each) => each.removeAttribute("id"));
    shown.querySelectorAll(".back").forEach((each) => each.remove());
    return shown;
  };

  const choose = (link) => {
    if (opener) opener.removeAttribute("aria-expanded");
    opener = link;
    if (opener) opener.setAttribute("aria-expanded", "true");
  };

  const close = () => {
    if (panel.hidden) return;
    panel.hidden = true;
    document.body.classList.remove("reading");
    const link = opener;
    choose(null);
    if (link) link.focus({ preventScroll: true });
  };

  const open = (link, passage) => {
    if (link === opener) return close();
    choose(link);
    content.replaceChildren(copy(passage));
    panel.hidden = false;
    document.body.classList.add("reading");
    panel.scrollTop = 0;
    const mark = content.querySelector("mark");
    const below = mark.getBoundingClientRect().top - panel.getBoundingClientRect().top;
    if (below > panel.clientHeight / 2) panel.scrollTop = below - panel.clientHeight / 3;
    panel.focus({ preventScroll: true });
    const place = link.getBoundingClientRect();
    const { left, top } = panel.getBoundingClientRect();
    const floor = left > 0 ? window.innerHeight : top;
    if (place.top < 0 || place.bottom > floor) window.scrollBy(0, place.top - floor / 2);
  };

  const unfold = () => {
    const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = found && found.closest("details");
    if (folded && !folded.open) {
      folded.open = true;
      found.scrollIntoView();
    }
  };

  document.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a.cite");
    const passage = link && document.getElementById(link.hash.slice(1));
    if (passage) {
      event.preventDefault();
      open(link, passage);
    } else if (event.target.closest("#panel .close")) {
      close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  window.addEventListener("hashchange", unfold);
  unfold();
})();
