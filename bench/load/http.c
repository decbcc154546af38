/* A client that asks the same over and over, and knows what it will be told to the last byte, but for the date.
 *
 * Its script is one file or more: a request without a body, and behind it the response as it once was. Connections take
 * the files in turn. So a service and a yardstick that says the same are looked at equally closely.
 */
#include "load.h"

enum {
    FILES = 64,
    DATE = 29, /* as in "Sun, 06 Nov 1994 08:49:37 GMT" */
};

enum awaited { THE_SAME = NOTHING + 1 };

static const char *const AWAITED[] = {[NOTHING] = "nothing", [THE_SAME] = "what its script says, but for the date"};

struct exchange {
    const char *asked, *told;
    unsigned asked_length, date, rest, told_length; /* the date is a gap in what is told, up to `rest` */
};

static struct exchange exchanges[FILES];
static unsigned known;

static struct exchange read_exchange(const char *path)
{
    static const char blank[] = "\r\n\r\n", dated[] = "\r\ndate: ";
    size_t length;
    const char *asked = read_file(path, &length), *end = strstr(asked, blank);
    const char *told = end ? end + sizeof blank - 1 : NULL;
    const char *date = told ? strstr(told, dated) : NULL, *head = told ? strstr(told, blank) : NULL;
    if (!date || !head || date >= head) {
        fail("--script %s: found no request and no response with a date", path);
    }
    struct exchange found = {.asked = asked, .told = told, .asked_length = (unsigned)(told - asked)};
    found.date = (unsigned)(date - told) + (unsigned)sizeof dated - 1;
    found.rest = found.date + DATE;
    found.told_length = (unsigned)length - found.asked_length;
    if (found.told_length >= PAGE_MAX || found.rest > found.told_length) {
        fail("--script %s: found a response of %u bytes; allowed: less than %d", path, found.told_length, PAGE_MAX);
    }
    return found;
}

static void prepare(int connections)
{
    (void)connections;
    for (char *path = strtok(script, ","); path; path = strtok(NULL, ",")) {
        if (known == FILES) {
            fail("--script: found more than %d files", FILES);
        }
        exchanges[known++] = read_exchange(path);
    }
    if (!known) {
        fail("--script must name a file, or more");
    }
}

static void next(struct connection *c)
{
    send_flight(c, c->http->asked, c->http->asked_length, 1, THE_SAME);
}

static void begin(struct connection *c)
{
    c->http = &exchanges[number_of(c) % known];
    next(c);
}

static unsigned read_reply(struct connection *c)
{
    const struct exchange *expected = c->http;
    unsigned rest = expected->rest, length = expected->told_length;
    bool dated = says(c, 0, expected->told, expected->date) && has(c, rest);
    return dated && says(c, rest, expected->told + rest, length - rest) ? length : 0;
}

const struct speaker HTTP = {
    .name = "http", .awaited = AWAITED, .room = PAGE_MAX, .prepare = prepare, .begin = begin, .read = read_reply,
    .next = next, .goodbye = "", .farewell = "",
};
