/* A client of blackjack with one deck (docs/protocols/blackjack.md).
 *
 * It bets ten, hits below 17 and stands otherwise, whether an ace counts 11 or not. Every sixteenth round it surrenders.
 */
#include "load.h"

enum {
    BET = 10,
    BEST = 21,
    STANDS = 17, /* the bank does so too, and has no choice */
    SURRENDERS_EVERY = 16,
    CRD_LENGTH = 9,
};

/* What a connection waits for. The comments give the replies the protocol allows. */
enum awaited {
    MONEY = NOTHING + 1, /* after PLY: MON */
    DEAL,                /* after BET: CRD C, CRD C, CRD S, TRN */
    OPENING,             /* after PLY and BET in one flight: both answers */
    HIT,                 /* after MOV H: CRD C, and TRN or, with 21 and more, RES */
    BANK,                /* after MOV S: CRD S, once or more, and RES */
    HALF,                /* after SRD: RES L */
};

static const char *const AWAITED[] = {
    [NOTHING] = "nothing",
    [MONEY] = "MON with the balance: the one before, less the bet, plus what was paid back, and enough to bet",
    [DEAL] = "CRD C, CRD C, CRD S and TRN",
    [OPENING] = "MON with the balance, CRD C, CRD C, CRD S and TRN",
    [HIT] = "CRD C and TRN below 21, RES W with twice the bet at 21, RES L with 0 above",
    [BANK] = "CRD S, once or more up to 17, and RES W with twice the bet or RES L with 0",
    [HALF] = "RES L with half of the bet",
};

static unsigned total(struct hand hand)
{
    return hand.ace && hand.low + 10 <= BEST ? hand.low + 10 : hand.low;
}

/* ---- playing ---- */

static void bet(struct connection *c)
{
    char bytes[] = "BET....";
    put_number(bytes + 3, BET);
    send_flight(c, bytes, sizeof bytes - 1, 1, DEAL);
}

static void start_round(struct connection *c)
{
    c->game++;
    c->blackjack.seen = 0;
    c->blackjack.own = c->blackjack.bank = (struct hand){0, false};
    if (ahead) { /* the balance is known, and the bet is always the same */
        char bytes[] = "PLYBET....";
        put_number(bytes + 6, BET);
        send_flight(c, bytes, sizeof bytes - 1, 2, OPENING);
    } else {
        send_flight(c, "PLY", 3, 1, MONEY);
    }
}

static void move(struct connection *c)
{
    if (total(c->blackjack.own) < STANDS) {
        send_flight(c, "MOV\0H", 5, 1, HIT);
    } else {
        send_flight(c, "MOV\0S", 5, 1, BANK);
    }
}

static void next(struct connection *c)
{
    switch (c->awaited) {
    case MONEY:
        bet(c);
        break;
    case DEAL:
    case OPENING:
        if (c->game % SURRENDERS_EVERY == 0) {
            send_flight(c, "SRD", 3, 1, HALF);
        } else {
            move(c);
        }
        break;
    case HIT:
        if (total(c->blackjack.own) < BEST) {
            move(c);
        } else {
            start_round(c);
        }
        break;
    default:
        start_round(c);
    }
}

/* ---- reading replies ---- */

static unsigned read_money(struct connection *c)
{
    if (!says(c, 0, "MON", 3) || !has(c, 7)) {
        return 0;
    }
    int32_t told = get_number(c->reply + 3);
    if (told < BET || (c->blackjack.told && told != c->blackjack.purse)) {
        fail_reply(c, "wrong balance");
    }
    c->blackjack.told = true;
    c->blackjack.purse = told;
    return 7;
}

/* A CRD that is whole; its card goes to the hand. */
static bool read_card(const struct connection *c, unsigned at, char owner, uint64_t *seen, struct hand *hand)
{
    const char head[] = {'C', 'R', 'D', 0, owner, 0};
    if (!says(c, at, head, sizeof head) || !has(c, at + CRD_LENGTH)) {
        return false;
    }
    const char *card = c->reply + at + sizeof head; /* its rank, a zero, its suit */
    int rank = place("A23456789TJQK", card[0]), suit = card[1] ? -1 : place("HDSC", card[2]);
    see(c, seen, rank < 0 || suit < 0 ? -1 : 13 * suit + rank);
    hand->low = (uint8_t)(hand->low + (rank < 10 ? rank + 1 : 10));
    hand->ace = hand->ace || rank == 0;
    return true;
}

/* RES, which is the end of the reply: its result and amount are known beforehand. */
static unsigned read_result(struct connection *c, unsigned at, bool won, int32_t paid)
{
    char bytes[] = "RES\0W....";
    bytes[4] = won ? 'W' : 'L';
    put_number(bytes + 5, paid);
    if (!says(c, at, bytes, sizeof bytes - 1)) {
        return 0;
    }
    c->blackjack.purse += paid - BET;
    return at + (unsigned)sizeof bytes - 1;
}

static unsigned read_deal(struct connection *c, unsigned at)
{
    uint64_t seen = 0;
    struct hand own = {0, false}, bank = {0, false};
    unsigned turn = at + 3 * CRD_LENGTH;
    if (!read_card(c, at, 'C', &seen, &own) || !read_card(c, at + CRD_LENGTH, 'C', &seen, &own) ||
        !read_card(c, at + 2 * CRD_LENGTH, 'S', &seen, &bank) || !says(c, turn, "TRN", 3)) {
        return 0;
    }
    c->blackjack.seen = seen;
    c->blackjack.own = own;
    c->blackjack.bank = bank;
    return turn + 3;
}

static unsigned read_hit(struct connection *c)
{
    uint64_t seen = c->blackjack.seen;
    struct hand own = c->blackjack.own;
    if (!read_card(c, 0, 'C', &seen, &own)) {
        return 0;
    }
    unsigned length, has_now = total(own);
    if (has_now < BEST) {
        length = says(c, CRD_LENGTH, "TRN", 3) ? CRD_LENGTH + 3 : 0;
    } else {
        length = read_result(c, CRD_LENGTH, has_now == BEST, has_now == BEST ? 2 * BET : 0);
    }
    if (length) { /* only now: an incomplete reply is read again from its beginning */
        c->blackjack.seen = seen;
        c->blackjack.own = own;
    }
    return length;
}

static unsigned read_bank(struct connection *c)
{
    uint64_t seen = c->blackjack.seen;
    struct hand bank = c->blackjack.bank;
    unsigned at = 0, own = total(c->blackjack.own);
    for (; total(bank) < STANDS; at += CRD_LENGTH) {
        if (!read_card(c, at, 'S', &seen, &bank)) {
            return 0;
        }
    }
    unsigned has_now = total(bank);
    bool won = has_now > BEST || own > has_now || (own == has_now && own < BEST);
    return read_result(c, at, won, won ? 2 * BET : 0);
}

static unsigned read_reply(struct connection *c)
{
    switch (c->awaited) {
    case MONEY: return read_money(c);
    case DEAL: return read_deal(c, 0);
    case OPENING: return read_money(c) ? read_deal(c, 7) : 0;
    case HIT: return read_hit(c);
    case BANK: return read_bank(c);
    default: return read_result(c, 0, false, BET / 2);
    }
}

const struct speaker BLACKJACK = {
    .name = "blackjack", .awaited = AWAITED, .room = REPLY_MAX, .begin = start_round, .read = read_reply, .next = next,
    .goodbye = "STP", .farewell = "STP",
};
