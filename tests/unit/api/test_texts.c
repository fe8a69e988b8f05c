/* Texts in pieces: what is kept for whom, for how long, and what is rendered anew. */
#include "world.h"

#include "api/internal.h"
#include "base/files.h"
#include "proto/form/base64.h"

#define PIECE ((int64_t)API_CHUNK_BYTES)

/* A call as a method sees it, answered into o. */
struct call {
    struct api_call c;
    struct json_out o;
    struct buf out;
};

static void begin(struct call *x, struct world *w, struct peer *p)
{
    *x = (struct call){.c = {.api = w->api, .session = p->s}};
    json_out_init(&x->o, &x->out);
    x->c.o = &x->o;
    json_begin(&x->o, NULL);
}

static void end(struct call *x)
{
    buf_deinit(&x->out);
    arena_deinit(&x->c.arena);
}

/* The piece as told: its first byte in *first, its members checked against the whole. */
static void check_piece(struct call *x, const char *text, size_t len, int64_t offset)
{
    CLEANUP(buf_deinit) struct buf data = {0};
    char sha256[DIGEST_HEX];
    cJSON *doc = NULL;
    struct err e = {0};

    json_end(&x->o);
    assert_int_equal(json_parse_max(x->out.data, x->out.len, 1 << 20, &doc, &e), 0);
    const char *told = cJSON_GetObjectItem(doc, "data")->valuestring;
    assert_int_equal(base64_decode(told, strlen(told), &data), 0);
    size_t want = offset >= (int64_t)len ? 0 : len - (size_t)offset;
    assert_int_equal(data.len, want < API_CHUNK_BYTES ? want : API_CHUNK_BYTES);
    assert_memory_equal(buf_str(&data), text + len - want, data.len);
    assert_int_equal((int64_t)cJSON_GetObjectItem(doc, "total")->valuedouble, len);
    assert_int_equal((int64_t)cJSON_GetObjectItem(doc, "next")->valuedouble,
                     (int64_t)(len - want + data.len));
    digest_bytes(text, len, sha256);
    assert_string_equal(cJSON_GetObjectItem(doc, "sha256")->valuestring, sha256);
    cJSON_Delete(doc);
}

/* Asks for a piece; true: it had to be made, of len times fill. */
static bool ask(struct world *w, struct peer *p, const char *key, int64_t offset, size_t len,
                char fill)
{
    struct call x;
    struct api_text text = {.key = key, .offset = offset};
    CLEANUP(mem_freep) char *whole = mem_alloc(len + 1);

    memset(whole, fill, len);
    begin(&x, w, p);
    bool kept = api_text_put_kept(&x.c, &text);
    if (!kept) {
        buf_add(&text.out, whole, len);
        api_text_finish(&text);
        api_text_put(&x.c, &text);
    }
    check_piece(&x, whole, len, offset);
    end(&x);
    return !kept;
}

static void a_text_is_made_once_for_all_its_pieces(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    size_t len = 3 * API_CHUNK_BYTES + 5;

    assert_true(ask(w, p, "a", 0, len, 'x'));
    assert_false(ask(w, p, "a", PIECE, len, 'x'));
    assert_false(ask(w, p, "a", 2 * PIECE, len, 'x'));
    assert_false(ask(w, p, "a", 2 * PIECE, len, 'x')); /* again */
    assert_false(ask(w, p, "a", 3 * PIECE, len, 'x'));
    assert_null(w->api->texts); /* the last piece was fetched */
    assert_true(ask(w, p, "a", 3 * PIECE, len, 'x'));
    assert_null(w->api->texts);
}

static void what_fits_into_one_piece_is_not_kept(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    assert_true(ask(w, p, "a", 0, 0, 'x'));
    assert_true(ask(w, p, "a", 0, API_CHUNK_BYTES, 'x'));
    assert_true(ask(w, p, "a", 9 * PIECE, API_CHUNK_BYTES, 'x')); /* beyond its end: nothing */
    assert_null(w->api->texts);
}

static void who_begins_anew_gets_it_as_it_is_now(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    size_t len = 2 * API_CHUNK_BYTES;

    assert_true(ask(w, p, "a", 0, len, 'x'));
    assert_true(ask(w, p, "a", 0, len, 'y'));
    assert_false(ask(w, p, "a", PIECE, len, 'y'));
}

static void each_question_and_each_connection_has_its_own(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w), *other = world_peer(w);
    size_t len = 2 * API_CHUNK_BYTES;

    assert_true(ask(w, p, "a", 0, len, 'x'));
    assert_true(ask(w, p, "b", 0, len, 'y'));
    assert_true(ask(w, other, "a", 0, len, 'z'));
    assert_false(ask(w, p, "b", PIECE, len, 'y'));
    assert_false(ask(w, other, "a", PIECE, len, 'z'));
    assert_false(ask(w, p, "a", PIECE, len, 'x'));
}

static void of_more_than_8_the_longest_unused_goes_and_is_made_anew(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    size_t len = 2 * API_CHUNK_BYTES + 1;

    for (char key[] = "a"; key[0] <= 'h'; key[0]++)
        assert_true(ask(w, p, key, 0, len, key[0]));
    assert_false(ask(w, p, "a", PIECE, len, 'a')); /* used: b is the oldest now */
    assert_true(ask(w, p, "i", 0, len, 'i'));
    assert_true(ask(w, p, "b", PIECE, len, 'b'));
    assert_false(ask(w, p, "a", PIECE, len, 'a'));
}

static void together_they_have_64_mib_at_most(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    size_t len = (size_t)30 << 20;

    assert_true(ask(w, p, "a", 0, len, 'a'));
    assert_true(ask(w, p, "b", 0, len, 'b'));
    assert_true(ask(w, p, "c", 0, len, 'c'));
    assert_true(ask(w, p, "a", PIECE, len, 'a'));
    assert_false(ask(w, p, "c", PIECE, len, 'c'));
}

static void what_is_kept_ends_with_its_connection(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    assert_true(ask(w, p, "a", 0, 2 * API_CHUNK_BYTES, 'x'));
    assert_non_null(w->api->texts);
    world_leave(p);
    assert_null(w->api->texts);
}

static void nothing_is_kept_for_who_left_while_it_was_made(void **state)
{
    struct world *w = *state;
    struct peer nobody = {0};
    struct call x;
    struct api_text text = {.key = "a"};

    begin(&x, w, &nobody);
    buf_reserve(&text.out, 2 * API_CHUNK_BYTES);
    memset(text.out.data, 'x', 2 * API_CHUNK_BYTES);
    text.out.len = 2 * API_CHUNK_BYTES;
    api_text_finish(&text);
    api_text_put(&x.c, &text);
    end(&x);
    assert_null(w->api->texts);
}

static void a_file_is_read_where_it_is_asked_for_and_no_further(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *path = arena_printf(&w->arena, "%s/file", w->folder);
    size_t len = API_CHUNK_BYTES + 10;
    CLEANUP(mem_freep) char *whole = mem_alloc(len);
    char sha256[DIGEST_HEX];

    for (size_t i = 0; i < len; i++)
        whole[i] = (char)i;
    digest_bytes(whole, len, sha256);
    assert_int_equal(file_write(path, whole, len, 0600, NULL), 0);
    for (int64_t offset = 0; offset < 2 * PIECE; offset += 65535) {
        struct api_piece piece = {.offset = offset};
        struct err e = {0};
        struct call x;
        begin(&x, w, p);
        assert_int_equal(api_piece_read(path, &piece, &e), 0);
        api_piece_put(&x.c, &piece, sha256);
        check_piece(&x, whole, len, offset);
        buf_deinit(&piece.data);
        end(&x);
    }
    struct api_piece piece = {0};
    struct err e = {0};
    assert_true(api_piece_read(w->folder, &piece, &e) < 0);
    assert_true(err_is_set(&e));
    buf_deinit(&piece.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_text_is_made_once_for_all_its_pieces),
        WORLD_TEST(what_fits_into_one_piece_is_not_kept),
        WORLD_TEST(who_begins_anew_gets_it_as_it_is_now),
        WORLD_TEST(each_question_and_each_connection_has_its_own),
        WORLD_TEST(of_more_than_8_the_longest_unused_goes_and_is_made_anew),
        WORLD_TEST(together_they_have_64_mib_at_most),
        WORLD_TEST(what_is_kept_ends_with_its_connection),
        WORLD_TEST(nothing_is_kept_for_who_left_while_it_was_made),
        WORLD_TEST(a_file_is_read_where_it_is_asked_for_and_no_further),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
