/* A client of seven and a half (docs/protocols/sevenhalf.md).
 *
 * It draws until it holds five or more, or is over, and passes. In every eighth game it raises its bet before its second
 * card, if it wants one. All points are counted in halves.
 */
#include "load.h"

enum {
    ENOUGH = 10,
    BEST = 15,
    RAISE = 0x0A0D0020, /* its bytes look like a line's end and a space, and are data all the same */
    RAISES_EVERY = 8,
    BET_MAX = (1 << 30) - 1,
};

/* What a connection waits for. The comments give the replies the protocol allows. */
enum awaited {
    STARTING_BET = NOTHING + 1, /* after STRT: STBT */
    OWN_CARD,                   /* after DRAW: CARD, or CARD, BSTG, BKSC and GAIN */
    OPENING,                    /* after STRT and DRAW in one flight: both answers */
    BANK,                       /* after PASS: BKSC and GAIN */
};

static const char *const AWAITED[] = {
    [NOTHING] = "nothing",
    [STARTING_BET] = "STBT with 1 to 1073741823",
    [OWN_CARD] = "CARD and, over seven and a half, BSTG, BKSC with one card, and GAIN",
    [OPENING] = "STBT with 1 to 1073741823, and CARD",
    [BANK] = "BKSC with the cards that the bank has to draw, and GAIN with what that pays",
};

/* ---- playing ---- */

static void start_game(struct connection *c)
{
    c->sevenhalf.raises = c->game++ % RAISES_EVERY == 0;
    c->sevenhalf.seen = 0;
    c->sevenhalf.halves = 0;
    if (ahead) { /* whatever the bet, only DRAW is allowed behind STRT */
        send_flight(c, "STRTDRAW", 8, 2, OPENING);
    } else {
        send_flight(c, "STRT", 4, 1, STARTING_BET);
    }
}

/* The document gives an ANTE no reply, so it travels with the DRAW that has to follow it. */
static void raise_and_draw(struct connection *c)
{
    char bytes[] = "ANTE ....DRAW";
    put_number(bytes + 5, RAISE);
    c->sevenhalf.raises = false;
    c->sevenhalf.bet += RAISE;
    send_flight(c, bytes, sizeof bytes - 1, 2, OWN_CARD);
}

static void next(struct connection *c)
{
    if (c->awaited == BANK || c->sevenhalf.halves > BEST) {
        start_game(c);
    } else if (c->sevenhalf.halves >= ENOUGH) {
        send_flight(c, "PASS", 4, 1, BANK);
    } else if (c->awaited != STARTING_BET && c->sevenhalf.raises && c->sevenhalf.bet <= BET_MAX - RAISE) {
        raise_and_draw(c);
    } else {
        send_flight(c, "DRAW", 4, 1, OWN_CARD);
    }
}

/* ---- reading replies ---- */

static unsigned read_bet(struct connection *c)
{
    if (!says(c, 0, "STBT ", 5) || !has(c, 9)) {
        return 0;
    }
    c->sevenhalf.bet = get_number(c->reply + 5);
    if (c->sevenhalf.bet < 1 || c->sevenhalf.bet > BET_MAX) {
        fail_reply(c, "wrong bet");
    }
    return 9;
}

/* What a card counts. */
static unsigned take_card(const struct connection *c, unsigned at, uint64_t *seen)
{
    int rank = place("1234567scr", c->reply[at]), suit = place("oceb", c->reply[at + 1]);
    see(c, seen, rank < 0 || suit < 0 ? -1 : 10 * suit + rank);
    return rank < 7 ? 2 * (unsigned)(rank + 1) : 1;
}

static int32_t gain(int32_t bet, unsigned own, unsigned bank)
{
    if (own > BEST) {
        return -bet;
    }
    if (own == bank) {
        return 0;
    }
    return own < bank && bank <= BEST ? -bet : own == BEST ? 2 * bet : bet;
}

/* BKSC and GAIN, from here to the end of the reply. The bank has no choice, so all but its cards is known beforehand. */
static unsigned read_bank(const struct connection *c, unsigned at, unsigned own, uint64_t seen)
{
    if (!says(c, at, "BKSC ", 5)) {
        return 0;
    }
    unsigned count = 0, bank = 0, cards = at + 9;
    do {
        if (!has(c, cards + 2 * count + 2)) {
            return 0;
        }
        bank += take_card(c, cards + 2 * count, &seen);
        count++;
    } while (own <= BEST && bank <= own && bank < BEST);

    char number[4], rest[] = " 00.0GAIN ....";
    put_number(number, (int32_t)count);
    rest[1] = (char)('0' + bank / 20);
    rest[2] = (char)('0' + bank / 2 % 10);
    rest[4] = bank % 2 ? '5' : '0';
    put_number(rest + 10, gain(c->sevenhalf.bet, own, bank));
    says(c, at + 5, number, sizeof number);
    unsigned end = cards + 2 * count;
    return says(c, end, rest, sizeof rest - 1) ? end + sizeof rest - 1 : 0;
}

static unsigned read_card(struct connection *c, unsigned at)
{
    if (!says(c, at, "CARD ", 5) || !has(c, at + 7)) {
        return 0;
    }
    uint64_t seen = c->sevenhalf.seen;
    unsigned halves = c->sevenhalf.halves + take_card(c, at + 5, &seen), length = at + 7;
    if (halves > BEST) {
        length = says(c, at + 7, "BSTG", 4) ? read_bank(c, at + 11, halves, seen) : 0;
    }
    if (length) { /* only now: an incomplete reply is read again from its beginning */
        c->sevenhalf.seen = seen;
        c->sevenhalf.halves = (uint8_t)halves;
    }
    return length;
}

static unsigned read_reply(struct connection *c)
{
    switch (c->awaited) {
    case STARTING_BET: return read_bet(c);
    case OPENING: return read_bet(c) ? read_card(c, 9) : 0;
    case OWN_CARD: return read_card(c, 0);
    default: return read_bank(c, 0, c->sevenhalf.halves, c->sevenhalf.seen);
    }
}

const struct speaker SEVENHALF = {
    .name = "sevenhalf", .awaited = AWAITED, .room = REPLY_MAX, .begin = start_game, .read = read_reply, .next = next,
    .goodbye = "", .farewell = "",
};
