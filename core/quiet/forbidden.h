/* Forbidden programs: compilers and build tools that may not run in a measured repository.
 *
 * A process is recognised by its short name or by the last path component of its first argument;
 * a version suffix ("gcc-12") does not hide it, nor does the kernel's cut of the short name to 15
 * bytes. Pure; nothing here owns memory.
 */
#pragma once

#include "core/quiet/inventory.h"

/* Is the process one of the listed programs? list may be NULL: then it is not. */
bool forbidden_program(const struct args *list, const struct proc_sample *p);

/* Does path equal root or lie below it? A folder that was removed ("... (deleted)") counts. An
 * empty root holds nothing. */
bool forbidden_path_inside(const char *path, const char *root);
