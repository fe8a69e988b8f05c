/* What a process that has nothing to do can give back to the machine until it has. */
#pragma once

/* Returns free heap, and lets go of the pages of programs and libraries that were only read: they
 * are mapped again from the system's memory when they are next needed, which costs microseconds.
 * Not to be called while something is timed. */
void rest_give_back(void);
