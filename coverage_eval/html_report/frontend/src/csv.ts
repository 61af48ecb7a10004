/** The filtered segments as CSV: a line for each segment and system. */

import { csvFormatRows } from "d3-dsv";
import type { Contents, Data, Segment } from "./data";
import { markTexts } from "./segment";

export async function segmentsCsv(
  indices: number[], systems: string[], contents: Contents, data: Data,
): Promise<string> {
  const metrics = contents.metrics.map((metric) => metric.name);
  const columns = new Map<string, (number | null)[]>();
  for (const metric of metrics) {
    for (const system of systems) {
      columns.set(`${metric}/${system}`, await data.scores(metric, system));
    }
  }
  const rows: string[][] = [
    ["segment", "system", ...metrics, "dropped", "repeated", "source", "reference", "output"],
  ];
  for (const index of indices) {
    const block: Segment[] = await data.segments(Math.floor(index / contents.block));
    const segment = block[index % contents.block] as Segment;
    for (const system of systems) {
      const output = segment.outputs[contents.systems.indexOf(system)];
      if (!output) continue;
      const texts = markTexts(output.marks, segment.source);
      rows.push([
        String(index + 1), safe(system),
        ...metrics.map((metric) => String(columns.get(`${metric}/${system}`)?.[index] ?? "")),
        safe(texts["dropped"] ?? ""), safe(texts["repeated"] ?? ""),
        safe(segment.source?.join(" ") ?? ""), safe(segment.references.map((r) => r.join(" ")).join(" ||| ")),
        safe(output.words.join(" ")),
      ]);
    }
  }
  return csvFormatRows(rows) + "\n";
}

/** Text of a corpus is data: a spreadsheet must not take it for a formula. */
export function safe(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
