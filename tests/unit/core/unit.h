/* What every test of core includes: cmocka and its prerequisites, and two assertions on doubles. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define assert_nan(x) assert_true(isnan(x) != 0)
#define assert_number(x) assert_true(isnan(x) == 0)
/* Exactly the same value: the rules are exact on small integers. */
#define assert_same(x, y) assert_true((x) >= (y) && (x) <= (y))
#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))
