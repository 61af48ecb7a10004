import { Browser } from "./browser";
import { breakdownChart, scoreChart } from "./charts";
import { type Breakdown, type Contents, Data, type Score } from "./data";
import { byId, save } from "./dom";
import { serve } from "./search";
import { offerPicture, showRanks, type Verdict } from "./verdict";

async function start(): Promise<void> {
  const data = new Data(document);
  const contents = await data.need<Contents>("contents");
  const verdict = await data.need<Verdict>("verdict");
  showRanks(verdict);
  offerPicture(verdict, contents.systems, (picture) => save("verdict.png", "image/png", picture));
  const browser = new Browser(byId("browser"), contents, data);
  await Promise.all([drawCharts(data, contents), browser.start()]);
  byId("scores-csv").addEventListener("click", () => {
    void data.need<string>("scores.csv").then((text) => save("scores.csv", "text/csv", text));
  });
  document.documentElement.dataset["ready"] = "yes";
}

async function drawCharts(data: Data, contents: Contents): Promise<void> {
  const { scores } = await data.need<{ scores: Score[] }>("comparison");
  byId("score-charts").append(scoreChart(scores, contents));
  const breakdowns = await data.need<Breakdown[]>("breakdowns");
  for (const place of document.querySelectorAll<HTMLElement>("[data-breakdown]")) {
    const item = breakdowns[Number(place.dataset["breakdown"])];
    if (item) place.append(breakdownChart(item, contents));
  }
}

// The same script searches in a worker, where there is no document.
if (globalThis.document) void start();
else serve();
