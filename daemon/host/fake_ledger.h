/* The scripted host's ledger: what its file "ledger" says of each observation (host_fake.h). */
#pragma once

#include "core/raw.h"

/* False: there is no such file, and nothing is counted on this host. */
bool fake_ledger_sources(const char *dir, struct ledger_sources *out);
/* Puts the script's values in place of what the runner has counted on the real machine; without a
 * script, and where it is not understood, nothing is known. */
void fake_ledger_observed(const char *dir, struct raw_observation *o);
