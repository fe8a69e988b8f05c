#include "run/run_text_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct clip clip(const char *text)
{
    struct clip c = {""};
    const char *s = text ? text : "";
    size_t len = strlen(s), cut = len;

    if (len > CLIP)
        for (cut = CLIP; cut > 0 && ((unsigned char)s[cut] & 0xc0) == 0x80; cut--)
            ; /* not inside a character */
    (void)snprintf(c.text, sizeof c.text, "%.*s%s", (int)cut, s, cut < len ? "..." : "");
    return c;
}

struct clip one_line(const char *s)
{
    struct clip c = clip(s);

    for (char *p = c.text; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    return c;
}

struct clip last_line(const char *text)
{
    const char *end = text + strlen(text);
    char line[2 * CLIP]; /* more than is shown: the cut is made there */

    while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    const char *start = end;
    while (start > text && start[-1] != '\n')
        start--;
    size_t len = (size_t)(end - start) < sizeof line ? (size_t)(end - start) : sizeof line - 1;
    memcpy(line, start, len);
    line[len] = '\0';
    return one_line(line);
}

static const char *start_hint(int errnum, const char *step)
{
    static const struct {
        int errnum;
        const char *hint;
    } hints[] = {
        {ENOENT, "name a program that the build makes or that is in the policy's PATH, and for a "
                 "script an interpreter that exists"},
        {EACCES, "name an executable file (chmod +x), not a folder"},
        {ENOEXEC, "a script needs a first line that names its interpreter, such as #!/usr/bin/env "
                  "python3"},
        {ETXTBSY, "it is still open for writing: let the build close it and end what it started"},
        {E2BIG, "shorten its arguments and variables, or put them into a file"},
        {ENAMETOOLONG, "shorten its path"},
        {ELOOP, "its path leads through links that lead back to themselves; mend them"},
        {ENOTDIR, "a part of its path is a file, not a folder; mend the path"},
        {EAGAIN, "the daemon's user has too many processes; end some or raise its limit"},
        {ENOMEM, "the host has too little memory left to start it; end what uses it"},
        {EMFILE, "too many files are open; raise the daemon's limit"},
        {ENFILE, "too many files are open on the host; close some"},
    };

    if (strcmp(step, "chdir") == 0)
        return "make its working directory exist and readable for the daemon's user";
    if (strcmp(step, "log") == 0)
        return "look at the daemon's state directory: it must be writable and not full";
    if (strcmp(step, "affinity") == 0)
        return "name CPUs that this host has in the policy's cpu_set";
    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (hints[i].errnum == errnum)
            return hints[i].hint;
    return "run the command by hand as the daemon's user to see why";
}

void say_start(struct buf *b, const char *program, int errnum, const char *step)
{
    buf_printf(b, "cannot start %s: %s (%s); %s", clip(program).text, strerror(errnum),
               step ? step : "?", start_hint(errnum, step ? step : ""));
}
