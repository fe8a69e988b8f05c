#include "proto/profile/xml.h"

#include <string.h>

#include "base/mem.h"

void xml_init(struct xml *x, const char *data, size_t len)
{
    *x = (struct xml){.at = data, .end = data + len, .line = 1};
}

/* ---- bytes */

static enum xml_kind bad(struct xml *x, const char *fault)
{
    x->fault = fault;
    x->at = x->end;
    return XML_BAD;
}

static size_t left(const struct xml *x)
{
    return (size_t)(x->end - x->at);
}

static bool begins(const struct xml *x, const char *text)
{
    size_t len = strlen(text);
    return left(x) >= len && memcmp(x->at, text, len) == 0;
}

static void pass(struct xml *x, size_t n)
{
    for (; n > 0; n--)
        x->line += *x->at++ == '\n';
}

static bool take(struct xml *x, const char *text)
{
    if (!begins(x, text))
        return false;
    pass(x, strlen(text));
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct xml *x)
{
    while (x->at < x->end && is_space(*x->at))
        pass(x, 1);
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
}

static struct piece take_name(struct xml *x)
{
    struct piece name = {x->at, 0};

    while (name.len < left(x) && is_name_byte(name.at[name.len]))
        name.len++;
    pass(x, name.len);
    return name;
}

/* Passes all up to the word and over it. */
static bool pass_over(struct xml *x, const char *word)
{
    while (left(x) > 0 && !begins(x, word))
        pass(x, 1);
    return take(x, word);
}

static bool same(struct piece a, struct piece b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* ---- elements */

static bool take_value(struct xml *x, struct piece *out)
{
    char quote = left(x) > 0 ? *x->at : '\0';

    if (quote != '"' && quote != '\'')
        return false;
    pass(x, 1);
    const char *end = memchr(x->at, quote, left(x));
    if (!end || memchr(x->at, '<', (size_t)(end - x->at)))
        return false;
    *out = (struct piece){x->at, (size_t)(end - x->at)};
    pass(x, out->len + 1);
    return true;
}

static const char *take_attribute(struct xml *x)
{
    struct xml_attribute one = {.name = take_name(x)};

    if (one.name.len == 0)
        return "an element with a character that has no place in it";
    skip_space(x);
    if (!take(x, "="))
        return "an attribute without a value";
    skip_space(x);
    if (!take_value(x, &one.value))
        return "an attribute whose value is not in quotes";
    if (x->n_attributes == XML_ATTRIBUTES_MAX)
        return "an element with too many attributes";
    for (size_t i = 0; i < x->n_attributes; i++)
        if (same(x->attributes[i].name, one.name))
            return "an attribute that stands twice in one element";
    x->attributes[x->n_attributes++] = one;
    return NULL;
}

static enum xml_kind take_begin(struct xml *x)
{
    x->name = take_name(x);
    x->n_attributes = 0;
    if (x->name.len == 0)
        return bad(x, "a \"<\" with no name behind it");
    if (x->is_over)
        return bad(x, "a second element behind the one that is all");
    if (x->depth == XML_DEPTH_MAX)
        return bad(x, "elements that lie too deep in each other");
    for (skip_space(x); !begins(x, ">") && !begins(x, "/>"); skip_space(x)) {
        const char *fault = take_attribute(x);
        if (fault)
            return bad(x, fault);
    }
    x->is_empty = take(x, "/>");
    if (!x->is_empty)
        (void)take(x, ">");
    x->open[x->depth++] = x->name;
    return XML_BEGIN;
}

static enum xml_kind end_element(struct xml *x)
{
    x->name = x->open[--x->depth];
    x->is_over = x->depth == 0;
    x->is_empty = false;
    return XML_END;
}

static enum xml_kind take_end(struct xml *x)
{
    struct piece name = take_name(x);

    skip_space(x);
    if (!take(x, ">") || x->depth == 0 || !same(name, x->open[x->depth - 1]))
        return bad(x, "an end that is not of the element that began last");
    return end_element(x);
}

static enum xml_kind take_text(struct xml *x)
{
    const char *end = memchr(x->at, '<', left(x));

    x->text = (struct piece){x->at, end ? (size_t)(end - x->at) : left(x)};
    if (x->depth == 0 || !end)
        return bad(x, x->depth ? "the text ends inside an element; it was cut off, write it anew"
                               : "text outside of all elements");
    pass(x, x->text.len);
    return XML_TEXT;
}

enum xml_kind xml_next(struct xml *x)
{
    if (x->fault)
        return XML_BAD;
    if (x->is_empty)
        return end_element(x);
    if (x->depth == 0)
        skip_space(x);
    while (begins(x, "<!--") || begins(x, "<?")) {
        if (!pass_over(x, begins(x, "<?") ? "?>" : "-->"))
            return bad(x, "a comment or an instruction without its end");
        if (x->depth == 0)
            skip_space(x);
    }
    if (left(x) == 0)
        return x->is_over ? XML_DONE
                          : bad(x, x->depth ? "the text ends inside an element; it was cut off, "
                                              "write it anew"
                                            : "there is no element");
    if (take(x, "</"))
        return take_end(x);
    if (begins(x, "<!"))
        return bad(x, "a document type or a section that such a table has not");
    return take(x, "<") ? take_begin(x) : take_text(x);
}

struct piece xml_attribute(const struct xml *x, const char *name)
{
    struct piece of = {name, strlen(name)};

    for (size_t i = 0; i < x->n_attributes; i++)
        if (same(x->attributes[i].name, of))
            return x->attributes[i].value;
    return (struct piece){0};
}

/* ---- what stands for characters */

/* Bytes of the character in out; 0: it is none that a text may have. */
static size_t put_utf8(uint32_t c, char *out)
{
    if (c < 0x20 || c == 0x7f || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((uint32_t)(0xf00 >> n) | c);
    return n;
}

static size_t put_number(struct piece digits, bool is_hex, char *out)
{
    uint32_t c = 0;

    if (digits.len == 0 || digits.len > 7)
        return 0;
    for (size_t i = 0; i < digits.len; i++) {
        char d = digits.at[i];
        uint32_t v = d >= '0' && d <= '9'             ? (uint32_t)(d - '0')
                     : is_hex && d >= 'a' && d <= 'f' ? (uint32_t)(d - 'a' + 10)
                     : is_hex && d >= 'A' && d <= 'F' ? (uint32_t)(d - 'A' + 10)
                                                      : UINT32_MAX;
        if (v == UINT32_MAX)
            return 0;
        c = c * (is_hex ? 16 : 10) + v;
    }
    return put_utf8(c, out);
}

/* Of what stands between '&' and ';'. */
static size_t put_entity(struct piece name, char *out)
{
    static const struct {
        const char *name;
        char is;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (same(name, (struct piece){known[i].name, strlen(known[i].name)})) {
            out[0] = known[i].is;
            return 1;
        }
    if (name.len < 2 || name.at[0] != '#')
        return 0;
    bool is_hex = name.at[1] == 'x';
    size_t head = is_hex ? 2 : 1;
    return put_number((struct piece){name.at + head, name.len - head}, is_hex, out);
}

bool xml_text(struct arena *a, struct piece written, struct piece *out)
{
    *out = written;
    if (!written.at || !memchr(written.at, '&', written.len))
        return true;
    /* Nothing is longer than what stands for it. */
    char *text = arena_alloc(a, written.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < written.len; i++) {
        if (written.at[i] != '&') {
            text[n++] = written.at[i];
            continue;
        }
        const char *from = written.at + i + 1, *end = memchr(from, ';', written.len - i - 1);
        size_t put = end ? put_entity((struct piece){from, (size_t)(end - from)}, text + n) : 0;
        if (put == 0)
            return false;
        n += put;
        i = (size_t)(end - written.at);
    }
    *out = (struct piece){text, n};
    return true;
}
