/* As much of HTTP/1.1 as the retrying worker and its server need: messages with a
 * Content-Length over a connection that is kept open. Malformed input ends the program. */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_BUFFER_BYTES = 4096, HTTP_LINE_BYTES = 512, HTTP_BODY_BYTES = 512 };

struct http_connection {
    int fd;
    size_t next; /* first byte of the buffer that was not consumed yet */
    size_t end;
    char buffer[HTTP_BUFFER_BYTES];
};

struct http_request {
    char target[HTTP_LINE_BYTES];
    bool close; /* the sender asked for the end of the connection after this exchange */
};

struct http_response {
    int status;
    bool close;
    size_t body_length;
    char body[HTTP_BODY_BYTES];
};

/* Takes over the socket. */
void http_open(struct http_connection *connection, int fd);
void http_close(struct http_connection *connection);

/* Client side. */
void http_send_request(struct http_connection *connection, const struct http_request *request);
void http_receive_response(struct http_connection *connection, struct http_response *response);

/* Server side. False: the client closed the connection between two requests. */
bool http_receive_request(struct http_connection *connection, struct http_request *request);
void http_send_response(struct http_connection *connection, const struct http_response *response);

#endif
