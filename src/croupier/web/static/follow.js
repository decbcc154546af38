// A page that only watches, such as the lobby, a check or a class: swaps its parts as they change, and marks new results.

import { follow, isNewer, say, swap } from "./live.js";

const FRESH_MILLISECONDS = 2000;
const texts = document.getElementById("follow").dataset;
let version = texts.version;

function receive(envelope) {
  if (!isNewer(envelope.version, version)) return;
  version = envelope.version;
  swap(envelope.parts).filter((part) => part.querySelector(":scope > [data-result]")).forEach(mark);
  say(envelope.say);
}

function mark(part) {
  part.classList.add("fresh");
  setTimeout(() => part.classList.remove("fresh"), FRESH_MILLISECONDS);
}

if (texts.events) follow(() => `${texts.events}?since=${encodeURIComponent(version)}`, receive, texts, true);
