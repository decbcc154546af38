/* What the load and the languages it speaks have in common: a connection, a flight, and ways to look at a reply. */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    REPLY_MAX = 192, /* longer than any reply of a house: a blackjack bank's that draws ten cards has 99 bytes */
    PAGE_MAX = 8192, /* longer than any reply over HTTP: a game with ten players has 2 KiB */
};

struct exchange;
struct bot;
struct ring;

struct hand {
    uint8_t low;  /* every ace as 1 */
    bool ace;
};

struct connection {
    uint64_t sent_ns;
    int fd;
    uint32_t game;     /* the number of the next game, or of the one being played */
    uint8_t awaited;   /* what it waits for, in the words of its speaker; NOTHING is the same for all */
    uint8_t frames;    /* frames in the flight that is out */
    uint16_t sent;     /* bytes in the flight that is out */
    uint16_t received; /* bytes of the reply so far */
    bool untimed;      /* the reply waits for other connections, so its time says nothing about the server */
    union {            /* the game that is being played */
        struct {
            char card; /* J, Q or K: ours */
        } kuhn;
        struct {
            uint64_t seen; /* cards, as a set */
            int32_t bet;
            uint8_t halves;
            bool raises; /* the next card is asked for with an ANTE before it */
        } sevenhalf;
        struct {
            uint64_t seen; /* cards, as a set */
            int64_t purse; /* what MON has to tell next */
            bool told;     /* whether it has told anything yet */
            struct hand own, bank;
        } blackjack;
        const struct exchange *http; /* what is asked and told again and again */
        struct bot *holdem;
        struct {
            struct ring *ring; /* of the game that it sits in */
            uint8_t seat;
        } oldmaid;
    };
    char reply[]; /* with `room` of its speaker */
};

enum { NOTHING = 0 };

/* A language. All of a reply's checks are made in `read`, which is called whenever bytes have come. */
struct speaker {
    const char *name;
    const char *const *awaited;                /* what `awaited` means, for people */
    unsigned room;                             /* a reply is shorter than so many bytes */
    void (*prepare)(int connections);          /* before anything is connected; NULL if there is nothing to prepare */
    void (*begin)(struct connection *c);       /* send the first flight */
    unsigned (*read)(struct connection *c);    /* the length of the whole reply, or 0 while more of it is to come */
    void (*next)(struct connection *c);        /* send the next flight, now that the reply is whole */
    const char *goodbye, *farewell;            /* what we say before we hang up, and what the server says to that */
    void (*report)(void);                      /* more members of the JSON object; NULL if there are none */
};

extern const struct speaker ECHO, KUHN, SEVENHALF, BLACKJACK, HTTP, HOLDEM, OLDMAID;
extern unsigned echo_size; /* the length of the echo's flights */
extern unsigned turns;     /* so many connections of an echo take turns: one of them waits for it at a time */
extern bool ahead;         /* whether what the answer leaves no choice about is said without waiting for it */
extern char *script;       /* the file, or the files with commas between them, that say what is asked over HTTP */
extern bool counting;      /* whether the window is open */

/* One write: so many bytes, which are so many frames. */
void send_flight(struct connection *c, const void *bytes, size_t length, unsigned frames, unsigned awaited);

_Noreturn void fail(const char *format, ...);
_Noreturn void fail_reply(const struct connection *c, const char *what);

/* The whole of a file, with an end of text behind it. */
char *read_file(const char *path, size_t *length);

unsigned number_of(const struct connection *c);
struct connection *connection_of(unsigned number);

bool coin(void);

/* Whether so many bytes of the reply are there. */
static inline bool has(const struct connection *c, unsigned bytes)
{
    return c->received >= bytes;
}

/* Whether the reply has all of these bytes at this place. A byte that differs is a wrong reply, however few there are. */
static inline bool says(const struct connection *c, unsigned at, const void *bytes, unsigned length)
{
    unsigned there = c->received <= at ? 0 : c->received - at;
    if (memcmp(c->reply + at, bytes, there < length ? there : length) != 0) {
        fail_reply(c, "wrong reply");
    }
    return there >= length;
}

/* A number in four bytes, the most significant first. */
static inline void put_number(char *bytes, int32_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (char)((uint32_t)number >> (24 - 8 * i));
    }
}

static inline int32_t get_number(const char *bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++) {
        number = number << 8 | (unsigned char)bytes[i];
    }
    return (int32_t)number;
}

/* The place of a character in a text, or -1. */
static inline int place(const char *text, char character)
{
    const char *found = character ? strchr(text, character) : NULL;
    return found ? (int)(found - text) : -1;
}

/* Adds a card to a set. A card below 0, which is none, or one that is in the set already, is a wrong reply. */
static inline void see(const struct connection *c, uint64_t *seen, int card)
{
    if (card < 0 || *seen >> card & 1) {
        fail_reply(c, card < 0 ? "no card" : "a card for the second time in a game");
    }
    *seen |= (uint64_t)1 << card;
}

#endif
