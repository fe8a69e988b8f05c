#include "proto/doc/doc_command.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_text.h"

static const struct {
    const char *text;
    enum placeholder place;
} placeholders[] = {
    {"{source}", PLACE_SOURCE},
    {"{suite}", PLACE_SUITE},
    {"{build}", PLACE_BUILD},
};

static const char *const operators[] = {"|",  "||", "|&",  "&",   "&&",   ";",    ";;",  ">",
                                        ">>", "<",  "<<",  "<<<", ">|",   ">&",   "&>",  "&>>",
                                        "1>", "2>", "2>>", "1>>", "2>&1", "1>&2", ">&2", "`"};

unsigned doc_placeholders(const char *text, const char **bad)
{
    unsigned used = 0;
    *bad = NULL;
    for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
        unsigned place = 0;
        for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
            if (!strncmp(p, placeholders[i].text, strlen(placeholders[i].text)))
                place = placeholders[i].place;
        if (!place && !*bad)
            *bad = p;
        used |= place;
    }
    return used;
}

bool doc_is_shell_operator(const char *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (!strcmp(arg, operators[i]))
            return true;
    return false;
}

static void check_arg(struct json_in *in, const char *arg, unsigned *used)
{
    const char *bad;
    *used |= doc_placeholders(arg, &bad);
    if (bad) {
        char shown[32];
        snprintf(shown, sizeof shown, "%.*s", (int)strcspn(bad, "}") + 1, bad);
        json_clean(shown);
        json_fail(
            in, NULL, "suite.unknown_placeholder",
            "\"%s\" is no placeholder; {source}, {suite} and {build} are, and other text with "
            "braces belongs into a file of the suite",
            shown);
    }
    if (doc_is_shell_operator(arg))
        json_fail(in, NULL, "suite.shell_operator",
                  "\"%s\" would be passed to the program as an argument, because no shell reads a "
                  "command; put the pipeline into a script of the suite and run that",
                  arg);
}

/* At the command's own path. */
static void check_command(struct json_in *in, const struct args *args, unsigned *used)
{
    if (!in->rc && (args->n == 0 || !args->v[0][0]))
        json_fail(in, NULL, "suite.bad", "a command needs a program as its first argument");
    if (!in->rc && args->n > COMMAND_ARGS_MAX)
        json_fail(in, NULL, "suite.bad", "a command has at most %d arguments", COMMAND_ARGS_MAX);
    for (size_t i = 0; i < args->n && !in->rc; i++) {
        size_t mark = json_enter_index(in, i);
        check_arg(in, args->v[i], used);
        json_leave(in, mark);
    }
}

struct args doc_command(struct json_in *in, const cJSON *obj, const char *key, unsigned *used)
{
    unsigned places = 0;
    size_t n;
    const cJSON *arr = json_arr(in, obj, key, COMMAND_ARGS_MAX, &n);
    size_t mark = json_enter(in, key);
    struct args args = json_take_args(in, arr);
    check_command(in, &args, &places);
    json_leave(in, mark);
    if (used)
        *used = places;
    return args;
}

struct args *doc_opt_commands(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                              size_t *n, unsigned *used)
{
    const cJSON *arr = json_opt_arr(in, obj, key, max, n), *item;
    struct args *commands = arena_array(in->a, *n, sizeof *commands);
    size_t i = 0, mark = json_enter(in, key);
    unsigned places = 0;
    cJSON_ArrayForEach (item, arr) {
        size_t step = json_enter_index(in, i);
        commands[i] = json_take_args(in, item);
        check_command(in, &commands[i++], &places);
        json_leave(in, step);
    }
    json_leave(in, mark);
    if (used)
        *used = places;
    return commands;
}
