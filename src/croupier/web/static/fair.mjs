// Verifies a deal of croupier-fair-1 or -2 (docs/fair-deal.md), independently of the server: SHA-256 (FIPS 180-4),
// HMAC (RFC 2104) and the shuffle, by hand, because crypto.subtle does not exist on http:// outside this machine.

const FRACTION = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32);
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);
const START = PRIMES.slice(0, 8).map((prime) => FRACTION(Math.sqrt(prime)));
const ROUND = PRIMES.map((prime) => FRACTION(Math.cbrt(prime)));
const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits));
export const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

export function sha256(message) {
  const padded = new DataView(new ArrayBuffer(Math.ceil((message.length + 9) / 64) * 64));
  [...message, 0x80].forEach((byte, at) => padded.setUint8(at, byte));
  padded.setBigUint64(padded.byteLength - 8, BigInt(message.length) * 8n);
  const state = [...START];
  for (let block = 0; block < padded.byteLength; block += 64) {
    const w = Array.from({ length: 16 }, (_, n) => padded.getUint32(block + 4 * n));
    let [a, b, c, d, e, f, g, h] = state;
    for (let n = 0; n < 64; n++) {
      if (n >= 16) {
        const x = w[n - 15], y = w[n - 2];
        const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3), s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
        w[n] = (w[n - 16] + s0 + w[n - 7] + s1) | 0;
      }
      const t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[n] + w[n];
      const t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, n) => { state[n] = (state[n] + word) | 0; });
  }
  return fromHex(state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join(""));
}

export function hmac(key, message) { // of a key of at most 64 bytes
  const pad = (value) => Uint8Array.from({ length: 64 }, (_, n) => (key[n] ?? 0) ^ value);
  return sha256(join(pad(0x5c), sha256(join(pad(0x36), message))));
}

export function shuffle(algorithm, serverSeed, clientSeed, hand, size) {
  const order = Array.from({ length: size }, (_, n) => n);
  const block = (number, at) => {
    const counter = fromHex(((BigInt(number) << 32n) | BigInt(at)).toString(16).padStart(24, "0"));
    const digest = hmac(serverSeed, join(clientSeed, counter));
    return Array.from({ length: 16 }, (_, n) => 256 * digest[2 * n] + digest[2 * n + 1]);
  };
  const own = Math.min(Math.max(1, size - 1), 16), hands = Math.floor(16 / own), first = ((hand - 1) % hands) * own;
  const shared = () => block(2n ** 64n - 1n, Math.floor((hand - 1) / hands)).slice(first, first + own);
  const words = algorithm === "croupier-fair-2" ? shared() : [];
  for (let at = 0, next = 0; at < size - 1;) {
    if (!words.length) words.push(...block(hand, next++));
    const word = words.shift(), bound = size - at, other = at + (word % bound);
    if (word >= 65536 - (65536 % bound)) continue; // an equal chance for every card
    [order[at], order[other]] = [order[other], order[at]];
    at++;
  }
  return order;
}
