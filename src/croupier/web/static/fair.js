// The page that verifies a deal: reads its form, and says what fair.mjs has computed.

import { fromHex, sha256, shuffle, toHex } from "./fair.mjs";

const form = document.getElementById("fair");
const verdict = document.getElementById("verdict");
const field = (id) => document.getElementById(id).value.trim();
const words = (text) => text.split(/[\s,]+/).filter(Boolean);
const isHex = (text) => /^([0-9a-f]{2})*$/i.test(text);

function show(text, state, cards = []) {
  const sentence = document.createElement("p");
  sentence.textContent = text;
  sentence.className = state;
  const list = document.createElement("p");
  list.textContent = cards.join(" ");
  verdict.replaceChildren(sentence, list);
}

function verify() {
  const serverSeed = field("server-seed"), clientSeed = field("client-seed"), texts = form.dataset;
  if (!isHex(serverSeed) || serverSeed.length !== 64 || !isHex(clientSeed)) return show(texts.malformed, "loss");
  const isPromised = toHex(sha256(fromHex(serverSeed))) === field("commitment").toLowerCase();
  if (!isPromised) return show(texts.brokenPromise, "loss");
  const pack = words(field("pack")), dealt = words(field("cards"));
  const seeds = [fromHex(serverSeed), fromHex(clientSeed)];
  const order = shuffle(field("algorithm"), ...seeds, Number(field("hand")), pack.length).map((n) => pack[n]);
  if (!dealt.length) return show(texts.open, "win", order);
  const isKept = dealt.every((card, n) => card === order[n]);
  return show(isKept ? texts.kept : texts.brokenDeal, isKept ? "win" : "loss", order.slice(0, dealt.length));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  verify();
});
form.querySelector("button").disabled = false; // before, the browser would have sent the form
