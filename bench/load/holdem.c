/* Players of hold'em over HTTP (docs/protocols/holdem.md) who look at their game as often as they can, and check or call.
 *
 * A connection is a player: he asks for the game again and again, and when it is his turn he acts, once. The script has
 * a line for every player, "GAME GUID CREDENTIALS STACK", these as in Basic authorization, table by table.
 *
 * Nobody folds or leaves and everybody brought the same, so the chips of those at the table are known in every moment,
 * and everybody acts in every hand, so that nobody fails to see one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "load.h"

enum {
    BOTS = 1024,
    GUID = 36,
    REQUEST_MAX = 512,
    NOBODY = -1,
};

enum awaited {
    GAME = NOTHING + 1, /* after GET: 200 with the game */
    ACTED,              /* after POST: 201 and no word of a fold */
};

static const char *const AWAITED[] = {
    [NOTHING] = "nothing",
    [GAME] = "200 with its game: all chips, its own hole cards for the whole hand, no card twice",
    [ACTED] = "201, without a body or X-Fold-Reason",
};

struct bot {
    char game[GUID + 1], guid[GUID + 1];
    bool counts; /* the hands of its table: the first one there */
    int64_t stack;
    char get[REQUEST_MAX], post[REQUEST_MAX]; /* `post` is the head, up to the length of its body */
    size_t get_length;
    int listed, small_blind; /* seats at the table, and which one posted the small blind: both change only between hands */
    uint64_t hole;           /* cards, as a set */
    int64_t wanted;          /* what a call takes; below 0 when it is not his turn */
};

static struct bot bots[BOTS];
static uint64_t hands, acts;

/* ---- asking ---- */

static void prepare(int connections)
{
    size_t length;
    int taken, players = 0;
    char *text = read_file(script, &length), credentials[128];
    for (const char *line = text; players < BOTS; line += taken, players++) {
        struct bot *bot = &bots[players];
        if (sscanf(line, "%36s %36s %127s %" SCNd64 "%n", bot->game, bot->guid, credentials, &bot->stack, &taken) != 4) {
            break;
        }
        bot->counts = players == 0 || strcmp(bot->game, bots[players - 1].game) != 0;
        bot->get_length = (size_t)snprintf(bot->get, sizeof bot->get,
                                           "GET /games/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n",
                                           bot->game, credentials);
        int post_length = snprintf(bot->post, sizeof bot->post,
                                   "POST /games/%s/players/%s/acts/ HTTP/1.1\r\nHost: localhost\r\n"
                                   "Authorization: Basic %s\r\nContent-Type: application/json\r\nContent-Length: ",
                                   bot->game, bot->guid, credentials);
        if (post_length >= (int)sizeof bot->post) {
            fail("--script %s: found credentials of %zu bytes; allowed: fewer", script, strlen(credentials));
        }
        bot->small_blind = NOBODY;
    }
    free(text);
    if (players != connections) {
        fail("--script %s: found %d players for %d connections; allowed: one each, at most %d", script, players,
             connections, BOTS);
    }
}

static void look(struct connection *c)
{
    send_flight(c, c->holdem->get, c->holdem->get_length, 1, GAME);
}

static void begin(struct connection *c)
{
    c->holdem = &bots[number_of(c)];
    look(c);
}

static void call(struct connection *c)
{
    char body[64], request[REQUEST_MAX + 80];
    int length = snprintf(body, sizeof body, "{\"action\":1,\"betAmount\":%" PRId64 "}", c->holdem->wanted);
    int whole = snprintf(request, sizeof request, "%s%d\r\n\r\n%s", c->holdem->post, length, body);
    send_flight(c, request, (size_t)whole, 1, ACTED);
}

static void next(struct connection *c)
{
    if (c->awaited == GAME && c->holdem->wanted >= 0) {
        call(c);
        return;
    }
    if (c->awaited == ACTED && counting) {
        acts++;
    }
    look(c);
}

/* ---- reading a game ---- */

struct reader {
    const struct connection *c;
    const char *at;
};

static bool met(struct reader *r, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(r->at, text, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static void need(struct reader *r, const char *text)
{
    if (!met(r, text)) {
        fail_reply(r->c, text);
    }
}

static int64_t number(struct reader *r)
{
    char *end;
    int64_t found = strtoll(r->at, &end, 10);
    if (end == r->at || found < 0) {
        fail_reply(r->c, "no number of chips");
    }
    r->at = end;
    return found;
}

/* Anything up to the end of a string, with it. */
static void skip_text(struct reader *r)
{
    r->at += strcspn(r->at, "\"");
    need(r, "\"");
}

/* One who sits there; his chips behind are added. Whether it is our bot. */
static bool read_player(struct reader *r, const struct bot *self, int64_t *chips, int64_t *bet, bool *small_blind)
{
    need(r, "{\"playerID\":\"");
    bool own = met(r, self->guid);
    skip_text(r);
    need(r, ",\"handle\":\"");
    skip_text(r);
    need(r, ",\"state\":\"");
    if (!met(r, "active\"") && !met(r, "called\"")) {
        fail_reply(r->c, "somebody folded");
    }
    need(r, ",\"wealth\":");
    *chips += number(r);
    need(r, ",\"bet_so_far\":");
    int64_t his = number(r);
    *bet = own ? his : *bet;
    need(r, ",\"small_blind\":");
    *small_blind = met(r, "true");
    need(r, *small_blind ? "}" : "false}");
    return own;
}

/* Whose turn it is: what our bot has to add for a call, or less than 0 when it has to wait. */
static int64_t read_turn(struct reader *r, const struct bot *self, int64_t bet)
{
    need(r, "\"turn\":{\"playerID\":\"");
    bool own = met(r, self->guid);
    skip_text(r);
    need(r, ",\"bet_so_far\":");
    int64_t so_far = number(r);
    need(r, ",\"bet_to_player\":");
    int64_t wanted = number(r) - so_far;
    need(r, ",\"minimum_raise\":");
    number(r);
    need(r, ",\"expiry\":\"");
    skip_text(r);
    need(r, "}");
    if (own && (so_far != bet || wanted < 0)) {
        fail_reply(r->c, "wrong turn");
    }
    return own ? wanted : -1;
}

/* So many cards of a street, or null, or, as hole cards of nobody, none. Whether they are there. */
static bool read_cards(struct reader *r, const char *key, int count, uint64_t *seen)
{
    need(r, key);
    if (met(r, "null") || met(r, "[]")) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        need(r, i ? ",\"" : "[\"");
        int rank = place("23456789TJQKA", r->at[0]), suit = rank < 0 ? -1 : place("CDHS", r->at[1]);
        see(r->c, seen, rank < 0 || suit < 0 ? -1 : 4 * rank + suit);
        r->at += 2;
        need(r, "\"");
    }
    need(r, "]");
    return true;
}

static int64_t read_pots(struct reader *r)
{
    int64_t chips = 0;
    need(r, "\"pots\":[");
    do {
        need(r, "{\"size\":");
        chips += number(r);
        need(r, ",\"players\":[");
        while (met(r, "\"") || met(r, ",\"")) {
            skip_text(r);
        }
        need(r, "]}");
    } while (met(r, ","));
    need(r, "]");
    return chips;
}

/* What is new is remembered, and a hand that comes after another one is counted once, by the first bot of its table. */
static void remember(struct connection *c, int listed, int small_blind, uint64_t hole)
{
    struct bot *self = c->holdem;
    if (small_blind == self->small_blind && listed == self->listed) {
        if (hole != self->hole) {
            fail_reply(c, "other hole cards in the same hand");
        }
        return;
    }
    if (counting && self->counts && self->small_blind != NOBODY) {
        hands++;
    }
    self->listed = listed;
    self->small_blind = small_blind;
    self->hole = hole;
}

static void read_game(struct connection *c, const char *body)
{
    struct reader r = {c, body};
    int listed = 0, small_blind = NOBODY;
    int64_t chips = 0, bet = 0;
    bool sits = false;
    need(&r, "{\"gameID\":\"");
    need(&r, c->holdem->game);
    need(&r, "\",\"table\":[");
    do {
        bool small;
        sits |= read_player(&r, c->holdem, &chips, &bet, &small);
        small_blind = small ? listed : small_blind;
        listed++;
    } while (met(&r, ","));
    need(&r, "],");
    c->holdem->wanted = read_turn(&r, c->holdem, bet);

    uint64_t hole = 0, seen;
    bool dealt = read_cards(&r, ",\"cards\":{\"hole\":", 2, &hole);
    seen = hole;
    bool flop = read_cards(&r, ",\"flop\":", 3, &seen);
    bool turn = read_cards(&r, ",\"turn\":", 1, &seen);
    bool river = read_cards(&r, ",\"river\":", 1, &seen);
    need(&r, "},");
    chips += read_pots(&r);
    need(&r, "}");
    if (r.at != c->reply + c->received || dealt != sits || turn > flop || river > turn) {
        fail_reply(c, "wrong cards, or more than a game");
    }
    if (chips != listed * c->holdem->stack) {
        fail_reply(c, "wrong number of chips");
    }
    if (sits) {
        remember(c, listed, small_blind, hole);
    }
}

static unsigned read_reply(struct connection *c)
{
    static const char length_is[] = "\r\ncontent-length: ";
    bool looked = c->awaited == GAME;
    if (!says(c, 0, looked ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 201 Created\r\n", looked ? 17 : 22)) {
        return 0;
    }
    c->reply[c->received] = '\0';
    const char *body = strstr(c->reply, "\r\n\r\n"), *length = strstr(c->reply, length_is);
    if (!body) {
        return 0;
    }
    if (!length || length > body) {
        fail_reply(c, "no length");
    }
    unsigned whole = (unsigned)(body + 4 - c->reply) + (unsigned)atoi(length + sizeof length_is - 1);
    if (!has(c, whole)) {
        return 0;
    }
    if (looked) {
        read_game(c, body + 4);
    } else if (whole != (unsigned)(body + 4 - c->reply) || strstr(c->reply, "\r\nx-fold-reason: ")) {
        fail_reply(c, "wrong reply");
    }
    return whole;
}

static void report(void)
{
    printf("\"acts\": %" PRIu64 ", \"hands\": %" PRIu64 ", ", acts, hands);
}

const struct speaker HOLDEM = {
    .name = "holdem", .awaited = AWAITED, .room = PAGE_MAX, .prepare = prepare, .begin = begin, .read = read_reply,
    .next = next, .goodbye = "", .farewell = "", .report = report,
};
