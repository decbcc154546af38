/* A client of Kuhn poker (docs/protocols/kuhn.md). It takes the seats in turn and tosses a coin for every decision. */
#include "load.h"

enum { FRAME = 8 }; /* "ACTN BET" and its like: four letters, a space, three characters, no terminator */

/* What a connection waits for. The comments give the replies the protocol allows. */
enum awaited {
    CARD = NOTHING + 1, /* after STRT P_1: CARD */
    CARD_AND_ACTION,    /* after STRT P_2: CARD, then ACTN CHK or ACTN BET */
    ANSWER_TO_BET,      /* CARD (called), or ACTN FLD */
    ANSWER_TO_CHECK,    /* P_1 checked: CARD (checked too), or ACTN BET */
    SHOWDOWN,           /* P_1 or P_2 called, or P_2 checked: CARD */
};

static const char *const AWAITED[] = {
    [NOTHING] = "nothing",
    [CARD] = "CARD",
    [CARD_AND_ACTION] = "CARD and ACTN CHK or ACTN BET",
    [ANSWER_TO_BET] = "the other's CARD or ACTN FLD",
    [ANSWER_TO_CHECK] = "the other's CARD or ACTN BET",
    [SHOWDOWN] = "the other's CARD",
};

static bool is(const char *frame, const char *expected)
{
    return memcmp(frame, expected, FRAME) == 0;
}

static char card_in(const char *frame)
{
    bool card = memcmp(frame, "CARD C_", FRAME - 1) == 0 && place("JQK", frame[FRAME - 1]) >= 0;
    return card ? frame[FRAME - 1] : 0;
}

/* ---- playing ---- */

/* The document gives a fold no reply, so it travels with the STRT of the next game. */
static void start_game(struct connection *c, bool folded)
{
    bool second = c->game++ & 1;
    const char *bytes = second ? "ACTN FLDSTRT P_2" : "ACTN FLDSTRT P_1";
    enum awaited awaited = second ? CARD_AND_ACTION : CARD;
    if (folded) {
        send_flight(c, bytes, 2 * FRAME, 2, awaited);
    } else {
        send_flight(c, bytes + FRAME, FRAME, 1, awaited);
    }
}

static void begin(struct connection *c)
{
    start_game(c, false);
}

static void bet_or_check(struct connection *c, enum awaited after_check)
{
    if (coin()) {
        send_flight(c, "ACTN BET", FRAME, 1, ANSWER_TO_BET);
    } else {
        send_flight(c, "ACTN CHK", FRAME, 1, after_check);
    }
}

static void call_or_fold(struct connection *c)
{
    if (coin()) {
        send_flight(c, "ACTN CAL", FRAME, 1, SHOWDOWN);
    } else {
        start_game(c, true);
    }
}

static void next(struct connection *c)
{
    switch (c->awaited) {
    case CARD:
        c->kuhn.card = card_in(c->reply);
        bet_or_check(c, ANSWER_TO_CHECK);
        break;
    case CARD_AND_ACTION:
        c->kuhn.card = card_in(c->reply);
        if (is(c->reply + FRAME, "ACTN BET")) {
            call_or_fold(c);
        } else {
            bet_or_check(c, SHOWDOWN);
        }
        break;
    case ANSWER_TO_CHECK:
        if (is(c->reply, "ACTN BET")) {
            call_or_fold(c);
        } else {
            start_game(c, false);
        }
        break;
    default:
        start_game(c, false);
    }
}

/* ---- reading replies ---- */

static bool first_frame_fits(const struct connection *c)
{
    char card = card_in(c->reply);
    switch (c->awaited) {
    case CARD:
    case CARD_AND_ACTION:
        return card;
    case ANSWER_TO_BET:
        return is(c->reply, "ACTN FLD") || (card && card != c->kuhn.card);
    case ANSWER_TO_CHECK:
        return is(c->reply, "ACTN BET") || (card && card != c->kuhn.card);
    default:
        return card && card != c->kuhn.card;
    }
}

/* A reply is wrong as soon as its first frame is, even if a second one is still awaited. */
static unsigned read_reply(struct connection *c)
{
    bool two = c->awaited == CARD_AND_ACTION;
    const char *second = c->reply + FRAME;
    if (has(c, FRAME) && !first_frame_fits(c)) {
        fail_reply(c, "wrong reply");
    }
    if (two && has(c, 2 * FRAME) && !is(second, "ACTN BET") && !is(second, "ACTN CHK")) {
        fail_reply(c, "wrong reply");
    }
    unsigned wanted = two ? 2 * FRAME : FRAME;
    return has(c, wanted) ? wanted : 0;
}

const struct speaker KUHN = {
    .name = "kuhn", .awaited = AWAITED, .room = REPLY_MAX, .begin = begin, .read = read_reply, .next = next,
    .goodbye = "DISC", .farewell = "",
};
