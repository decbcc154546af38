// A page that only watches, such as a check: swaps its parts as they change.

import { follow, isNewer, say, swap } from "./live.js";

const texts = document.getElementById("follow").dataset;
let version = texts.version;

function receive(envelope) {
  if (!isNewer(envelope.version, version)) return;
  version = envelope.version;
  swap(envelope.parts);
  say(envelope.say);
}

if (texts.events) follow(() => `${texts.events}?since=${encodeURIComponent(version)}`, receive, texts, true);
