#include "page_table.h"

#include "../unit.h"

#include "base/mem.h"

/* The lines from the one that is title up to the next that begins with until. */
static char *lines_below(const char *text, const char *title, const char *until)
{
    CLEANUP(mem_freep) char *line = mem_printf("\n%s\n", title);
    const char *at = strstr(text, line);
    if (!at)
        return NULL;
    at += strlen(line);
    const char *end = strstr(at, until);
    return end ? mem_printf("%.*s", (int)(end - at), at) : mem_strdup(at);
}

char *page_section_text(const char *page, const char *section)
{
    CLEANUP(mem_freep) char *title = mem_printf("## %s", section);
    char *text = lines_below(page, title, "\n## ");
    if (!text)
        fail_msg("there is no section %s in\n%s", section, page);
    return text;
}

/* The next cell of a row; NULL behind the last. */
static char *take_cell(const char **at)
{
    const char *begin = *at, *end = strstr(begin, " |");
    if (!end || strncmp(begin, "| ", 2) != 0)
        return NULL;
    begin += 2;
    *at = end + 1;
    return end > begin ? mem_printf("%.*s", (int)(end - begin), begin) : mem_strdup("");
}

static bool row_is(const char *line, const char *const *cells, int n)
{
    const char *at = line;
    for (int i = 0; i < n; i++) {
        CLEANUP(mem_freep) char *cell = take_cell(&at);
        if (!cell || (strcmp(cells[i], "*") != 0 && strcmp(cells[i], cell) != 0))
            return false;
    }
    return strcmp(at, "|") == 0;
}

static bool text_has_row(const char *text, const char *const *cells, int n)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        CLEANUP(mem_freep) char *line = mem_printf("%.*s", (int)len, text);
        if (row_is(line, cells, n))
            return true;
        text += len + (text[len] == '\n');
    }
    return false;
}

bool page_has_row(const char *page, const char *section, const char *heading,
                  const char *const *cells, int n)
{
    CLEANUP(mem_freep) char *text = page_section_text(page, section);
    if (!heading)
        return text_has_row(text, cells, n);
    CLEANUP(mem_freep) char *title = mem_printf("### %s", heading);
    for (const char *from = text; from;) {
        CLEANUP(mem_freep) char *part = lines_below(from, title, "\n### ");
        if (part && text_has_row(part, cells, n))
            return true;
        from = part ? strstr(from, title) + strlen(title) : NULL;
    }
    return false;
}

void page_expect_row(const char *page, const char *section, const char *heading,
                     const char *const *cells, int n)
{
    if (page_has_row(page, section, heading, cells, n))
        return;
    CLEANUP(mem_freep) char *text = page_section_text(page, section);
    CLEANUP(mem_freep) char *row = mem_strdup("");
    for (int i = 0; i < n; i++) {
        char *more = mem_printf("%s| %s ", row, cells[i]);
        free(row);
        row = more;
    }
    fail_msg("no row %s| below %s, %s in\n%s", row, section, heading ? heading : "", text);
}
