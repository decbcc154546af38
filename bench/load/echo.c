/* The yardstick: every flight is one frame, and comes back as it was sent. Connections may take turns: then one of so
 * many waits for the echo, and the next one speaks when it has come. */
#include "load.h"

enum awaited { THE_SAME = NOTHING + 1 };

static const char *const AWAITED[] = {[NOTHING] = "nothing", [THE_SAME] = "what was sent"};

unsigned echo_size = 8, turns = 1;
static char flight[REPLY_MAX];

static void begin(struct connection *c)
{
    for (unsigned i = 0; i < echo_size; i++) {
        flight[i] = (char)('A' + i % 26);
    }
    if (number_of(c) % turns == 0) {
        send_flight(c, flight, echo_size, 1, THE_SAME);
    }
}

static unsigned read_reply(struct connection *c)
{
    return says(c, 0, flight, echo_size) ? echo_size : 0;
}

static void next(struct connection *c)
{
    unsigned number = number_of(c), first = number - number % turns;
    struct connection *following = connection_of(first + (number + 1 - first) % turns);
    c->awaited = NOTHING;
    c->received = 0;
    following->sent_ns = c->sent_ns;
    send_flight(following, flight, echo_size, 1, THE_SAME);
}

const struct speaker ECHO = {
    .name = "echo", .awaited = AWAITED, .room = REPLY_MAX, .begin = begin, .read = read_reply, .next = next,
    .goodbye = "", .farewell = "",
};
