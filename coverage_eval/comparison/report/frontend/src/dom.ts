/** Making elements; text only ever becomes text. */

type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | null | ((event: never) => void)>;

/** An element with attributes, listeners (`onclick` and the like) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as never);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A select; its entries are values with their names. */
export function choice(
  id: string,
  label: string,
  entries: [string, string][],
  value: string,
  chosen: (value: string) => void,
): HTMLElement {
  const select = h("select", { id, onchange: () => chosen(select.value) });
  for (const [entry, name] of entries) {
    select.append(h("option", { value: entry, selected: entry === value }, shownText(name)));
  }
  return h("span", { class: "field" }, h("label", { for: id }, label), select);
}

export function checkbox(id: string, label: Child, checked: boolean, changed: (checked: boolean) => void): HTMLElement {
  const input = h("input", { id, type: "checkbox", checked, onchange: () => changed(input.checked) });
  return h("span", { class: "field" }, input, h("label", { for: id }, label));
}

// The list of coverage_eval/core/escapes.py, as tests/cli/test_controls.py writes it.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Text with control characters as the commands write them, `\x1b` or `\u202e`. */
export function shownText(text: string): string {
  return text.replace(UNSEEN, (letter) => {
    const code = letter.codePointAt(0)!.toString(16);
    if (code.length > 4) return `\\U${code.padStart(8, "0")}`;
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** A number as the command prints it: two digits, halves to even, no sign on zero. */
export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  let rounded = value;
  // Only odd eighths lie exactly between two hundredths, where toFixed goes up.
  if (Math.abs((value * 8) % 2) === 1) {
    const lower = Math.floor(value * 100);
    rounded = (lower % 2 === 0 ? lower : lower + 1) / 100;
  }
  const text = rounded.toFixed(2);
  return text === "-0.00" ? "0.00" : text;
}
