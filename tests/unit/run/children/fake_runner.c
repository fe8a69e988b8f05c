/* A runner that is broken in the way that its first argument names: "twice", "mutate:17". It runs
 * nothing and answers all the same. A script with a line #!fake_runner WAY is what the daemon's
 * side starts. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "proto/wire/runner_wire.h"

static uint8_t frame[WIRE_FRAME_MAX];
static struct wire_msg request, reply;
static unsigned seed;

static void put(const void *data, size_t len)
{
    const char *from = data;

    for (ssize_t n; len > 0; from += n, len -= (size_t)n)
        if ((n = write(1, from, len)) <= 0)
            _exit(1);
}

static bool take(size_t at, size_t len)
{
    for (ssize_t n; len > 0; at += (size_t)n, len -= (size_t)n)
        if ((n = read(0, frame + at, len)) <= 0)
            return false;
    return true;
}

static bool take_request(void)
{
    if (!take(0, WIRE_HEADER))
        return false;
    int rest = wire_frame_rest(frame);
    return rest > 0 && take(WIRE_HEADER, (size_t)rest) &&
           wire_decode(frame, WIRE_HEADER + (size_t)rest, &request) == 0;
}

/* What cancels or the end of the requests bring; nothing else comes. */
static void hang(void)
{
    char c;

    while (read(0, &c, 1) > 0)
        ;
    _exit(0);
}

static struct wire_end good_end(void)
{
    return (struct wire_end){
        .outcome = "ok", .start_ns = clock_mono_ns(), .exit_ns = clock_mono_ns()};
}

static struct wire_bytes bytes_of(const char *s)
{
    return (struct wire_bytes){s, s ? strlen(s) : 0};
}

/* What a working runner would say of the request. */
static void make_good_reply(void)
{
    struct wire_observe_result *o = &reply.observe_result;

    memset(&reply, 0, sizeof reply);
    reply.id = request.id;
    reply.type = request.type == WIRE_EXEC ? WIRE_EXEC_RESULT : WIRE_OBSERVE_RESULT;
    if (request.type == WIRE_EXEC) {
        reply.exec_result.end = good_end();
        return;
    }
    o->end = good_end();
    o->go_ns = o->done_ns = -1;
    o->cpu = o->threads = -1;
    o->window_from_ns = o->window_to_ns = -1;
    if (request.observe.measure == WIRE_PROCESS)
        return;
    o->go_ns = o->done_ns = o->end.start_ns;
    o->ready = bytes_of(request.observe.ready);
    o->done = bytes_of(request.observe.done);
    o->stdout_bytes = (int64_t)(o->ready.len + o->done.len + 2);
}

static struct wire_end *end_of_reply(void)
{
    return reply.type == WIRE_EXEC_RESULT ? &reply.exec_result.end : &reply.observe_result.end;
}

/* ---- lies that are frames */

static void lie_id(void)
{
    reply.id++;
}

static void lie_type(void)
{
    bool exec = reply.type == WIRE_EXEC_RESULT;

    memset(&reply.exec_result, 0, sizeof reply.exec_result);
    memset(&reply.observe_result, 0, sizeof reply.observe_result);
    reply.type = exec ? WIRE_OBSERVE_RESULT : WIRE_EXEC_RESULT;
    *end_of_reply() = good_end();
}

static void lie_hello(void)
{
    reply.type = WIRE_HELLO;
    reply.hello = (struct wire_hello){.version = WIRE_VERSION, .pid = getpid()};
}

static void lie_past(void)
{
    end_of_reply()->start_ns = 1;
}

static void lie_future(void)
{
    end_of_reply()->exit_ns += 3600000000000;
}

static void lie_backwards(void)
{
    end_of_reply()->exit_ns = end_of_reply()->start_ns - 1;
}

static void lie_status(void)
{
    end_of_reply()->exit_status = 3;
}

static void lie_leftover(void)
{
    end_of_reply()->exit_status = 1000000;
}

static void lie_outcome(void)
{
    end_of_reply()->outcome = "lane.great";
}

static void lie_negative(void)
{
    reply.observe_result.interval_cpu_ns = -5;
    reply.exec_result.output_bytes = -5;
}

static const struct {
    const char *way;
    void (*lie)(void);
} lies[] = {
    {"id", lie_id},           {"type", lie_type},
    {"hello", lie_hello},     {"past", lie_past},
    {"future", lie_future},   {"backwards", lie_backwards},
    {"status", lie_status},   {"leftover", lie_leftover},
    {"outcome", lie_outcome}, {"negative", lie_negative},
};

/* ---- frames that are none */

static void send_random(void)
{
    uint8_t noise[4096];
    size_t len = 1 + (size_t)rand_r(&seed) % sizeof noise;

    for (size_t i = 0; i < len; i++)
        noise[i] = (uint8_t)rand_r(&seed);
    put(noise, len);
    hang();
}

static void send_mutated(size_t len)
{
    for (int hits = 1 + rand_r(&seed) % 4; hits > 0; hits--)
        frame[(size_t)rand_r(&seed) % len] = (uint8_t)rand_r(&seed);
    put(frame, len);
}

static void send_bytewise(size_t len)
{
    for (size_t i = 0; i < len; i++)
        put(frame + i, 1);
}

static void send_in_its_way(const char *way, size_t len)
{
    static const uint8_t huge[] = {255, 255, 255, 127}, tiny[] = {1, 0, 0, 0, 7};

    if (strcmp(way, "half-end") == 0) {
        put(frame, len / 2);
        _exit(0);
    }
    if (strcmp(way, "half-hang") == 0) {
        put(frame, len / 2);
        hang();
    }
    if (strcmp(way, "end") == 0)
        _exit(0);
    if (strcmp(way, "hang") == 0)
        hang();
    if (strcmp(way, "huge") == 0)
        put(huge, sizeof huge);
    else if (strcmp(way, "tiny") == 0)
        put(tiny, sizeof tiny);
    else if (strcmp(way, "random") == 0)
        send_random();
    else if (strcmp(way, "mutate") == 0)
        send_mutated(len);
    else if (strcmp(way, "bytewise") == 0)
        send_bytewise(len);
    else
        put(frame, len);
    if (strcmp(way, "twice") == 0)
        put(frame, len);
}

static size_t encode(void)
{
    int len = wire_encode(&reply, frame, sizeof frame);

    if (len <= 0)
        _exit(2);
    return (size_t)len;
}

static void answer(const char *way)
{
    make_good_reply();
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++)
        if (strcmp(way, lies[i].way) == 0)
            lies[i].lie();
    send_in_its_way(way, encode());
}

static void greet(void)
{
    reply.type = WIRE_HELLO;
    reply.hello = (struct wire_hello){.version = WIRE_VERSION, .pid = getpid()};
    put(frame, encode());
    reply = (struct wire_msg){.type = WIRE_SOURCES};
}

/* With the id that the first request will have, and before anybody can ask. */
static void greet_and_answer(void)
{
    static uint8_t both[1024];
    size_t hello = encode();

    memcpy(both, frame, hello);
    request = (struct wire_msg){.type = WIRE_OBSERVE, .id = 1};
    request.observe.measure = WIRE_PROCESS;
    make_good_reply();
    size_t len = encode();
    memcpy(both + hello, frame, len);
    put(both, hello + len);
}

int main(int argc, char **argv)
{
    char *way = argc > 1 ? argv[1] : "", *number = strchr(way, ':');

    if (number) {
        *number = '\0';
        seed = (unsigned)strtoul(number + 1, NULL, 10);
    }
    greet();
    if (strcmp(way, "early") == 0)
        greet_and_answer();
    else
        put(frame, encode());
    while (take_request())
        answer(way);
    return 0;
}
