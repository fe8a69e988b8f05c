/* Before cJSON.h, so that it declares them by these names. */
#define cJSON_ParseWithLength tree_parse
#define cJSON_Delete tree_delete
#define cJSON_GetArrayItem tree_item
#define cJSON_GetObjectItemCaseSensitive tree_member
#define cJSON_GetArraySize tree_size
#define cJSON_AddItemToArray tree_add
#define cJSON_DetachItemViaPointer tree_detach
#define cJSON_ReplaceItemInObjectCaseSensitive tree_replace
#define cJSON_IsArray tree_is_array
#define cJSON_IsBool tree_is_bool
#define cJSON_IsNull tree_is_null
#define cJSON_IsNumber tree_is_number
#define cJSON_IsObject tree_is_object
#define cJSON_IsString tree_is_string
#define cJSON_IsTrue tree_is_true
#include "../../../client/json_tree.c"

int tree_kind(const cJSON *item);
int tree_kind(const cJSON *item)
{
    return (tree_is_array(item) ? cJSON_Array : 0) | (tree_is_object(item) ? cJSON_Object : 0) |
           (tree_is_bool(item) ? tree_is_true(item) ? cJSON_True : cJSON_False : 0) |
           (tree_is_null(item) ? cJSON_NULL : 0) | (tree_is_number(item) ? cJSON_Number : 0) |
           (tree_is_string(item) ? cJSON_String : 0);
}
