import { Browser } from "./browser";
import { type Contents, Data } from "./data";
import { startTable } from "./scores";

async function start(): Promise<void> {
  startTable(document.getElementById("picture")!);
  const data = new Data(document);
  const contents = await data.need<Contents>("contents");
  await new Browser(document.getElementById("browser")!, contents, data).start();
  document.documentElement.dataset.ready = "yes";
}

void start();
