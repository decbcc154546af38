/* A server or client of any house game that always plays the same game: see student_program.py.

   student_program ROOM server PORT, and student_program ROOM client HOST PORT */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct line { const char *said; int said_length; const char *answer; int answer_length; };

#define LINE(said, answer) { said, sizeof said - 1, answer, sizeof answer - 1 }

static const struct line KUHN[] = {
    LINE("STRT P_1", "CARD C_K"), LINE("ACTN BET", "CARD C_J"), LINE("DISC", ""), { 0 } };
static const struct line SEVENHALF[] = {
    LINE("STRT", "STBT \0\0\0d"), LINE("DRAW", "CARD 7o"),
    LINE("PASS", "BKSC \0\0\0\0027ccc 07.5GAIN \377\377\377\234"), { 0 } };
static const struct line BLACKJACK[] = {
    LINE("PLY", "MON\0\0\003\350"),
    LINE("BET\0\0\0\n", "CRD\0C\0A\0SCRD\0C\0K\0SCRD\0S\0T\0DTRN"),
    LINE("MOV\0S", "CRD\0S\0J\0CRES\0W\0\0\0\024"), LINE("STP", "STP"), { 0 } };

static const struct line *game(const char *room) {
    return !strcmp(room, "kuhn") ? KUHN : !strcmp(room, "sevenhalf") ? SEVENHALF : BLACKJACK;
}

static int heard(int line, const char *expected, int length) {
    char found[128];
    int have = 0;
    while (have < length) {
        ssize_t more = read(line, found + have, (size_t)(length - have));
        if (more <= 0) return 0;
        have += (int)more;
    }
    return !memcmp(found, expected, (size_t)length);
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

int main(int count, char **words) {
    int server = count == 4 && !strcmp(words[2], "server");
    if (!server && count != 5) return 2;
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[count - 1])) };
    if (inet_pton(AF_INET, server ? "127.0.0.1" : words[3], &place.sin_addr) != 1) return 2;
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (server) {
        if (bind(end, (struct sockaddr *)&place, sizeof place) || listen(end, 16)) die("listen");
        for (;;) {
            int line = accept(end, NULL, NULL);
            if (line < 0) die("accept");
            for (const struct line *next = game(words[1]); next->said; next++)
                if (!heard(line, next->said, next->said_length) ||
                    write(line, next->answer, (size_t)next->answer_length) != next->answer_length)
                    break;
            close(line);
        }
    }
    if (connect(end, (struct sockaddr *)&place, sizeof place)) die("connect");
    for (const struct line *next = game(words[1]); next->said; next++)
        if (write(end, next->said, (size_t)next->said_length) != next->said_length ||
            !heard(end, next->answer, next->answer_length)) {
            fprintf(stderr, "not what was expected after %s\n", next->said);
            return 1;
        }
    return 0;
}
