/** The first screen: the table of ranks that sorts, segments won and lost, and the card as a picture. */

import { systemColour } from "./charts";
import { byId, h, shownText } from "./dom";

export interface Standing {
  metric: string;
  value: number;
  shown: string;
  ranks: string;
  /** From the worst system (0) to the best (1); null without a better side. */
  place: number | null;
  first: boolean;
  /** Segments better than the chosen system's, equal, and worse. */
  shares: [number, number, number] | null;
}

export interface Verdict {
  headline: string;
  chosen: string;
  sure: string;
  why: string[];
  against: string[];
  metrics: string[];
  rows: { system: string; remark: string; chosen: boolean; standings: Standing[] }[];
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

/** Makes the table sort, and draws the shares of the metric that it is sorted by. */
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
    const shown = Math.max(metric, 0);
    const title = document.getElementById("ranks-shares");
    if (title) title.textContent = `segments against ${shownText(verdict.chosen)}, by ${verdict.metrics[shown]}`;
    for (const [index, row] of rows.entries()) {
      row.querySelector("td.shares")?.replaceChildren(...sharesOf(verdict, index, shown));
    }
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

function sharesOf(verdict: Verdict, row: number, metric: number): Node[] {
  const shares = verdict.rows[row]?.standings[metric]?.shares;
  if (!shares) return [];
  const [wins, ties, losses] = shares;
  const total = wins + ties + losses || 1;
  const words = `${wins} better, ${ties} equal, ${losses} worse`;
  const part = (kind: string, count: number) => h("i", { class: kind, style: `width: ${(100 * count) / total}%` });
  return [
    h("div", { class: "bar", role: "img", "aria-label": words }, part("win", wins), part("tie", ties), part("loss", losses)),
    h("small", {}, words),
  ];
}

const WIDTH = 960;
const EDGE = 32;

/** The card as a picture: drawn, because a page without a network cannot photograph itself. */
export function drawCard(verdict: Verdict, systems: string[]): HTMLCanvasElement {
  const canvas = h("canvas", { width: 2 * WIDTH, height: 2 });
  const height = paint(canvas.getContext("2d")!, verdict, systems);
  canvas.height = 2 * height;
  const context = canvas.getContext("2d")!;
  context.scale(2, 2);
  context.fillStyle = "white";
  context.fillRect(0, 0, WIDTH, height);
  paint(context, verdict, systems);
  return canvas;
}

/** Paints the card and says how high it is. */
function paint(context: CanvasRenderingContext2D, verdict: Verdict, systems: string[]): number {
  let y = EDGE;
  const text = (words: string, size: number, weight: string, x = EDGE, room = WIDTH - 2 * EDGE, colour = "#1a1a1a") => {
    context.font = `${weight} ${size}px system-ui, "Noto Sans", sans-serif`;
    context.fillStyle = colour;
    for (const line of wrapText(words, room, (part) => context.measureText(part).width)) {
      y += size * 1.3;
      context.fillText(line, x, y);
    }
  };
  const chosen = systems.indexOf(verdict.chosen);
  if (chosen >= 0) {
    context.fillStyle = systemColour(chosen);
    context.fillRect(0, 0, 10, 4000);
  }
  text(verdict.headline, 30, "700");
  y += 6;
  text(verdict.sure, 18, "400");
  for (const [heading, sentences] of [["Why", verdict.why], ["What speaks against it", verdict.against]] as const) {
    if (!sentences.length) continue;
    y += 14;
    text(heading, 16, "700");
    for (const sentence of sentences) text(`• ${sentence}`, 15, "400");
  }
  if (verdict.rows.length < 2) return y + EDGE;
  y += 26;
  const name = 240;
  const column = (WIDTH - 2 * EDGE - name) / verdict.metrics.length;
  const cell = (words: string, x: number, weight: string, room: number) => {
    context.font = `${weight} 15px system-ui, "Noto Sans", sans-serif`;
    context.fillStyle = "#1a1a1a";
    context.fillText(shorten(words, room, (part) => context.measureText(part).width), x, y);
  };
  verdict.metrics.forEach((metric, at) => cell(metric, EDGE + name + at * column, "700", column - 8));
  for (const row of rankOrder(verdict, 0, false).map((index) => verdict.rows[index]!)) {
    y += 28;
    row.standings.forEach((item, at) => {
      const x = EDGE + name + at * column;
      if (item.place !== null) {
        context.fillStyle = `rgb(125 183 234 / ${0.55 * item.place})`;
        context.fillRect(x - 6, y - 19, column - 4, 26);
      }
      cell(`${item.shown}${item.ranks ? `   ${item.ranks}` : ""}`, x, item.first ? "700" : "400", column - 12);
    });
    context.fillStyle = systemColour(systems.indexOf(row.system));
    context.beginPath();
    context.arc(EDGE + 6, y - 5, 6, 0, 7);
    context.fill();
    cell(row.system, EDGE + 20, row.chosen ? "700" : "400", name - 32);
  }
  y += 12;
  text("Beside each score: the places that the tests leave open (all pairs, p < 0.05, Holm). coverage-eval", 12, "400", EDGE, WIDTH - 2 * EDGE, "#4b5563");
  return Math.ceil(y + EDGE);
}

/** Lines of words that fit a width. */
export function wrapText(words: string, room: number, width: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && width(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line ? [...lines, line] : lines;
}

function shorten(words: string, room: number, width: (text: string) => number): string {
  if (width(words) <= room) return words;
  const letters = [...words];
  while (letters.length > 1 && width(`${letters.join("")}…`) > room) letters.pop();
  return `${letters.join("")}…`;
}

/** Lets the reader save the card. */
export function offerPicture(verdict: Verdict, systems: string[], saveIt: (blob: Blob) => void): void {
  byId("answer-png").addEventListener("click", () => {
    drawCard(verdict, systems).toBlob((blob) => blob && saveIt(blob), "image/png");
  });
}
