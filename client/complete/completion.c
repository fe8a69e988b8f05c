#include "client/complete/completion.h"

#include <string.h>

#include "core/job_state.h"
#include "proto/doc/documents.h"

void completion_deinit(struct completion *c)
{
    buf_deinit(&c->words);
}

static void add(struct completion *c, const char *word, size_t len)
{
    if (c->words.len)
        buf_putc(&c->words, ' ');
    buf_add(&c->words, word, len);
}

static void add_names(struct completion *c, const char *const *names)
{
    for (; *names; names++)
        add(c, *names, strlen(*names));
}

static void add_states(struct completion *c)
{
    for (int s = JOB_HELD; s < JOB_STATE_COUNT; s++)
        add(c, job_state_name((enum job_state)s), strlen(job_state_name((enum job_state)s)));
}

static bool is(const char *part, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(part, word, len) == 0;
}

static bool ends_in(const char *part, size_t len, const char *tail)
{
    size_t n = strlen(tail);

    return len >= n && memcmp(part + len - n, tail, n) == 0;
}

static bool is_file(const char *part, size_t len)
{
    return is(part, len, "FILE") || is(part, len, "DIR") || is(part, len, "PATH") ||
           ends_in(part, len, ".json");
}

/* A word that stands for itself. */
static bool is_literal(const char *part, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((part[i] < 'a' || part[i] > 'z') && part[i] != '-')
            return false;
    return len > 0 && part[0] != '-';
}

/* One alternative, without what stands behind its first word. */
static void add_part(struct completion *c, const char *part, size_t len)
{
    if (is_file(part, len))
        c->files = true;
    else if (is(part, len, "STATE"))
        add_states(c);
    else if (is_literal(part, len))
        add(c, part, len);
}

static void add_alternatives(struct completion *c, const char *text)
{
    while (*text) {
        text += strspn(text, " |[");
        add_part(c, text, strcspn(text, " |]"));
        text += strcspn(text, "|");
    }
}

void completion_of_option(const struct opt *o, struct completion *out)
{
    *out = (struct completion){.takes_value = o->kind != OPT_FLAG};
    if (!out->takes_value)
        return;
    if (strcmp(o->name, "policy") == 0)
        add_names(out, policy_shipped_names());
    add_alternatives(out, o->value);
}

void completion_of_command(const struct command *const *commands, const struct command *command,
                           struct completion *out)
{
    *out = (struct completion){.takes_value = command->words_max > 0};
    if (!out->takes_value)
        return;
    add_alternatives(out, command->usage);
    out->files_behind = command->words_max > 1 && strstr(command->usage, " FILE");
    for (; strstr(command->usage, "COMMAND") && *commands; commands++)
        add(out, (*commands)->name, strlen((*commands)->name));
}
