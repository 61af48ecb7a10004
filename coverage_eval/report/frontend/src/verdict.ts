/** The first screen: the table of ranks that sorts. */

export interface Verdict {
  metrics: string[];
  /** For each system and metric its score, and from the worst (0) to the best (1) its place; null without a better side. */
  rows: { standings: { value: number; place: number | null }[] }[];
}

/** The rows in the order of a metric, the best first; -1 is the order of the systems. */
export function rankOrder(verdict: Verdict, metric: number, ascending: boolean): number[] {
  const order = [...verdict.rows.keys()];
  if (metric < 0) return ascending ? order : order.reverse();
  const key = (row: number) => {
    const item = verdict.rows[row]!.standings[metric]!;
    return item.place ?? item.value;
  };
  // A sort is stable, so equal systems keep their order.
  return order.sort((a, b) => (ascending ? key(a) - key(b) : key(b) - key(a)));
}

/** Makes the table sort. */
export function showRanks(verdict: Verdict): void {
  const table = document.getElementById("ranks");
  if (!table) return;
  const body = table.querySelector("tbody")!;
  const rows = [...body.querySelectorAll("tr")];
  const heads = [...table.querySelectorAll<HTMLElement>("thead th")];
  const sort = (metric: number, ascending: boolean) => {
    for (const head of heads) {
      const own = Number(head.querySelector("button")?.dataset["sort"] ?? NaN);
      if (!Number.isNaN(own)) head.setAttribute("aria-sort", own !== metric ? "none" : ascending ? "ascending" : "descending");
    }
    body.append(...rankOrder(verdict, metric, ascending).map((row) => rows[row]!));
  };
  for (const head of heads) {
    const button = head.querySelector("button");
    button?.addEventListener("click", () => {
      const best = head.getAttribute("aria-sort") === "descending";
      sort(Number(button.dataset["sort"]), Number(button.dataset["sort"]) < 0 ? !best && head.getAttribute("aria-sort") !== "ascending" : best);
    });
  }
  sort(0, false);
}
