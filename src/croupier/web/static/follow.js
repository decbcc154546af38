// A page that only watches, such as a check or a class: swaps its parts as they change, and marks new results.

import { follow, isNewer, say, swap } from "./live.js";

const FRESH_MILLISECONDS = 2000;
const texts = document.getElementById("follow").dataset;
let version = texts.version;

function receive(envelope) {
  if (!isNewer(envelope.version, version)) return;
  version = envelope.version;
  const before = results().map((cell) => cell.textContent);
  swap(envelope.parts);
  results().forEach((cell, n) => cell.textContent !== before[n] && mark(cell));
  say(envelope.say);
}

function results() {
  return [...document.querySelectorAll(".matrix td")];
}

function mark(cell) {
  cell.classList.add("fresh");
  setTimeout(() => cell.classList.remove("fresh"), FRESH_MILLISECONDS);
}

if (texts.events) follow(() => `${texts.events}?since=${encodeURIComponent(version)}`, receive, texts, true);
