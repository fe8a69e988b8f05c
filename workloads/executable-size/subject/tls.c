#include "runtime.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <string.h>

enum { STEPS = 100, TEXT_BYTES = 256 };

/* Both ends know a key beforehand, so that no certificate is needed, which would expire. */
static const unsigned char key[32] = "both ends of it know this key";
static const char identity[] = "end";

static unsigned client_key(SSL *ssl, const char *hint, char *name, unsigned name_bytes,
                           unsigned char *psk, unsigned psk_bytes)
{
    (void)ssl;
    (void)hint;
    if (name_bytes < sizeof identity || psk_bytes < sizeof key)
        return 0;
    memcpy(name, identity, sizeof identity);
    memcpy(psk, key, sizeof key);
    return sizeof key;
}

static unsigned server_key(SSL *ssl, const char *name, unsigned char *psk, unsigned psk_bytes)
{
    (void)ssl;
    if (strcmp(name, identity) != 0 || psk_bytes < sizeof key)
        return 0;
    memcpy(psk, key, sizeof key);
    return sizeof key;
}

static SSL *open_end(SSL_CTX *context, BIO *wire, int is_server)
{
    SSL *end = SSL_new(context);

    if (end == NULL || BIO_up_ref(wire) != 1)
        return end;
    SSL_set_bio(end, wire, wire);
    if (is_server)
        SSL_set_accept_state(end);
    else
        SSL_set_connect_state(end);
    return end;
}

/* Each end goes as far as it can with what the other has sent so far. */
static int shake_hands(SSL *client, SSL *server)
{
    for (int i = 0; i < STEPS; i++) {
        int client_done = SSL_do_handshake(client) == 1;
        int server_done = SSL_do_handshake(server) == 1;

        if (client_done && server_done)
            return 0;
    }
    return 1;
}

static int send_text(SSL *client, SSL *server, const char *text)
{
    char arrived[TEXT_BYTES];
    int length = (int)strlen(text);

    if (length >= TEXT_BYTES || shake_hands(client, server) != 0 ||
        SSL_write(client, text, length) != length ||
        SSL_read(server, arrived, sizeof arrived - 1) != length)
        return 1;
    arrived[length] = '\0';
    return runtime_print(SSL_get_version(server)) != 0 || runtime_print(arrived) != 0;
}

static int between(SSL_CTX *context, BIO *near, BIO *far, const char *text)
{
    SSL *client = open_end(context, near, 0);
    SSL *server = open_end(context, far, 1);
    int status = client == NULL || server == NULL || send_text(client, server, text) != 0;

    SSL_free(client);
    SSL_free(server);
    return status;
}

int runtime_tls_roundtrip(const char *text)
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    BIO *near = NULL, *far = NULL;
    int status = 1;

    if (context != NULL && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
        SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1 &&
        BIO_new_bio_pair(&near, 0, &far, 0) == 1) {
        SSL_CTX_set_psk_client_callback(context, client_key);
        SSL_CTX_set_psk_server_callback(context, server_key);
        status = between(context, near, far, text);
    }
    BIO_free(near);
    BIO_free(far);
    SSL_CTX_free(context);
    return status;
}
