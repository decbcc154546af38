/* The yardstick: every flight is one frame, and comes back as it was sent. */
#include "load.h"

enum awaited { THE_SAME = NOTHING + 1 };

static const char *const AWAITED[] = {[NOTHING] = "nothing", [THE_SAME] = "what was sent"};

unsigned echo_size = 8;
static char flight[REPLY_MAX];

static void begin(struct connection *c)
{
    for (unsigned i = 0; i < echo_size; i++) {
        flight[i] = (char)('A' + i % 26);
    }
    send_flight(c, flight, echo_size, 1, THE_SAME);
}

static unsigned read_reply(struct connection *c)
{
    return says(c, 0, flight, echo_size) ? echo_size : 0;
}

static void next(struct connection *c)
{
    send_flight(c, flight, echo_size, 1, THE_SAME);
}

const struct speaker ECHO = {
    .name = "echo", .awaited = AWAITED, .room = REPLY_MAX, .begin = begin, .read = read_reply, .next = next,
    .goodbye = "", .farewell = "",
};
