/* The words between aurabench-floor and the daemon that calibrates with it. */
#pragma once

#define FLOOR_PROGRAM "aurabench-floor"
#define FLOOR_PROTOCOL "protocol"
#define FLOOR_READY "READY aurabench-floor"
#define FLOOR_GO "GO aurabench-floor"
#define FLOOR_DONE "DONE aurabench-floor"
