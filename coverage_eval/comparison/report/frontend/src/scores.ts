/** The table of scores: headers sort it, rows show an example, and on a narrow screen one column is shown. */

export function startTable(picture: HTMLElement): void {
  const cells = (column: string) => picture.querySelectorAll<HTMLElement>(`[data-column="${column}"]`);
  const select = picture.querySelector<HTMLSelectElement>("#column");
  const headers = [...picture.querySelectorAll<HTMLElement>("th[data-column]")];
  const switchTo = (column: string) => {
    for (const header of headers) {
      for (const cell of cells(header.dataset.column!))
        cell.classList.toggle("other", header.dataset.column !== column);
    }
  };
  select?.addEventListener("change", () => {
    picture.classList.add("all");
    switchTo(select.value);
  });
  if (select) switchTo(select.value);
  for (const header of headers) {
    header.querySelector("button")!.addEventListener("click", () => sort(picture, headers, header));
  }
  const fold = picture.querySelector<HTMLButtonElement>("#fold");
  const more = fold?.textContent;
  fold?.addEventListener("click", () => {
    const isOpen = picture.classList.toggle("all");
    fold.setAttribute("aria-expanded", String(isOpen));
    fold.textContent = isOpen ? "fewer" : more!;
  });
  for (const row of picture.querySelectorAll<HTMLElement>("tbody tr")) {
    const choose = () => chooseExample(row.dataset.system!);
    row.addEventListener("click", choose);
    row.addEventListener("focusin", choose);
  }
  const shown = document.querySelector<HTMLElement>("#examples .example:not([hidden])");
  if (shown) chooseExample(shown.dataset.system!);
}

/** Sorts by a column, and again in the other direction; a reference stays last. */
function sort(picture: HTMLElement, headers: HTMLElement[], header: HTMLElement): void {
  const { first } = header.querySelector("button")!.dataset;
  const other = first === "ascending" ? "descending" : "ascending";
  const direction = header.getAttribute("aria-sort") === first ? other : first!;
  for (const each of headers) each.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction);
  const body = picture.querySelector("tbody")!;
  const value = (row: Element) =>
    Number(row.querySelector<HTMLElement>(`td[data-column="${header.dataset.column}"]`)!.dataset.value);
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...body.children].sort(
    (a, b) =>
      Number(a.classList.contains("reference")) - Number(b.classList.contains("reference")) ||
      sign * (value(a) - value(b)),
  );
  body.append(...rows);
}

/** Shows the example of a system beside the table. */
function chooseExample(system: string): void {
  for (const row of document.querySelectorAll<HTMLElement>("#picture tbody tr")) {
    row.classList.toggle("chosen", row.dataset.system === system);
  }
  for (const example of document.querySelectorAll<HTMLElement>("#examples .example")) {
    example.hidden = example.dataset.system !== system;
  }
}
