/* The part of XML that tools export tables in, read piece by piece: elements, attributes, text.
 *
 * There are no namespaces, document types, entities of one's own or sections of CDATA: each of them
 * refuses the text. An end must fit its beginning, and all of it must be one element. Comments and
 * instructions are passed over.
 */
#pragma once

#include "base/arena.h"
#include "core/summary/attribution.h"

#define XML_DEPTH_MAX 32
#define XML_ATTRIBUTES_MAX 16

enum xml_kind { XML_BEGIN, XML_END, XML_TEXT, XML_DONE, XML_BAD };

struct xml_attribute {
    struct piece name, value; /* as written: see xml_text */
};

struct xml {
    const char *at, *end;
    int64_t line;      /* in which what was read last begins */
    const char *fault; /* XML_BAD: what is wrong */
    struct piece name; /* of the element that begins or ends */
    struct piece text; /* XML_TEXT: as written, never empty */
    bool is_empty;     /* XML_BEGIN: the element ends at once; its XML_END follows */
    struct xml_attribute attributes[XML_ATTRIBUTES_MAX]; /* XML_BEGIN */
    size_t n_attributes;
    struct piece open[XML_DEPTH_MAX]; /* the elements that are not ended, outermost first */
    size_t depth;
    bool is_over; /* the one element was ended */
};

void xml_init(struct xml *x, const char *data, size_t len);
/* The next part. After XML_DONE or XML_BAD there is none. */
enum xml_kind xml_next(struct xml *x);
/* Of the element that begins, as written; at is NULL where it has none. */
struct piece xml_attribute(const struct xml *x, const char *name);
/* With what stands for characters replaced by them, in a where there is any. False: an entity that
 * is not known. */
bool xml_text(struct arena *a, struct piece written, struct piece *out);
