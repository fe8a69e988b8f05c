#include "host/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "host/proc_parse.h"

#define SCRIPT_LIMIT (1u << 20)

int script_open(const char *dir, struct arena *a, const char *file, struct script *s, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(dir, file);
    CLEANUP(buf_deinit) struct buf b = {0};
    *s = (struct script){.file = file};
    int rc = file_exists(path) ? file_read(path, SCRIPT_LIMIT, &b, e) : 0;
    s->rest = s->text = arena_strndup(a, buf_str(&b), b.len);
    return rc;
}

/* The next line that says something; comments begin with '#'. */
char *script_line(struct script *s)
{
    for (char *line; (line = strsep(&s->rest, "\n"));) {
        s->line++;
        line += strspn(line, " \t");
        if (line[0] && line[0] != '#')
            return line;
    }
    return NULL;
}

char *script_word(char **line)
{
    char *w = strsep(line, " \t");
    if (*line) /* the blanks before the next word */
        *line += strspn(*line, " \t");
    return w;
}

int script_error(const struct script *s, struct err *e)
{
    char field[64];
    (void)snprintf(field, sizeof field, "%s:%d", s->file, s->line);
    return err_set(e, -EINVAL, "host.fake_bad", field,
                   "line %d of the fake host's file %s is not understood; see host_fake.h", s->line,
                   s->file);
}

bool script_pct(const char *s, double *out)
{
    char *end;
    if (!s || !s[0])
        return false;
    *out = strtod(s, &end);
    return *end == '\0' && *out >= 0 && *out <= 1e6;
}

bool script_int(const char *s, int64_t *out)
{
    *out = s ? proc_parse_number(s, strlen(s)) : -1;
    return *out >= 0;
}
