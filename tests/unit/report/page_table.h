/* Finding rows in a Markdown page: what the tests of pages share. */
#pragma once

#include <stdbool.h>

#define PAGE_CELLS_MAX 16

/* A row is found below ## section and, unless heading is NULL, below the ### heading there; a cell
 * "*" is any text. Fails the test, and shows the section, when there is no such row. */
void page_expect_row(const char *page, const char *section, const char *heading,
                     const char *const *cells, int n);
bool page_has_row(const char *page, const char *section, const char *heading,
                  const char *const *cells, int n);
/* The text of ## section, malloc'd; fails the test when there is none. */
char *page_section_text(const char *page, const char *section);
