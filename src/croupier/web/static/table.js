// A table: sends the person's actions, shows what the server renders, and gives every action its key.

import { follow, isNewer, notify, say, swap } from "./live.js";

const table = document.getElementById("table");
const acts = document.getElementById("acts");
const texts = table.dataset;
const title = document.title;
let version = texts.version;
let isBusy = false;
let deadline = null; // milliseconds of performance.now()
let wasTurn = isTurn();

function receive(envelope) {
  if (!isNewer(envelope.version, version)) return;
  version = envelope.version;
  swap(envelope.parts);
  say(envelope.say);
  show(envelope.deadline);
}

function isTurn() {
  return acts.querySelector("[data-turn]") !== null;
}

/** Show whose turn it is, with a sound if it is on, and start the clock: `seconds` are left, or null without a limit. */
function show(seconds) {
  deadline = seconds === null || Number.isNaN(seconds) ? null : performance.now() + 1000 * seconds;
  document.title = isTurn() ? `● ${texts.yourTurn} · ${title}` : title;
  if (isTurn() && !wasTurn && isSoundOn()) chime();
  wasTurn = isTurn();
}

function tick() {
  if (deadline === null) return;
  const seconds = Math.max(0, (deadline - performance.now()) / 1000);
  const meter = acts.querySelector(".clock meter"), digits = acts.querySelector(".clock .seconds");
  if (!meter) return;
  meter.value = seconds;
  if (digits.textContent !== String(Math.ceil(seconds))) digits.textContent = Math.ceil(seconds);
}

/** Ask whether to do what costs something, and return the answer. */
function isConfirmed(button) {
  const warning = button?.dataset.warning;
  return !warning || confirm(`${warning}\n\n${button.querySelector(".label").textContent}?`);
}

async function act(form, button) {
  if (isBusy) return say(texts.busy);
  isBusy = true;
  acts.setAttribute("aria-busy", "true");
  for (const input of form.querySelectorAll("[data-edited]")) delete input.dataset.edited;
  try {
    const answer = await fetch(form.action, {
      method: "POST", body: new URLSearchParams(new FormData(form, button)), headers: { accept: "application/json" },
    });
    await handle(answer);
  } catch {
    restart();
    say(texts.offline);
  } finally {
    isBusy = false;
    acts.removeAttribute("aria-busy");
  }
}

async function handle(answer) {
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  const body = isJson ? await answer.json() : {};
  if (answer.redirected) location.assign(answer.url);
  else if (answer.ok && !body.parts) notify(null); // accepted: the stream brings the table
  else {
    if (body.parts) receive(body);
    const fault = answer.ok ? null : answer.status === 409 ? texts.stale : body.detail ?? texts.refused;
    notify(fault);
    if (fault) say(fault);
  }
}

// Numbers: a field, a slider (unless there are too many numbers) and presets have the same value.

function setAmount(form, value) {
  const field = form.elements.amount, slider = form.querySelector("[type=range]");
  field.value = value;
  field.dataset.edited = "";
  if (slider) slider.value = value;
  for (const output of acts.querySelectorAll(`output[for="${CSS.escape(field.id)}"]`)) output.value = value;
}

acts.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form?.classList.contains("amount")) setAmount(form, event.target.value);
});
acts.addEventListener("click", (event) => {
  const preset = event.target.closest(".preset");
  if (preset) setAmount(preset.form, preset.value);
});
acts.addEventListener("submit", (event) => {
  event.preventDefault();
  if (isConfirmed(event.submitter)) act(event.target, event.submitter);
});

// Settings of this browser.

/** Return a function that says whether a setting is on. `name` is stored if it is not as it is by default. */
function makeSwitch(button, name, byDefault) {
  const isOn = () => {
    try { return (localStorage.getItem(name) === null) === byDefault; } catch { return byDefault; }
  };
  const display = () => button?.setAttribute("aria-pressed", String(isOn()));
  button?.addEventListener("click", () => {
    try { isOn() === byDefault ? localStorage.setItem(name, "1") : localStorage.removeItem(name); } catch { return; }
    display();
  });
  display();
  return isOn;
}

// Sound: two tones when the person's turn begins. Browsers allow them once the person has done something on the page.

const isSoundOn = makeSwitch(document.getElementById("sound"), "croupier-sound-on", false);
const TONES = [660, 880]; // Hz
const TONE_SECONDS = 0.15;
let audio = null;

function chime() {
  if (!navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  const volume = new GainNode(audio, { gain: 0.1 });
  volume.connect(audio.destination);
  TONES.forEach((frequency, number) => {
    const tone = new OscillatorNode(audio, { frequency });
    tone.connect(volume);
    tone.start(audio.currentTime + number * TONE_SECONDS);
    tone.stop(audio.currentTime + (number + 1) * TONE_SECONDS);
  });
}

// Keys. People who dictate, or whose hand trembles, can switch them off.

const areKeysOn = makeSwitch(document.getElementById("single-keys"), "croupier-single-keys-off", true);
const rules = document.getElementById("rules");

function showRules() {
  rules.open = !rules.open || !rules.contains(document.activeElement);
  if (rules.open) rules.querySelector("summary").focus();
  else acts.querySelector(".act")?.focus();
}

/** Do what a key stands for. Return false for a digit that its field is to receive. */
function press(key) {
  const button = acts.querySelector(`.act[data-key="${CSS.escape(key)}"]`);
  const field = acts.querySelector(".amount [name=amount]");
  if (button?.form.classList.contains("amount")) {
    button.form.elements.amount.select();
  } else if (button) {
    button.form.requestSubmit(button);
  } else if (field && /^\d$/.test(key)) {
    field.select();
    return false;
  } else {
    say(acts.querySelector(".blocked")?.textContent ?? texts.noKey);
  }
  return true;
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input:not([type=range]), select, textarea");
  if (event.repeat && event.key === "Enter" && event.target.closest?.(".act")) event.preventDefault();
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || isTyping || !areKeysOn()) return;
  if (event.key === "?") showRules();
  else if (!/^[\p{L}\p{N}]$/u.test(event.key) || !press(event.key.toLowerCase())) return;
  event.preventDefault();
});

show(Number.parseFloat(acts.querySelector("[data-deadline]")?.dataset.deadline));
setInterval(tick, 200);
const restart = follow(() => `${texts.events}?since=${encodeURIComponent(version)}`, receive, texts, "watch" in texts);
