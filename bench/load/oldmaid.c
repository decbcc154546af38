/* Players of Old Maid at their table (docs/protocols/oldmaid.md), four to a game.
 *
 * A connection is a player, and his nick is its number. What players say to each other does not pass the table, so here
 * it takes no time: whoever has drawn, and thrown away his pair, lets the next one draw; when the deck is empty they
 * pick from each other until somebody has a pair to throw away or no cards any more. Then all four join again.
 *
 * So one player of every game waits for the table. The answer to a join comes when three others have joined: it is
 * counted, and no round trip is taken from it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "load.h"

enum {
    PLAYERS = 4,
    CARDS = 53,
    JOKER = 52,
    HAND_MAX = 27,  /* one of every pair, and the joker */
    LIST_MAX = 512, /* longer than a list of four */
    NOBODY = -1,
};

enum awaited {
    LIST = NOTHING + 1, /* after join: the game's players */
    CARD,               /* after draw: a card, the last one as last_card */
    THROWN,             /* after discard */
    OUT,                /* after out_of_cards */
};

static const char *const AWAITED[] = {
    [NOTHING] = "nothing",
    [LIST] = "the list of four players, with its own nick",
    [CARD] = "ok with a card that was not drawn before, or with the 53rd last_card",
    [THROWN] = "{\"result\":\"ok\",\"message\":\"ok\"}",
    [OUT] = "{\"result\":\"ok\"}",
};

static const char *const VALUES[] = {"2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"};
static const char *const SUITS[] = {"spades", "clubs", "diamonds", "hearts"};

struct hand_of_cards {
    uint8_t cards[HAND_MAX + 1];
    uint8_t count;
    bool out;
};

struct ring {
    struct connection *players[PLAYERS];
    struct hand_of_cards hands[PLAYERS];
    uint64_t seen;      /* cards, as a set */
    uint8_t listed;     /* how many have the list */
    uint8_t drawn;
    int8_t turn;        /* who is to draw but has no list yet, or NOBODY */
    uint8_t offerer;
};

static struct ring *rings; /* by the number of the first player's connection */
static char faces[CARDS][24];
static uint8_t face_lengths[CARDS];
static uint64_t games;

/* ---- cards ---- */

static void prepare(int connections)
{
    if (connections % PLAYERS) {
        fail("--connections %d: %d play at a table", connections, PLAYERS);
    }
    rings = calloc((size_t)connections, sizeof *rings);
    if (!rings) {
        fail("no memory for %d games", connections);
    }
    for (int card = 0; card < CARDS; card++) {
        int length = card == JOKER ? snprintf(faces[card], sizeof faces[card], "[\"joker\",\"maid\"]")
                                   : snprintf(faces[card], sizeof faces[card], "[\"%s\",\"%s\"]", VALUES[card / 4],
                                              SUITS[card % 4]);
        face_lengths[card] = (uint8_t)length;
    }
}

static int card_at(const char *text)
{
    for (int card = 0; card < CARDS; card++) {
        if (memcmp(text, faces[card], face_lengths[card]) == 0) {
            return card;
        }
    }
    return NOBODY;
}

static bool holds(const struct hand_of_cards *hand, int card)
{
    return memchr(hand->cards, card, hand->count) != NULL;
}

static uint8_t take_out(struct hand_of_cards *hand, unsigned at)
{
    uint8_t card = hand->cards[at];
    hand->cards[at] = hand->cards[--hand->count];
    return card;
}

static void take_out_card(struct hand_of_cards *hand, int card)
{
    take_out(hand, (unsigned)((uint8_t *)memchr(hand->cards, card, hand->count) - hand->cards));
}

/* A number below `count`, by coins: throws again when it is not below. */
static unsigned below(unsigned count)
{
    for (;;) {
        unsigned found = 0;
        for (unsigned most = count - 1; most; most >>= 1) {
            found = found << 1 | coin();
        }
        if (found < count) {
            return found;
        }
    }
}

/* ---- speaking ---- */

static void say(struct connection *c, uint64_t sent_ns, const char *text, size_t length, enum awaited awaited)
{
    c->sent_ns = sent_ns;
    send_flight(c, text, length, 1, awaited);
}

static void join(struct connection *c)
{
    char text[64];
    int length = snprintf(text, sizeof text, "{\"cmd\":\"join\",\"nick\":\"%u\"}\n", number_of(c));
    c->untimed = true;
    send_flight(c, text, (size_t)length, 1, LIST);
}

static void draw(struct connection *c, uint64_t now)
{
    static const char text[] = "{\"cmd\":\"draw\"}\n";
    say(c, now, text, sizeof text - 1, CARD);
}

/* Who has both cards of a pair throws them away, and with `last_cards` says whether these were his last ones. */
static bool throws_away(struct ring *ring, unsigned seat, int card, uint64_t now)
{
    struct hand_of_cards *hand = &ring->hands[seat];
    char text[160];
    if (card == JOKER || !holds(hand, card ^ 1)) {
        return false;
    }
    take_out_card(hand, card);
    take_out_card(hand, card ^ 1);
    bool last = !hand->count && ring->drawn == CARDS;
    int length = snprintf(text, sizeof text, "{\"cmd\":\"discard\",\"cards\":[%s,%s],\"last_cards\":\"%s\"}\n",
                          faces[card & ~1], faces[card | 1], last ? "true" : "false");
    say(ring->players[seat], now, text, (size_t)length, THROWN);
    return true;
}

/* ---- a game ---- */

static void begin(struct connection *c)
{
    join(c);
}

static void rejoin(struct ring *ring, uint64_t now)
{
    if (counting) {
        games++;
    }
    ring->listed = 0;
    for (unsigned seat = 0; seat < PLAYERS; seat++) {
        ring->players[seat]->sent_ns = now;
        join(ring->players[seat]);
    }
}

/* The next one draws, as soon as he has the list. */
static void pass_on(struct ring *ring, unsigned seat, uint64_t now)
{
    struct connection *c = ring->players[seat];
    if (c) {
        draw(c, now);
    } else {
        ring->turn = (int8_t)seat;
    }
}

static unsigned next_in(const struct ring *ring, unsigned seat)
{
    do {
        seat = (seat + 1) % PLAYERS;
    } while (ring->hands[seat].out);
    return seat;
}

/* They pick from each other until the table has to hear of it. */
static void offer(struct ring *ring, uint64_t now)
{
    static const char out[] = "{\"cmd\":\"out_of_cards\"}\n";
    for (;;) {
        unsigned in = 0;
        for (unsigned seat = 0; seat < PLAYERS; seat++) {
            in += !ring->hands[seat].out;
        }
        if (in == 1) {
            rejoin(ring, now);
            return;
        }
        for (unsigned seat = 0; seat < PLAYERS; seat++) {
            if (!ring->hands[seat].out && !ring->hands[seat].count) {
                ring->hands[seat].out = true;
                say(ring->players[seat], now, out, sizeof out - 1, OUT);
                return;
            }
        }
        unsigned offerer = ring->hands[ring->offerer].out ? next_in(ring, ring->offerer) : ring->offerer;
        unsigned picker = next_in(ring, offerer);
        int card = take_out(&ring->hands[offerer], below(ring->hands[offerer].count));
        ring->hands[picker].cards[ring->hands[picker].count++] = (uint8_t)card;
        ring->offerer = (uint8_t)picker;
        if (throws_away(ring, picker, card, now)) {
            return;
        }
    }
}

/* Whose turn it was has thrown away what made a pair. */
static void go_on(struct ring *ring, uint64_t now)
{
    if (ring->drawn < CARDS) {
        pass_on(ring, ring->drawn % PLAYERS, now);
    } else {
        offer(ring, now);
    }
}

static void seated(struct connection *c)
{
    struct ring *ring = c->oldmaid.ring;
    if (ring->listed++ == 0) {
        memset(ring->players, 0, sizeof ring->players);
        memset(ring->hands, 0, sizeof ring->hands);
        ring->seen = 0;
        ring->drawn = 0;
        ring->turn = 0;
        ring->offerer = (CARDS - 1) % PLAYERS; /* who draws the last card */
    }
    ring->players[c->oldmaid.seat] = c;
    if (ring->turn == c->oldmaid.seat) {
        ring->turn = NOBODY;
        draw(c, c->sent_ns);
    }
}

static void next(struct connection *c)
{
    struct ring *ring = c->oldmaid.ring;
    unsigned seat = c->oldmaid.seat, answered = c->awaited;
    c->awaited = NOTHING; /* it may be somebody else's turn */
    c->received = 0;
    switch (answered) {
    case LIST:
        seated(c);
        break;
    case CARD: {
        struct hand_of_cards *hand = &ring->hands[seat];
        if (!throws_away(ring, seat, hand->cards[hand->count - 1], c->sent_ns)) {
            go_on(ring, c->sent_ns);
        }
        break;
    }
    case THROWN:
    case OUT:
        go_on(ring, c->sent_ns);
        break;
    }
}

/* ---- replies ---- */

/* The numbers of the four in their order, with their own addresses; the seat and the ring of this one. */
static void read_list(struct connection *c)
{
    const char *at = c->reply;
    unsigned own = PLAYERS, nick, port;
    for (unsigned seat = 0; seat < PLAYERS; seat++) {
        char host[16], head[40];
        int taken = 0;
        snprintf(head, sizeof head, "%s\"player%u\":[[\"", seat ? "]," : "{\"result\":\"ok\",\"players\":{", seat + 1);
        if (strncmp(at, head, strlen(head)) != 0) {
            fail_reply(c, "wrong reply");
        }
        at += strlen(head);
        if (sscanf(at, "%15[0-9.]\",%u],\"%u\"%n", host, &port, &nick, &taken) != 3 || !taken) {
            fail_reply(c, "wrong reply");
        }
        at += taken;
        if (!seat) {
            c->oldmaid.ring = &rings[nick];
        }
        if (nick == number_of(c)) {
            own = seat;
        }
    }
    if (strcmp(at, "]}}\n") != 0 || own == PLAYERS) {
        fail_reply(c, "wrong reply");
    }
    c->oldmaid.seat = (uint8_t)own;
}

static void read_card(struct connection *c)
{
    struct ring *ring = c->oldmaid.ring;
    bool last = ring->drawn == CARDS - 1;
    const char *head = last ? "{\"result\":\"last_card\",\"card\":" : "{\"result\":\"ok\",\"card\":";
    size_t length = strlen(head);
    int card = strncmp(c->reply, head, length) == 0 ? card_at(c->reply + length) : NOBODY;
    if (card == NOBODY || strcmp(c->reply + length + face_lengths[card], "}\n") != 0) {
        fail_reply(c, "wrong reply");
    }
    see(c, &ring->seen, card);
    ring->drawn++;
    struct hand_of_cards *hand = &ring->hands[c->oldmaid.seat];
    hand->cards[hand->count++] = (uint8_t)card;
}

static unsigned read_reply(struct connection *c)
{
    const char *wanted = AWAITED[c->awaited];
    unsigned length = (unsigned)strlen(wanted);
    if (c->awaited == THROWN || c->awaited == OUT) {
        return says(c, 0, wanted, length) && says(c, length, "\n", 1) ? length + 1 : 0;
    }
    if (c->reply[c->received - 1] != '\n') {
        return 0;
    }
    c->reply[c->received] = '\0';
    if (c->awaited == LIST) {
        read_list(c);
    } else {
        read_card(c);
    }
    return c->received;
}

static void report(void)
{
    printf("\"games\": %" PRIu64 ", ", games);
}

const struct speaker OLDMAID = {
    .name = "oldmaid", .awaited = AWAITED, .room = LIST_MAX, .prepare = prepare, .begin = begin, .read = read_reply,
    .next = next, .goodbye = "", .farewell = "", .report = report,
};
