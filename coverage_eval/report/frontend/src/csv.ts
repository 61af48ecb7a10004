/** The filtered segments as CSV: a line for each segment and system. */

import { csvFormatRows } from "d3-dsv";
import type { Contents, Data, Segment } from "./data";
import { pause } from "./dom";
import { markTexts } from "./segment";

/** Segments in each part of the file. */
const PART = 1000;

/**
 * The file, its lines in the order of the indices.
 *
 * @param progress is told how many segments were written
 */
export async function segmentsCsv(
  indices: number[], systems: string[], contents: Contents, data: Data,
  progress: (done: number) => void,
): Promise<Blob> {
  const metrics = contents.metrics.map((metric) => metric.name);
  const columns = new Map<string, (number | null)[][]>();
  for (const system of systems) {
    columns.set(system, await Promise.all(metrics.map((metric) => data.scores(metric, system))));
  }
  const header = ["segment", "system", ...metrics, ...contents.kinds.filter((kind) => kind.side).map((kind) => kind.key), "source", "reference", "output"];
  const lines = new Map<number, string>();
  let number = -1;
  let block: Segment[] = [];
  // Read in the order of the text, so that each block is unpacked once.
  for (const [done, index] of indices.toSorted((a, b) => a - b).entries()) {
    const here = Math.floor(index / contents.block);
    if (here !== number) {
      progress(done);
      await pause();
      block = await data.segments(here);
      number = here;
    }
    const segment = block[index % contents.block] as Segment;
    const rows = systems.map((system) => {
      const scores = columns.get(system)?.map((column) => String(column[index] ?? "")) ?? [];
      return [String(index + 1), safe(system), ...scores, ...texts(segment, contents, system)];
    });
    lines.set(index, `${csvFormatRows(rows)}\n`);
  }
  const parts = [new Blob([`${csvFormatRows([header])}\n`])];
  for (let start = 0; start < indices.length; start += PART) {
    parts.push(new Blob(indices.slice(start, start + PART).map((index) => lines.get(index) ?? "")));
    await pause();
  }
  return new Blob(parts);
}

function texts(segment: Segment, contents: Contents, system: string): string[] {
  const output = segment.outputs[contents.systems.indexOf(system)];
  const marks = markTexts(output?.marks ?? [], contents.kinds);
  return [
    ...contents.kinds.filter((kind) => kind.side).map((kind) => marks[kind.key] ?? ""), segment.source?.join(" ") ?? "",
    segment.references.map((words) => words.join(" ")).join(" ||| "), output?.words.join(" ") ?? "",
  ].map(safe);
}

/** Text of a corpus is data: a spreadsheet must not read it as a formula. The rule is that of tables/csv_rows.py. */
export function safe(text: string): string {
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text);
  return /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]/.test(text) && !isNumber ? `'${text}` : text;
}
