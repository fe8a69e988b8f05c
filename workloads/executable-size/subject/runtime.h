/* The runtime that every program links: an archive of parts, of which a program gets what it calls.
 */
#ifndef RUNTIME_H
#define RUNTIME_H

/* Prints the text and a newline; status 1: stdout cannot be written. */
int runtime_print(const char *text);

/* Adds up the numbers at "numbers" in a JSON object and prints the object with their sum in it. */
int runtime_json_sum(const char *json);

/* Sends the text through a TLS connection between two ends in this process, and prints what
 * arrived. */
int runtime_tls_roundtrip(const char *text);

#endif
