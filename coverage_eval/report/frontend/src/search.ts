/** Searches all segments in a worker, which can be stopped at any time. */

import { type Contents, type Data, type Segment, unpack } from "./data";
import { segmentTests } from "./select";
import type { View } from "./view";

/** Most seconds for one block; a regular expression can take ages on one line. */
const MAX = 10;

/** Thrown when a block takes longer. */
export class TooSlow extends Error {}

export interface Watch {
  /** Told how many segments were read, and how many there are. */
  progress(done: number, total: number): void;
  /** Aborted when the answer is no longer wanted. */
  signal: AbortSignal;
}

interface Task {
  view: View;
  contents: Contents;
  packed: string;
  /** Positions in the block of the segments to test. */
  places: number[];
}

// The page's own script also runs in the worker.
const script = globalThis.document?.currentScript?.textContent ?? "";

/**
 * Filters ascending indices of segments by the view.
 *
 * Throws the signal's reason, or TooSlow.
 */
export async function search(
  left: number[], view: View, contents: Contents, data: Data, watch: Watch,
): Promise<number[]> {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address);
  try {
    const kept: number[] = [];
    let done = 0;
    for (const [block, places] of byBlock(left, contents.block)) {
      const task = { view, contents, packed: data.packedSegments(block), places };
      const found = await answer(worker, task, watch.signal).catch((error: unknown) => {
        throw isTimeout(error) ? new TooSlow(tooSlow(block, contents)) : error;
      });
      for (const place of found) kept.push(block * contents.block + place);
      watch.progress((done += places.length), left.length);
    }
    return kept;
  } finally {
    worker.terminate();
    URL.revokeObjectURL(address);
  }
}

function byBlock(indices: number[], size: number): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const index of indices) {
    const block = Math.floor(index / size);
    const places = found.get(block) ?? [];
    if (places.push(index % size) === 1) found.set(block, places);
  }
  return found;
}

function answer(worker: Worker, task: Task, wanted: AbortSignal): Promise<number[]> {
  const signal = AbortSignal.any([wanted, AbortSignal.timeout(1000 * MAX)]);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason));
    worker.onmessage = (event: MessageEvent<number[]>) => resolve(event.data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage(task);
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function tooSlow(block: number, contents: Contents): string {
  const first = block * contents.block;
  const last = Math.min(first + contents.block, contents.segments);
  return `segments ${first + 1} to ${last} took longer than ${MAX} seconds`;
}

/** What the worker does. */
export function serve(): void {
  addEventListener("message", async ({ data }: MessageEvent<Task>) => {
    const segments = (await unpack(data.packed)) as Segment[];
    const tests = segmentTests(data.view, data.contents);
    postMessage(
      data.places.filter((place) => tests.every((test) => test(segments[place] as Segment))),
    );
  });
}
