// Parts of a page that the server renders again: swapped in place, announced once, streamed as server-sent events.

const policy = globalThis.trustedTypes?.createPolicy("croupier", { createHTML: (html) => html })
  ?? { createHTML: (html) => html };

const RETRY_MILLISECONDS = 3000;
const shown = new WeakMap(); // the HTML of each part that was swapped

/**
 * Replace the content of elements by their ids, and return those that have changed. The focus, edited numbers,
 * and what was opened or closed stay.
 */
export function swap(parts) {
  const changed = [];
  for (const [id, html] of Object.entries(parts)) {
    const part = document.getElementById(id);
    if (!part || shown.get(part) === html) continue;
    shown.set(part, html);
    const next = part.cloneNode(false);
    next.innerHTML = policy.createHTML(html);
    if (next.isEqualNode(part)) continue;
    replace(part, next.childNodes);
    changed.push(part);
  }
  return changed;
}

function replace(part, nodes) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const kept = [...part.querySelectorAll("input[data-edited]")].map((input) => [input.id, input.value]);
  const opened = new Map([...part.querySelectorAll("details")].map((details) => [nameOf(details), details.open]));
  const cards = cardsOf(part);
  part.replaceChildren(...nodes);
  for (const details of part.querySelectorAll("details")) details.open = opened.get(nameOf(details)) ?? details.open;
  for (const [id, value] of kept) restore(part.querySelector(`#${CSS.escape(id)}`), value);
  cardsOf(part).forEach((hand, place) => {
    hand.forEach(({ svg, face }, n) => svg.classList.toggle("dealt", cards[place]?.[n]?.face !== face));
  });
  if (focused) refocus(part, focused);
}

function nameOf(details) {
  return details.dataset.key ?? details.className;
}

function cardsOf(part) {
  return [...part.querySelectorAll(".hand")].map((hand) =>
    [...hand.querySelectorAll(".card")].map((svg) => ({ svg, face: svg.querySelector("use").getAttribute("href") })));
}

function restore(input, value) {
  if (!input || Number(value) < Number(input.min) || Number(value) > Number(input.max)) return;
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

function refocus(part, before) {
  const same = before.id && before !== part
    ? part.querySelector(`#${CSS.escape(before.id)}`)
    : before.name && part.querySelector(`[name="${CSS.escape(before.name)}"][value="${CSS.escape(before.value)}"]`);
  const next = same || part.querySelector("button:not([type=button])") || part;
  next.focus({ preventScroll: true });
}

/** Announce a text to screen readers; the same text twice is announced twice. */
export function say(text) {
  const live = document.getElementById("live");
  if (!live || !text) return;
  live.textContent = "";
  requestAnimationFrame(() => { live.textContent = text; });
}

/** Show a text above the page until it is replaced; without a text, hide it. */
export function notify(text) {
  const notice = document.getElementById("notice");
  if (!notice) return;
  notice.hidden = !text;
  notice.textContent = text ?? "";
}

/** Whether a version such as "7f3a-18" is news after another: of another start of the server, or a higher number. */
export function isNewer(version, known) {
  const split = (text) => [text.slice(0, text.lastIndexOf("-")), Number(text.slice(text.lastIndexOf("-") + 1))];
  const [instance, number] = split(version), [knownInstance, knownNumber] = split(known);
  return instance !== knownInstance || number > knownNumber;
}

/**
 * Follow a stream of envelopes. `address()` is asked at each start; `texts` are shown while the stream is interrupted
 * or parked. With `pausesHidden` the stream is closed while nobody sees the page. Return a function that starts the
 * stream again after a request of the page has failed: the stream may not have noticed.
 */
export function follow(address, receive, texts, pausesHidden = false) {
  let source = null, ended = false, interrupted = false, parked = false;
  const close = () => { source?.close(); source = null; };
  const interrupt = () => { interrupted = true; notify(texts.offline); };
  const open = () => {
    if (source || ended || (pausesHidden && document.hidden)) return;
    source = new EventSource(address());
    source.addEventListener("table", (event) => receive(JSON.parse(event.data)));
    source.addEventListener("parked", () => { parked = true; close(); notify(texts.parked); });
    source.addEventListener("end", () => { ended = true; close(); });
    source.addEventListener("open", () => {
      if (interrupted || parked) notify(interrupted ? texts.online : null);
      interrupted = parked = false;
    });
    source.addEventListener("error", () => {
      interrupt();
      if (source?.readyState === EventSource.CLOSED) refused();
    });
  };
  const refused = async () => {
    close();
    const page = await fetch(location.href, { method: "HEAD" }).catch(() => null);
    ended = page?.status === 404;
    notify(ended ? texts.gone : texts.offline);
    setTimeout(open, RETRY_MILLISECONDS);
  };
  addEventListener("focus", open);
  addEventListener("pageshow", open);
  addEventListener("pagehide", close);
  document.addEventListener("visibilitychange", () => (document.hidden ? pausesHidden && close() : open()));
  open();
  return () => { close(); interrupt(); open(); };
}
