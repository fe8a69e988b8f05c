/* What the fuzz targets share: their input taken piece by piece, properties, what a refusal and a
 * text for people must look like.
 *
 * A target is one function over bytes, LLVMFuzzerTestOneInput, which keeps nothing between two
 * inputs. libFuzzer calls it where the build has -Dfuzz=true; replay.c calls it with the committed
 * corpus in every other. Bytes are given in a block of exactly their length, so that a sanitizer
 * sees one byte read too far.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, so that the input is kept, unless the property holds. */
#define MUST(property, ...)                                                                        \
    do {                                                                                           \
        if (!(property))                                                                           \
            fuzz_broken(__FILE__, __LINE__, #property, " " __VA_ARGS__);                           \
    } while (0)
void fuzz_broken(const char *file, int line, const char *property, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* ---- the input; at its end there are only zeros and empty texts */

struct fuzz_in {
    const uint8_t *at;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_in *in);
uint64_t fuzz_number(struct fuzz_in *in, size_t bytes); /* little-endian */
size_t fuzz_below(struct fuzz_in *in, size_t n);        /* of one byte for n up to 256, else two */
/* Up to the next newline, which goes too; malloc'd, exactly as long as it is, cut at a NUL. */
char *fuzz_line(struct fuzz_in *in);
char *fuzz_text(struct fuzz_in *in); /* all that is left, so */

/* ---- what must hold of every parser */

/* rc and e of a call that was refused: a code of the table, a sentence, no control characters. */
void fuzz_refused(int rc, const struct err *e);
/* The same where rc may be 0: then e is empty. True when it is. */
bool fuzz_accepted(int rc, const struct err *e);

enum fuzz_text { FUZZ_LINES = 1 /* newline and tab may be in it */, FUZZ_STYLES = 2 /* ESC [ m */ };
/* UTF-8 without anything that could steer a terminal. */
void fuzz_must_be_shown(const char *text, size_t len, unsigned allowed);
/* UTF-8 without ASCII control characters. */
void fuzz_must_be_text(const char *text);

/* The canonical form of JSON text that must be valid; malloc'd. */
char *fuzz_canonical(const struct buf *json);

/* How many inputs a target took for good ones: a corpus of which none is accepted tests little.
 * Counts one, and prints the count at the end of the program. */
void fuzz_count_good(void);
