"""Whether what stands on a page can be read: told by the browser that shows it."""

from __future__ import annotations

from browser import Browser

_FAINT = r"""
const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
const read = text => { const n = text.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat([1]);
function behind(element) {
  const sheets = [];
  for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (!color.startsWith("rgb")) continue;
    sheets.push(read(color));
    if (sheets.at(-1)[3] >= 1) break;
  }
  return sheets.reduceRight((below, sheet) => over(sheet, below), [255, 255, 255, 1]);
}
const found = new Set();
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  if (!text || style.visibility !== "visible" || box.width < 2 || box.height < 2) continue;
  let seen = 1;
  for (let e = element; e; e = e.parentElement) seen *= Number(getComputedStyle(e).opacity);
  if (seen < 0.05) continue;
  const below = behind(element), ink = read(style.color);
  const color = over([...ink.slice(0, 3), ink[3] * seen], below), pair = [light(color), light(below)].sort((a, b) => a - b);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  const contrast = (pair[1] + 0.05) / (pair[0] + 0.05);
  if (contrast < (large ? 3 : 4.5)) found.add(`${element.tagName} ${style.color} on ${below.slice(0, 3).map(Math.round)}: ${text.slice(0, 40)}`);
}
return [...found];
"""

_OUTSIDE = r"""
const found = [];
for (const element of document.body.querySelectorAll("*")) {
  if (element.getBoundingClientRect().right <= innerWidth + 1) continue;
  let around = element.parentElement;
  while (around && around !== document.body && getComputedStyle(around).overflowX === "visible") around = around.parentElement;
  if (!around || around === document.body) found.push(`${element.tagName}: ${element.textContent.trim().slice(0, 40)}`);
}
return document.documentElement.scrollWidth > innerWidth ? found : [];
"""

_BRIGHTNESS = r"""
const color = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
return (color[0] + color[1] + color[2]) / 765;
"""


def hard_to_read(browser: Browser) -> list[str]:
    """Texts with less contrast than WCAG 2.2 asks for (1.4.3: 4.5 to 1, 3 to 1 where they are large)."""
    return list(browser.run(_FAINT))


def off_the_page(browser: Browser) -> list[str]:
    """What one has to move the whole page for to see it: its right end lies outside of the window."""
    return list(browser.run(_OUTSIDE))


def brightness(browser: Browser) -> float:
    """Of the paper, from 0 (black) to 1."""
    return float(browser.run(_BRIGHTNESS))
