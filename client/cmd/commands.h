/* The commands that this version has; one file each, or one per small group. */
#pragma once

#include "client/cli.h"

extern const struct command command_submit, command_compare, command_run;
extern const struct command command_list, command_show, command_watch, command_wait, command_log;
extern const struct command command_cancel, command_report, command_page, command_gate;
extern const struct command command_hold, command_release, command_edit, command_rerun;
extern const struct command command_session;
extern const struct command command_host, command_quiet, command_status;
extern const struct command command_verify, command_dial_stdio, command_help;
extern const struct command command_completion, command_doctor, command_backup;
extern const struct command command_drain, command_calibrate, command_kernel;
extern const struct command command_history;
extern const struct command command_attribute;
