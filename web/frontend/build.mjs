// Bundles each page's script, and what they share, into web/static/build/.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const options = {
  absWorkingDir: here("."),
  entryPoints: ["site.js", "watch.js", "embed.js", "upload.js", "studio.js", { in: "upload/md5_worker.js", out: "md5_worker" }]
    .map((entry) => (typeof entry === "string" ? { in: entry, out: entry.replace(/\.js$/, "") } : entry)),
  outdir: here("../static/build"),
  bundle: true,
  format: "esm",
  splitting: true,
  chunkNames: "chunk-[hash]",
  target: ["es2022"],
  minify: true,
  charset: "utf8",
  legalComments: "linked",
  logLevel: "info",
};

rmSync(options.outdir, { recursive: true, force: true });
if (process.argv.includes("--watch")) await (await esbuild.context(options)).watch();
else await esbuild.build(options);
