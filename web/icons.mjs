// Draws the icons in PNG from public/icon.svg: npm run icons

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const folder = join(import.meta.dirname, "public");
const svg = readFileSync(join(folder, "icon.svg"), "utf8");
const line = /<path d="([^"]+)"/.exec(svg)?.[1] ?? "";
const draw = (inside) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${inside}</svg>`;
const stroke = (scale) =>
  `<path transform="translate(16 16) scale(${scale}) translate(-16 -16)" d="${line}" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/>`;
const full = '<rect width="32" height="32" fill="#0f6b75"/>';

const icons = [
  { name: "icon-192", size: 192, svg },
  { name: "icon-512", size: 512, svg },
  // The platform cuts its own shape out of these
  { name: "icon-maskable", size: 512, svg: draw(full + stroke(0.75)) },
  { name: "icon-apple", size: 180, svg: draw(full + stroke(0.85)) },
  // Android shows its opaque part in one colour
  { name: "badge", size: 96, svg: draw(stroke(1)) },
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const icon of icons) {
  const page = await browser.newPage({ viewport: { width: icon.size, height: icon.size } });
  const source = Buffer.from(icon.svg).toString("base64");
  await page.setContent(
    `<style>body{margin:0}img{display:block;width:100vw}</style><img src="data:image/svg+xml;base64,${source}">`,
  );
  await page.screenshot({ path: join(folder, `${icon.name}.png`), omitBackground: true });
  await page.close();
}
await browser.close();
