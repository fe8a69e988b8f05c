/* The client's own functions of cJSON (client/json_tree.c) beside the library's, under other names.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stddef.h>

cJSON *tree_parse(const char *text, size_t len);
void tree_delete(cJSON *item);
cJSON *tree_item(const cJSON *array, int index);
cJSON *tree_member(const cJSON *object, const char *key);
int tree_size(const cJSON *array);
cJSON_bool tree_add(cJSON *array, cJSON *item);
cJSON *tree_detach(cJSON *parent, cJSON *item);
cJSON_bool tree_replace(cJSON *object, const char *key, cJSON *item);
/* The bits of what it says a value is, by the cJSON_Is functions. */
int tree_kind(const cJSON *item);
