"use strict";
{
  const gaps = [...document.querySelectorAll(".map a")].map((link) =>
    document.getElementById(link.hash.slice(1)),
  );
  const where = document.getElementById("where");
  let at = -1;
  const go = (step) => {
    if (gaps.length === 0) return;
    at = (at + step + gaps.length) % gaps.length;
    gaps[at].scrollIntoView({ block: "center" });
    gaps[at].focus({ preventScroll: true });
    where.textContent = `${at + 1} of ${gaps.length}`;
    for (const section of document.querySelectorAll("section"))
      section.classList.toggle("here", section.contains(gaps[at]));
  };
  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("previous").addEventListener("click", () => go(at < 0 ? 0 : -1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n") go(1);
    if (event.key === "p") go(at < 0 ? 0 : -1);
  });
  where.textContent = gaps.length ? `${gaps.length} gaps and additions` : "nothing is missing or added";
  document.querySelector("section")?.classList.add("here");
  document.documentElement.dataset.ready = "";
}
