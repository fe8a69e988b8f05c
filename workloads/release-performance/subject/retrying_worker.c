/* A worker that retries HTTP requests with waits between them, against a server thread of
 * its own. Sixteen cycles of three jobs: one recovers, one is rate limited, one is exhausted. */
#define _POSIX_C_SOURCE 200809L

#include "http.h"
#include "net.h"
#include "record.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CYCLES = 16, JOBS = 3, MAX_ATTEMPTS = 3, UNAVAILABLE = 503 };

struct job {
    const char *target;
    int attempts;                /* how many requests it takes to be final */
    int statuses[MAX_ATTEMPTS];  /* what the server answers to the first, second, third */
    long waits_ms[MAX_ATTEMPTS]; /* what the worker waits before the second, third */
};

static const struct job jobs[JOBS] = {
    {"/recovers", 2, {503, 200}, {4}},
    {"/rate-limited", 2, {503, 429}, {6}},
    {"/exhausted", 3, {503, 503, 503}, {3, 5}},
};

static void answer(struct http_connection *connection, const struct http_request *request,
                   int attempts[JOBS])
{
    struct http_response response;
    int length;
    int i = 0;

    while (i < JOBS && strcmp(request->target, jobs[i].target) != 0)
        i++;
    if (i == JOBS)
        fail("retrying_worker: the server was asked for \"%s\"", request->target);
    if (attempts[i] == jobs[i].attempts)
        fail("retrying_worker: the server was asked for \"%s\" once more", request->target);
    response.status = jobs[i].statuses[attempts[i]];
    response.close = request->close;
    attempts[i]++;
    length = snprintf(response.body, sizeof response.body, "%s attempt %d\n", jobs[i].target,
                      attempts[i]);
    if (length < 0 || (size_t)length >= sizeof response.body)
        fail("retrying_worker: a body is too long");
    response.body_length = (size_t)length;
    http_send_response(connection, &response);
}

/* One connection is one cycle: the server counts the attempts of each job in it. */
static void *serve(void *argument)
{
    const int *listener = argument;

    for (int cycle = 0; cycle < CYCLES; cycle++) {
        struct http_connection connection;
        struct http_request request;
        int attempts[JOBS] = {0};

        http_open(&connection, net_accept(*listener));
        do {
            if (!http_receive_request(&connection, &request))
                fail("retrying_worker: the worker hung up");
            answer(&connection, &request, attempts);
        } while (!request.close);
        http_close(&connection);
    }
    return NULL;
}

/* Retries while the server is unavailable and attempts are left. Returns the final status. */
static int run_job(struct http_connection *connection, const struct job *job, bool last_job,
                   int *requests)
{
    struct http_request request;
    struct http_response response;
    int attempt = 0;

    (void)snprintf(request.target, sizeof request.target, "%s", job->target);
    for (;;) {
        char expected[HTTP_BODY_BYTES];
        int length;

        request.close = last_job && attempt + 1 == MAX_ATTEMPTS;
        http_send_request(connection, &request);
        http_receive_response(connection, &response);
        ++*requests;
        length = snprintf(expected, sizeof expected, "%s attempt %d\n", job->target, attempt + 1);
        if (length < 0 || response.body_length != (size_t)length ||
            memcmp(response.body, expected, response.body_length) != 0)
            fail("retrying_worker: the body of \"%s\" is wrong", job->target);
        if (response.status != UNAVAILABLE || attempt + 1 == MAX_ATTEMPTS)
            break;
        net_wait_ms(job->waits_ms[attempt]);
        attempt++;
    }
    if (response.close != request.close)
        fail("retrying_worker: worker and server disagree about closing the connection");
    return response.status;
}

int main(void)
{
    pthread_t server;
    uint16_t port;
    int listener;
    int requests = 0;
    int checksum = 0;
    int error;

    net_init();
    listener = net_listen(&port);
    error = pthread_create(&server, NULL, serve, &listener);
    if (error != 0)
        fail("retrying_worker: cannot create the server thread: %s", strerror(error));

    record_start("READY release-performance retrying-worker 16 112 288",
                 "GO release-performance retrying-worker");
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        struct http_connection connection;

        http_open(&connection, net_connect(port));
        for (int i = 0; i < JOBS; i++)
            checksum += run_job(&connection, &jobs[i], i == JOBS - 1, &requests);
        http_close(&connection);
    }
    error = pthread_join(server, NULL);
    if (error != 0)
        fail("retrying_worker: cannot join the server thread: %s", strerror(error));
    record_finish("DONE release-performance retrying-worker %d %d", requests, checksum);

    net_close(listener);
    return 0;
}
