/* Who cleans up when the runner itself is killed: its parent, which does nothing else.
 *
 * What a dead runner leaves becomes the guard's children, because the guard is the subreaper
 * above it; it ends them and then itself. When the guard is killed, the runner ends everything and
 * itself. Only both at once would leave something behind. The pipes to the daemon stay open in the
 * guard, so that the daemon sees their end only when all is gone. */
#pragma once

/* Splits the program in two. Returns 0 in the runner, -errno when there was no splitting; in the
 * guard it does not return. Call it as a subreaper, before anything is started. */
int guard_split(void);
