/* aurabenchd --check: looks a state folder over while no daemon uses it, and changes nothing in it.
 *
 * One line a check on stdout: PASS, FAIL, or NOTE for what the next start deals with by itself.
 */
#pragma once

#include "base/err.h"

/* 0: nothing failed; 1: something did; -errno with e filled when it could not look (no such folder,
 * "daemon.state_locked"). state_dir is absolute. */
int check_run(const char *state_dir, struct err *e);
