// A replay: one step for a key or a click, without loading the whole page again, and playing by itself.

import { say, swap } from "./live.js";

const STEP_MILLISECONDS = 1200;
const steps = document.getElementById("steps");
const texts = document.getElementById("table").dataset;
let player = null;

async function go(link) {
  const address = new URL(link.getAttribute("href"), location.href); // a link in a picture has no href as a string
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  if (!answer.ok || !isJson) return location.assign(address);
  const envelope = await answer.json();
  swap(envelope.parts);
  say(envelope.say);
  history.replaceState(null, "", address);
  showPlayer();
}

function find(key) {
  return steps.querySelector(`[data-key="${CSS.escape(key)}"]`);
}

function pause() {
  clearInterval(player);
  player = null;
  showPlayer();
}

function toggle() {
  if (player !== null) return pause();
  player = setInterval(() => {
    const next = find("ArrowRight");
    if (next.hasAttribute("aria-current")) pause();
    else go(next);
  }, STEP_MILLISECONDS);
  return showPlayer();
}

function showPlayer() {
  const button = document.getElementById("play");
  button.textContent = player === null ? texts.play : texts.pause;
  button.setAttribute("aria-pressed", String(player !== null));
}

steps.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='?step=']");
  if (event.target.closest("#play")) return toggle();
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  event.preventDefault();
  return go(link);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest?.("input, select, textarea, [tabindex='0']")) return;
  const link = find(event.key);
  if (link) go(link);
  else if (event.key === " " && !event.repeat && !event.target.closest?.("a, button, summary")) toggle();
  else return;
  event.preventDefault();
});
