/* Plays a game, or talks to an echo, over many connections at once and reports how fast the server answered.
 *
 * With --ahead 1, which is the default, a client says in one flight what the answer leaves no choice about: STRT and DRAW
 * of seven and a half, PLY and BET of blackjack. With --ahead 0 it waits for every answer.
 *
 * With --spin 1, which is the default, it never sleeps. On loopback whoever writes to a process that sleeps has to wake it,
 * which can cost as much as the message does; clients on other machines cost a server nothing like that. With --spin 0 it
 * sleeps while nothing comes: then a server that is slower wakes it more often.
 *
 * Every playing connection is closed-loop: it sends one flight (the bytes of one write), waits for the whole reply and
 * sends the next. Idle connections are held open and send nothing. One thread, one epoll, no allocation after the
 * connections are made, so that the server is what limits the rate. Linux only. What is said is in the file of each
 * game; every reply is checked to the last byte, as far as the protocol decides it.
 *
 *     cc -std=c11 -O2 -o load *.c -lm
 *     ./load --port 1212 --connections 100 --idle 0 --seconds 5 --warmup 1 --speak kuhn
 *     ./load --port 1212 --connections 100 --speak echo --size 8 --turns 4
 *     ./load --port 8080 --connections 32 --speak http --script FILE,FILE,...      (see http.c)
 *     ./load --port 8080 --connections 2 --speak holdem --script FILE              (see holdem.c)
 *     ./load --port 9898 --connections 4000 --speak oldmaid                        (see oldmaid.c)
 *
 * Stderr says "measuring" and "measured" at the edges of the window; stdout is one JSON object. Exit status 1 and a
 * line on stderr: the server could not be reached, hung up, fell silent, or said what the protocol does not allow.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum {
    EVENTS = 1024,
    PORTS_PER_ADDRESS = 20000, /* stay well inside the usual ephemeral range of 28,232 */
    CONNECT_TIMEOUT_S = 10,
    DRAIN_MS = 5000,
    SLACK_S = 60,              /* what connecting, draining and closing may take together */
};

static const struct speaker *const SPEAKERS[] = {&ECHO, &KUHN, &SEVENHALF, &BLACKJACK, &HTTP, &HOLDEM, &OLDMAID};
enum { SPEAKERS_KNOWN = sizeof SPEAKERS / sizeof *SPEAKERS };

/* Round trips in ns, 64 steps to each doubling: a quantile is off by 1.6 % at most. */
enum { STEP_BITS = 6, STEPS = 1 << STEP_BITS, BUCKETS = (64 - STEP_BITS + 1) * STEPS };
static uint64_t histogram[BUCKETS];

static struct {
    const char *host;
    int port, connections, idle;
    double seconds, warmup;
    const struct speaker *speak;
} options = {.host = "127.0.0.1", .connections = 1, .seconds = 5, .warmup = 1, .speak = &KUHN};

bool ahead = true, counting;
static bool spin = true;
char *script = (char[]){""};

static unsigned char *all; /* connections, each with room for the replies of its speaker */
static size_t stride;
static int poller;
static bool stopping;
static int outstanding; /* flights that wait for their reply */
static uint64_t messages, flights, timed, bytes_sent, bytes_received, longest_ns;
static uint64_t luck_state = 0x9E3779B97F4A7C15u;

/* ---- failing, time, luck ---- */

struct connection *connection_of(unsigned number)
{
    return (struct connection *)(all + (size_t)number * stride);
}

unsigned number_of(const struct connection *c)
{
    return (unsigned)((size_t)((const unsigned char *)c - all) / stride);
}

_Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static _Noreturn void fail_bytes(const struct connection *c, const char *what, const char *expected)
{
    fprintf(stderr, "load: connection %u: %s; expected %s, received \"", number_of(c), what, expected);
    for (int i = 0; i < c->received; i++) {
        unsigned char byte = (unsigned char)c->reply[i];
        fprintf(stderr, byte >= ' ' && byte < 127 && byte != '"' && byte != '\\' ? "%c" : "\\x%02x", byte);
    }
    fputs("\"\n", stderr);
    exit(1);
}

_Noreturn void fail_reply(const struct connection *c, const char *what)
{
    fail_bytes(c, what, options.speak->awaited[c->awaited]);
}

static void on_alarm(int signal_number)
{
    static const char text[] = "load: out of time\n";
    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        _exit(2);
    }
    _exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool coin(void)
{
    luck_state ^= luck_state << 13;
    luck_state ^= luck_state >> 7;
    luck_state ^= luck_state << 17;
    return luck_state >> 63;
}

/* ---- the histogram ---- */

static unsigned bucket_of(uint64_t ns)
{
    if (ns < STEPS) {
        return (unsigned)ns;
    }
    unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - STEP_BITS;
    return (shift + 1) * STEPS + (unsigned)((ns >> shift) - STEPS);
}

static double middle_of(unsigned bucket)
{
    if (bucket < STEPS) {
        return bucket;
    }
    unsigned shift = bucket / STEPS - 1;
    return ldexp(STEPS + bucket % STEPS + 0.5, (int)shift);
}

static double quantile_us(double part)
{
    uint64_t seen = 0, wanted = (uint64_t)(part * (double)timed);
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        seen += histogram[bucket];
        if (seen > wanted) {
            return middle_of(bucket) / 1e3;
        }
    }
    return (double)longest_ns / 1e3;
}

/* ---- playing ---- */

void send_flight(struct connection *c, const void *bytes, size_t length, unsigned frames, unsigned awaited)
{
    c->awaited = (uint8_t)awaited;
    c->frames = (uint8_t)frames;
    c->sent = (uint16_t)length;
    c->received = 0;
    ssize_t sent = send(c->fd, bytes, length, MSG_NOSIGNAL);
    if (sent != (ssize_t)length) {
        fail("connection %u: could not send: %s", number_of(c), sent < 0 ? strerror(errno) : "short write");
    }
    outstanding++;
}

static void answered(struct connection *c)
{
    uint64_t now = now_ns(), took = now - c->sent_ns;
    outstanding--;
    if (counting) {
        if (!c->untimed) {
            histogram[bucket_of(took)]++;
            longest_ns = took > longest_ns ? took : longest_ns;
            timed++;
        }
        flights++;
        messages += c->frames;
        bytes_sent += c->sent;
        bytes_received += c->received;
    }
    if (stopping) {
        c->awaited = NOTHING;
        c->received = 0;
        return;
    }
    c->untimed = false;
    c->sent_ns = now;
    options.speak->next(c);
}

/* A byte of the room stays free: who reads the reply may put an end of text behind it. */
static ssize_t take(struct connection *c)
{
    return recv(c->fd, c->reply + c->received, options.speak->room - 1u - c->received, 0);
}

static void receive(struct connection *c)
{
    ssize_t got = take(c);
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) {
            return;
        }
        fail_reply(c, strerror(errno));
    }
    if (got == 0) {
        fail_reply(c, "the server hung up");
    }
    c->received = (uint16_t)(c->received + got);
    unsigned length = c->awaited == NOTHING ? 0 : options.speak->read(c);
    if (c->received > length && (length || c->awaited == NOTHING)) {
        fail_reply(c, "more than was asked for");
    }
    if (length) {
        answered(c);
    }
}

/* Leaves the other half of a core alone for some cycles. */
static void rest_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Serves replies until the time is up or, when stopping, until none is awaited. */
static void play_until(uint64_t end_ns)
{
    struct epoll_event events[EVENTS];
    for (;;) {
        uint64_t now = now_ns();
        if (now >= end_ns || (stopping && outstanding == 0)) {
            return;
        }
        int ready = epoll_wait(poller, events, EVENTS, spin ? 0 : (int)((end_ns - now) / 1000000u) + 1);
        if (ready < 0 && errno != EINTR) {
            fail("epoll_wait: %s", strerror(errno));
        }
        for (int i = 0; spin && ready == 0 && i < 64; i++) {
            rest_a_little();
        }
        for (int i = 0; i < ready; i++) {
            receive(events[i].data.ptr);
        }
    }
}

/* ---- files ---- */

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!text || fseek(file, 0, SEEK_SET) < 0 || fread(text, 1, (size_t)size, file) != (size_t)size) {
        fail("--script %s: could not be read", path);
    }
    fclose(file);
    text[size] = '\0';
    *length = (size_t)size;
    return text;
}

/* ---- opening and closing ---- */

static int open_socket(int number, const struct sockaddr_in *server)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        fail("connection %d: %s", number, strerror(errno));
    }
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct timeval limit = {.tv_sec = CONNECT_TIMEOUT_S};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* bounds connect() too */
    if (number >= PORTS_PER_ADDRESS) {
        struct sockaddr_in source = {.sin_family = AF_INET};
        source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(number / PORTS_PER_ADDRESS));
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
        if (bind(fd, (struct sockaddr *)&source, sizeof source) < 0) {
            fail("connection %d: bind: %s", number, strerror(errno));
        }
    }
    if (connect(fd, (const struct sockaddr *)server, sizeof *server) < 0) {
        bool late = errno == EINPROGRESS || errno == EAGAIN;
        fail("connection %d to %s:%d: %s", number, options.host, options.port, late ? "timed out" : strerror(errno));
    }
    return fd;
}

/* One after the other, with a rest now and then, so that a server with a short backlog is not made to drop any. */
static void connect_all(int count)
{
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
    if (inet_pton(AF_INET, options.host, &server.sin_addr) != 1) {
        fail("--host %s: not an IPv4 address", options.host);
    }
    for (int i = 0; i < count; i++) {
        struct connection *c = connection_of((unsigned)i);
        c->game = (uint32_t)i; /* so that they are not all at the same point */
        c->fd = open_socket(i, &server);
        /* Edge-triggered spares the kernel a second look; one recv() is enough, since no reply fills the buffer. */
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
        if (fcntl(c->fd, F_SETFL, O_NONBLOCK) < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event) < 0) {
            fail("connection %d: %s", i, strerror(errno));
        }
        if (i % 50 == 49) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
    }
}

/* What the server says to our goodbye, up to its end of the connection. Returns whether that has come. */
static bool farewell(struct connection *c)
{
    const char *expected = options.speak->farewell;
    unsigned length = (unsigned)strlen(expected);
    ssize_t got = take(c);
    if (got < 0) {
        return errno != EAGAIN && errno != EINTR;
    }
    c->received = (uint16_t)(c->received + got);
    unsigned common = c->received < length ? c->received : length;
    if (memcmp(c->reply, expected, common) != 0 || c->received > length || (got == 0 && c->received < length)) {
        fail_bytes(c, "wrong answer to our goodbye", *expected ? expected : "nothing");
    }
    return got == 0;
}

/* Says goodbye on every connection, waits for the server's end of each, and returns how many it left open. */
static int close_all(int count)
{
    const char *goodbye = options.speak->goodbye;
    for (int i = 0; i < count; i++) {
        if (*goodbye) {
            send(connection_of((unsigned)i)->fd, goodbye, strlen(goodbye), MSG_NOSIGNAL);
        }
        shutdown(connection_of((unsigned)i)->fd, SHUT_WR);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection_of((unsigned)i)};
        epoll_ctl(poller, EPOLL_CTL_MOD, connection_of((unsigned)i)->fd, &event); /* an edge may have passed with the last reply */
    }
    struct epoll_event events[EVENTS];
    int open = count;
    uint64_t end_ns = now_ns() + DRAIN_MS * 1000000ull;
    while (open > 0 && now_ns() < end_ns) {
        int ready = epoll_wait(poller, events, EVENTS, 100);
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            if (farewell(c)) {
                close(c->fd);
                open--;
            }
        }
    }
    return open;
}

static void allow_open_files(int count)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < (rlim_t)count + 16) {
        fail("%d connections need more open files than the hard limit of %ju", count, (uintmax_t)limit.rlim_cur);
    }
}

/* ---- the run ---- */

static const struct speaker *speaker_named(const char *name)
{
    for (int i = 0; i < SPEAKERS_KNOWN; i++) {
        if (strcmp(SPEAKERS[i]->name, name) == 0) {
            return SPEAKERS[i];
        }
    }
    fail("--speak %s: it speaks echo, kuhn, sevenhalf, blackjack, http, holdem or oldmaid", name);
}

static void read_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"host", required_argument, NULL, 'h'},        {"port", required_argument, NULL, 'p'},
        {"connections", required_argument, NULL, 'n'}, {"idle", required_argument, NULL, 'm'},
        {"seconds", required_argument, NULL, 's'},     {"warmup", required_argument, NULL, 'w'},
        {"speak", required_argument, NULL, 'k'},       {"size", required_argument, NULL, 'z'},
        {"ahead", required_argument, NULL, 'a'},       {"script", required_argument, NULL, 'x'},
        {"turns", required_argument, NULL, 't'},       {"spin", required_argument, NULL, 'i'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 'h': options.host = optarg; break;
        case 'p': options.port = atoi(optarg); break;
        case 'n': options.connections = atoi(optarg); break;
        case 'm': options.idle = atoi(optarg); break;
        case 's': options.seconds = atof(optarg); break;
        case 'w': options.warmup = atof(optarg); break;
        case 'k': options.speak = speaker_named(optarg); break;
        case 'z': echo_size = (unsigned)atoi(optarg); break;
        case 'a': ahead = atoi(optarg) != 0; break;
        case 'x': script = optarg; break;
        case 'i': spin = atoi(optarg) != 0; break;
        case 't': turns = (unsigned)atoi(optarg); break;
        default: exit(1);
        }
    }
    if (optind < argc) {
        fail("unexpected argument %s", argv[optind]);
    }
    if (options.port < 1 || options.port > 65535) {
        fail("--port must be given, 1 to 65535");
    }
    if (echo_size < 1 || echo_size >= REPLY_MAX) {
        fail("--size must be 1 to %d: it is what an echo's flights are long, in bytes", REPLY_MAX - 1);
    }
    if (turns < 1 || (unsigned)options.connections % turns) {
        fail("--turns must be 1 or more, and divide --connections");
    }
    if (options.connections < 0 || options.idle < 0 || options.connections + options.idle < 1) {
        fail("--connections and --idle must add up to one connection or more");
    }
    if (!(options.seconds > 0 && options.seconds <= 3600 && options.warmup >= 0 && options.warmup <= 3600)) {
        fail("--seconds must be above 0, --warmup 0 or more, both at most 3600");
    }
}

static double own_cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void report(double seconds, double connect_s, double cpu_share)
{
    printf("{\"speak\": \"%s\", \"connections\": %d, \"idle\": %d, \"connect_s\": %.3f, \"seconds\": %.6f, ",
           options.speak->name, options.connections, options.idle, connect_s, seconds);
    printf("\"messages\": %" PRIu64 ", \"messages_per_s\": %.1f, ", messages, (double)messages / seconds);
    printf("\"flights\": %" PRIu64 ", \"flights_per_s\": %.1f, ", flights, (double)flights / seconds);
    printf("\"bytes_sent\": %" PRIu64 ", \"bytes_received\": %" PRIu64 ", ", bytes_sent, bytes_received);
    printf("\"p50_us\": %.2f, \"p99_us\": %.2f, \"max_us\": %.2f, ", quantile_us(0.50), quantile_us(0.99),
           (double)longest_ns / 1e3);
    if (options.speak->report) {
        options.speak->report();
    }
    printf("\"load_cpu_share\": %.3f}\n", cpu_share);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    int count = options.connections + options.idle;
    allow_open_files(count);
    signal(SIGALRM, on_alarm);
    alarm((unsigned)(options.warmup + options.seconds) + SLACK_S);
    stride = sizeof(struct connection) + options.speak->room;
    all = calloc((size_t)count, stride);
    poller = epoll_create1(0);
    if (!all || poller < 0) {
        fail("could not start: %s", strerror(errno));
    }

    if (options.speak->prepare) {
        options.speak->prepare(options.connections);
    }
    uint64_t connecting_ns = now_ns();
    connect_all(count);
    double connect_s = (double)(now_ns() - connecting_ns) / 1e9;

    for (int i = 0; i < options.connections; i++) { /* those after them stay idle */
        connection_of((unsigned)i)->sent_ns = now_ns();
        options.speak->begin(connection_of((unsigned)i));
    }
    play_until(now_ns() + (uint64_t)(options.warmup * 1e9));

    fputs("measuring\n", stderr);
    double cpu_before_s = own_cpu_s();
    uint64_t from_ns = now_ns();
    counting = true;
    play_until(from_ns + (uint64_t)(options.seconds * 1e9));
    counting = false;
    double seconds = (double)(now_ns() - from_ns) / 1e9;
    double cpu_s = own_cpu_s() - cpu_before_s;
    fputs("measured\n", stderr);

    stopping = true;
    play_until(now_ns() + DRAIN_MS * 1000000ull);
    if (outstanding > 0) {
        fail("%d connections still had no reply %d ms after the end", outstanding, DRAIN_MS);
    }
    int left_open = close_all(count);
    if (left_open > 0) {
        fail("the server did not close %d connections within %d ms of our goodbye", left_open, DRAIN_MS);
    }
    report(seconds, connect_s, cpu_s / seconds);
    return 0;
}
