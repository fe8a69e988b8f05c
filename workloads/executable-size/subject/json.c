#include "runtime.h"

#include <cjson/cJSON.h>
#include <stddef.h>

static int print_with_sum(cJSON *object)
{
    const cJSON *number;
    double sum = 0;
    char *text;
    int status;

    cJSON_ArrayForEach (number, cJSON_GetObjectItemCaseSensitive(object, "numbers"))
        sum += cJSON_GetNumberValue(number);
    if (cJSON_AddNumberToObject(object, "sum", sum) == NULL)
        return 1;
    text = cJSON_PrintUnformatted(object);
    if (text == NULL)
        return 1;
    status = runtime_print(text);
    cJSON_free(text);
    return status;
}

int runtime_json_sum(const char *json)
{
    cJSON *object = cJSON_Parse(json);
    int status = object == NULL || print_with_sum(object);

    cJSON_Delete(object);
    return status;
}
