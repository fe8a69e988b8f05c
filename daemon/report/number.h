/* Figures as text, each kind with its one form. NaN and infinity read "undefined"; a unit that
 * belongs to a column's title is not repeated.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAX 48
#define NUMBER_UNDEFINED "undefined"

/* Each fills out (NUMBER_MAX bytes) and returns it. */
char *number_ms(char *out, double ns); /* "12.345678": milliseconds, 6 decimals */
/* "9.412345 us/op": in ms or us with 6 decimals, in ns with 3; the unit is the one that suits
 * smallest_ns, the smallest of the figures that stand together. */
char *number_per_operation(char *out, double ns, double smallest_ns);
char *number_ratio(char *out, double ratio);  /* "0.987654" */
char *number_pct(char *out, double pct);      /* "+1.2346%": signed, 4 decimals; zero unsigned */
char *number_share(char *out, double pct);    /* "98.2%": unsigned, for CPU shares */
char *number_fraction(char *out, double f);   /* 0.98828 as "98.83%": coverages, resolutions */
char *number_count(char *out, int64_t n);     /* "1,048,576"; negative: "unknown" */
char *number_mib(char *out, double bytes);    /* "12.250 MiB" */
char *number_core(char *out, double ppm);     /* of a core: "0.0123%" */
char *number_value(char *out, double v);      /* "1,048,576"; between two of them "2.5" */
char *number_bytes(char *out, int64_t bytes); /* "7.75 GiB"; negative: "unknown" */
char *number_span(char *out, int64_t ms);     /* "4 min 12 s", for people; negative: "unknown" */
