#include "core/quiet/forbidden.h"

#include <string.h>

/* The kernel cuts a command's short name to so many bytes. */
#define COMMAND_CUT 15

static size_t length_without_version(const char *name, size_t len)
{
    size_t i = len;
    while (i > 0 && ((name[i - 1] >= '0' && name[i - 1] <= '9') || name[i - 1] == '.'))
        i--;
    return i > 1 && i < len && name[i - 1] == '-' ? i - 1 : len;
}

static bool program_is(const char *program, size_t len, const char *forbidden)
{
    size_t want = strlen(forbidden);
    if (len == want && memcmp(program, forbidden, len) == 0)
        return true;
    return length_without_version(program, len) == want && memcmp(program, forbidden, want) == 0;
}

static bool process_is(const char *command, const char *args, const char *forbidden)
{
    size_t len = strlen(command);
    if (program_is(command, len, forbidden))
        return true;
    if (len == COMMAND_CUT && strncmp(command, forbidden, COMMAND_CUT) == 0)
        return true;
    if (!args)
        return false;
    size_t word = strcspn(args, " "), base = word;
    while (base > 0 && args[base - 1] != '/')
        base--;
    return program_is(args + base, word - base, forbidden);
}

bool forbidden_program(const struct args *list, const struct proc_sample *p)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (list->v[i][0] && process_is(p->command ? p->command : "", p->args, list->v[i]))
            return true;
    return false;
}

bool forbidden_path_inside(const char *path, const char *root)
{
    size_t n = strlen(root);
    while (n > 1 && root[n - 1] == '/')
        n--;
    if (n == 0 || strncmp(path, root, n) != 0)
        return false;
    return path[n] == '\0' || path[n] == '/' || root[n - 1] == '/' ||
           strcmp(path + n, " (deleted)") == 0;
}
