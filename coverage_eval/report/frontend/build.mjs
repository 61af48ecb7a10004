// Makes the bundle that the package carries, with its licences; with --tests, the tests instead.
import { build } from "esbuild";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;

async function bundle() {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(here, "src/main.ts")],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "iife",
    target: "es2022",
    metafile: true,
    write: false,
  });
  const packages = new Set(
    Object.keys(metafile.inputs)
      .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
      .filter((name) => name !== undefined),
  );
  const licences = [...packages].sort().map(licence).join("\n\n");
  // The page holds the script between its own tags, which no text in it may end.
  const script = outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return `/*! Parts of this script are from these packages:\n\n${licences}\n*/\n${script}`;
}

function licence(name) {
  const folder = join(here, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((found) => /^licen[sc]e/i.test(found));
  if (!file) throw new Error(`${name} has no licence`);
  return `${name} ${version}\n${readFileSync(join(folder, file), "utf8").trim()}`.replaceAll("*/", "* /");
}

if (process.argv.includes("--tests")) {
  await build({
    entryPoints: readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts")).map((name) => join(here, "tests", name)),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: join(here, "build"),
    outExtension: { ".js": ".mjs" },
  });
} else {
  const target = process.argv[2] ?? join(here, "../assets/report.js");
  if (!existsSync(join(here, "node_modules"))) throw new Error("run npm ci first");
  writeFileSync(target, await bundle());
}
