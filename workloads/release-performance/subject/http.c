#define _POSIX_C_SOURCE 200809L

#include "http.h"

#include "net.h"
#include "record.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct head {
    bool has_host;
    bool has_length;
    size_t length;
    bool close;
};

void http_open(struct http_connection *connection, int fd)
{
    connection->fd = fd;
    connection->next = 0;
    connection->end = 0;
}

void http_close(struct http_connection *connection)
{
    net_close(connection->fd);
    connection->fd = -1;
}

/* False at the end of the stream. */
static bool fill(struct http_connection *connection)
{
    connection->next = 0;
    connection->end = net_receive(connection->fd, connection->buffer, sizeof connection->buffer);
    return connection->end > 0;
}

/* One line without its CR LF, as a string. False: the stream ended before the first byte. */
static bool read_line(struct http_connection *connection, char line[HTTP_LINE_BYTES])
{
    size_t length = 0;

    for (;;) {
        const char *start;
        const char *newline;
        size_t count;

        if (connection->next == connection->end && !fill(connection)) {
            if (length == 0)
                return false;
            fail("http: the connection ended inside a line");
        }
        start = connection->buffer + connection->next;
        count = connection->end - connection->next;
        newline = memchr(start, '\n', count);
        if (newline != NULL)
            count = (size_t)(newline - start) + 1;
        if (count > HTTP_LINE_BYTES - length)
            fail("http: a line is longer than %d bytes", HTTP_LINE_BYTES);
        memcpy(line + length, start, count);
        length += count;
        connection->next += count;
        if (newline != NULL)
            break;
    }
    if (length < 2 || line[length - 2] != '\r')
        fail("http: a line does not end with CR LF");
    length -= 2;
    line[length] = '\0';
    if (strlen(line) != length)
        fail("http: a line contains a zero byte");
    return true;
}

/* The value of a run of decimal digits, or false. */
static bool parse_number(const char *text, size_t limit, size_t *number)
{
    size_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (size_t)(*text - '0');
        if (value > limit)
            return false;
    }
    *number = value;
    return true;
}

static void parse_header(char *line, struct head *head)
{
    char *colon = strchr(line, ':');
    char *value;
    size_t length;

    if (colon == NULL || colon == line || strcspn(line, " \t") < (size_t)(colon - line))
        fail("http: malformed header line \"%s\"", line);
    *colon = '\0';
    value = colon + 1 + strspn(colon + 1, " \t");
    length = strlen(value);
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    value[length] = '\0';

    if (strcasecmp(line, "Content-Length") == 0) {
        if (head->has_length || !parse_number(value, HTTP_BODY_BYTES, &head->length))
            fail("http: bad Content-Length \"%s\"", value);
        head->has_length = true;
    } else if (strcasecmp(line, "Connection") == 0) {
        head->close = strcasecmp(value, "close") == 0;
    } else if (strcasecmp(line, "Host") == 0) {
        head->has_host = true;
    } else if (strcasecmp(line, "Transfer-Encoding") == 0) {
        fail("http: transfer encodings are not supported");
    }
}

static void read_headers(struct http_connection *connection, struct head *head)
{
    char line[HTTP_LINE_BYTES];

    memset(head, 0, sizeof *head);
    for (;;) {
        if (!read_line(connection, line))
            fail("http: the connection ended inside the headers");
        if (line[0] == '\0')
            return;
        parse_header(line, head);
    }
}

static void read_body(struct http_connection *connection, char *body, size_t length)
{
    size_t done = 0;

    while (done < length) {
        size_t count;

        if (connection->next == connection->end && !fill(connection))
            fail("http: the connection ended inside a body");
        count = connection->end - connection->next;
        if (count > length - done)
            count = length - done;
        memcpy(body + done, connection->buffer + connection->next, count);
        connection->next += count;
        done += count;
    }
}

static const char *connection_header(bool close)
{
    return close ? "Connection: close\r\n" : "";
}

void http_send_request(struct http_connection *connection, const struct http_request *request)
{
    char message[2 * HTTP_LINE_BYTES];
    int length = snprintf(message, sizeof message,
                          "GET %s HTTP/1.1\r\n"
                          "Host: 127.0.0.1\r\n"
                          "%s\r\n",
                          request->target, connection_header(request->close));

    if (length < 0 || (size_t)length >= sizeof message)
        fail("http: a request is too long");
    net_send(connection->fd, message, (size_t)length);
}

void http_receive_response(struct http_connection *connection, struct http_response *response)
{
    static const char version[] = "HTTP/1.1 ";
    const size_t prefix = sizeof version - 1;
    char line[HTTP_LINE_BYTES];
    struct head head;
    size_t status = 0;

    if (!read_line(connection, line))
        fail("http: the server closed the connection instead of answering");
    /* "HTTP/1.1 503 Service Unavailable": three digits, a blank, any reason. */
    if (strncmp(line, version, prefix) != 0 || strlen(line) < prefix + 4 || line[prefix + 3] != ' ')
        fail("http: malformed status line \"%s\"", line);
    line[prefix + 3] = '\0';
    if (!parse_number(line + prefix, 599, &status) || status < 200)
        fail("http: malformed status \"%s\"", line + prefix);
    read_headers(connection, &head);
    if (!head.has_length)
        fail("http: a response has no Content-Length");
    read_body(connection, response->body, head.length);
    response->status = (int)status;
    response->close = head.close;
    response->body_length = head.length;
}

bool http_receive_request(struct http_connection *connection, struct http_request *request)
{
    static const char method[] = "GET ";
    static const char version[] = "HTTP/1.1";
    char line[HTTP_LINE_BYTES];
    struct head head;
    char *target;
    char *blank;

    if (!read_line(connection, line))
        return false;
    target = line + sizeof method - 1;
    if (strncmp(line, method, sizeof method - 1) != 0 || target[0] != '/' ||
        (blank = strchr(target, ' ')) == NULL || strcmp(blank + 1, version) != 0)
        fail("http: malformed request line \"%s\"", line);
    *blank = '\0';
    read_headers(connection, &head);
    if (!head.has_host)
        fail("http: a request has no Host");
    if (head.length != 0)
        fail("http: a GET request has a body");
    memcpy(request->target, target, strlen(target) + 1);
    request->close = head.close;
    return true;
}

static const char *reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 429:
        return "Too Many Requests";
    case 503:
        return "Service Unavailable";
    default:
        fail("http: no reason phrase for status %d", status);
    }
}

void http_send_response(struct http_connection *connection, const struct http_response *response)
{
    char message[2 * HTTP_LINE_BYTES + HTTP_BODY_BYTES];
    char date[64];
    struct tm calendar;
    time_t now = time(NULL);
    size_t total;
    int length;

    if (now == (time_t)-1 || gmtime_r(&now, &calendar) == NULL ||
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &calendar) == 0)
        fail("http: cannot write the date");
    length = snprintf(message, sizeof message,
                      "HTTP/1.1 %d %s\r\n"
                      "Date: %s\r\n"
                      "Content-Type: text/plain\r\n"
                      "Content-Length: %zu\r\n"
                      "%s\r\n",
                      response->status, reason(response->status), date, response->body_length,
                      connection_header(response->close));
    if (length < 0 || (size_t)length + response->body_length > sizeof message)
        fail("http: a response is too long");
    memcpy(message + length, response->body, response->body_length);
    total = (size_t)length + response->body_length;
    net_send(connection->fd, message, total);
}
