/** The table of scores: on a narrow screen, one column at a time. */

export function switchColumns(picture: HTMLElement): void {
  const select = picture.querySelector<HTMLSelectElement>("#column");
  if (!select) return;
  const show = () => {
    for (const cell of picture.querySelectorAll<HTMLElement>("[data-column]")) {
      cell.classList.toggle("other", cell.dataset.column !== select.value);
    }
  };
  select.addEventListener("change", show);
  show();
}
