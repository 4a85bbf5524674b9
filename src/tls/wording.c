/*
 * Says what is wrong with a handshake and what to do about it, with the names
 * that engine->words has for the settings.
 */
#include "config.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "relay/packet.h"
#include "tls/pipe.h"
#include "tls/wording.h"

#define NAMES_MAX 32
#define NAME_BYTES_MAX 255

/* Is the text fit to be compared and logged? */
static bool
is_sound(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	return n > 0 && n <= NAME_BYTES_MAX;
}

typedef void each_name(void *arg, const char *text);

static void
give(each_name *each, void *arg, const char *kind, const void *s, int n)
{
	char text[16 + NAME_BYTES_MAX + 1];

	if (n <= 0 || !is_sound(s, (size_t)n))
		return;
	snprintf(text, sizeof(text), "%s%.*s", kind, n, (const char *)s);
	each(arg, text);
}

/*
 * Prints the subject as in RFC 2253: a comma within a value must not look like
 * a separator, or a client that may choose its CN could choose the rest of the
 * subject, too.
 */
static void
print_name(const X509_NAME *name, each_name *each, void *arg)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text;
	long n;

	if (bio == NULL)
		return;
	if (X509_NAME_print_ex(
		bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0) {
		n = BIO_get_mem_data(bio, &text);
		give(each, arg, "", text, (int)n);
	}
	BIO_free(bio);
}

/* A CN counts only if there is exactly one. */
static void
common_name(const X509_NAME *subject, each_name *each, void *arg)
{
	int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	X509_NAME *alone = X509_NAME_new();

	if (alone != NULL && at >= 0 &&
	    X509_NAME_get_index_by_NID(subject, NID_commonName, at) < 0 &&
	    X509_NAME_add_entry(
		alone, X509_NAME_get_entry(subject, at), -1, 0) == 1)
		print_name(alone, each, arg);
	X509_NAME_free(alone);
}

static void
one_other(const GENERAL_NAME *name, each_name *each, void *arg)
{
	const ASN1_IA5STRING *value;
	const char *kind;

	if (name->type == GEN_DNS) {
		kind = "DNS:";
		value = name->d.dNSName;
	} else if (name->type == GEN_URI) {
		kind = "URI:";
		value = name->d.uniformResourceIdentifier;
	} else {
		return;
	}
	give(each, arg, kind, ASN1_STRING_get0_data(value),
	    ASN1_STRING_length(value));
}

static void
each_of(X509 *cert, each_name *each, void *arg)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	GENERAL_NAMES *others =
	    X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	int i;

	common_name(subject, each, arg);
	if (X509_NAME_entry_count(subject) > 1)
		print_name(subject, each, arg);
	for (i = 0; i < sk_GENERAL_NAME_num(others) && i < NAMES_MAX; i++)
		one_other(sk_GENERAL_NAME_value(others, i), each, arg);
	GENERAL_NAMES_free(others);
}

static void
add_name(void *arg, const char *text)
{
	packet_add(arg, text);
}

void
wording_add(struct packet *packet, const struct pipe *p)
{
	X509 *cert = SSL_get_peer_certificate(p->ssl);

	if (cert != NULL && SSL_get_verify_result(p->ssl) == X509_V_OK &&
	    SSL_get_verify_mode(p->ssl) != SSL_VERIFY_NONE)
		each_of(cert, add_name, packet);
	X509_free(cert);
}

static void
list_name(void *arg, const char *text)
{
	struct buf *list = arg;

	if (buf_len(list) < 200)
		buf_addf(list, "%s%s", buf_len(list) > 0 ? ", " : "", text);
}

static void
add_time(struct buf *out, const ASN1_TIME *time)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(time, &tm) == 1)
		buf_addf(out, "%04d-%02d-%02d %02d:%02d UTC", tm.tm_year + 1900,
		    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);
}

static void
why_wrong_name(const struct pipe *p, X509 *cert, struct buf *out)
{
	struct buf list;

	buf_init(&list);
	each_of(cert, list_name, &list);
	buf_addf(out,
	    "the server's certificate is valid for %.*s only; connect by one "
	    "of these names%s",
	    (int)buf_len(&list), buf_len(&list) > 0 ? buf_data(&list) : "none",
	    p->engine->words.names);
	buf_fini(&list);
}

static void
why_unknown(const struct pipe *p, struct buf *out)
{
	if (p->place)
		buf_adds(out, "the client's certificate is not signed by a "
			      "CA in client_ca");
	else
		buf_addf(out,
		    "the server's certificate is not signed by a trusted CA; "
		    "set %s to its CA file",
		    p->engine->words.ca);
}

/* Says why we refuse the peer's certificate. */
static void
why_certificate(const struct pipe *p, struct buf *out)
{
	const char *whose = p->place ? "client" : "server";
	X509 *cert = p->refused;

	switch (p->refused_why) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		buf_addf(out, "the %s's certificate expired at ", whose);
		add_time(out, X509_get0_notAfter(cert));
		buf_addf(out, ": renew it at the %s", whose);
		break;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		buf_addf(out, "the %s's certificate is valid from ", whose);
		add_time(out, X509_get0_notBefore(cert));
		buf_adds(out, " only: check the clocks of both hosts");
		break;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		why_wrong_name(p, cert, out);
		break;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		why_unknown(p, out);
		break;
	default:
		buf_addf(out, "the %s's certificate is refused: %s", whose,
		    X509_verify_cert_error_string(p->refused_why));
	}
}

/* Why the peer refuses us. */
static const struct {
	int reason;
	const char *text;
	bool wants_cert; /* another certificate would help */
} alerts[] = {
	{ SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
	    "it requires a client certificate", true },
	{ SSL_R_TLSV1_ALERT_UNKNOWN_CA,
	    "it does not trust the CA of our certificate", true },
	{ SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "it refuses our certificate",
	    true },
	{ SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "our certificate has expired",
	    true },
	{ SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "it refuses our certificate",
	    true },
	{ SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,
	    "it refuses our certificate, requires one, or has no cipher in "
	    "common",
	    true },
	{ SSL_R_TLSV1_ALERT_ACCESS_DENIED, "it refuses our certificate", true },
	{ SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "no TLS version in common",
	    false },
	{ SSL_R_UNSUPPORTED_PROTOCOL, "no TLS version in common", false },
	{ SSL_R_NO_SHARED_CIPHER, "no cipher in common", false },
	{ SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "it sends no certificate",
	    false },
};

static bool
is_no_tls(int reason)
{
	return reason == SSL_R_WRONG_VERSION_NUMBER ||
	       reason == SSL_R_HTTP_REQUEST ||
	       reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
	       reason == SSL_R_UNEXPECTED_MESSAGE;
}

static void
why_library(const struct pipe *p, unsigned long error, struct buf *out)
{
	const char *whose = p->place ? "the client" : "the server";
	int reason = ERR_GET_REASON(error);
	const char *text = ERR_reason_error_string(error);
	size_t i;

	for (i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++) {
		if (alerts[i].reason != reason)
			continue;
		buf_addf(
		    out, "%s ends the handshake: %s", whose, alerts[i].text);
		if (alerts[i].wants_cert && !p->place)
			buf_addf(out, "; see %s", p->engine->words.cert);
		return;
	}
	if (is_no_tls(reason))
		buf_addf(out, "%s does not speak TLS: %s", whose,
		    p->place ? "use TLS for this port"
			     : "check that the port is a TLS port");
	else
		buf_addf(out, "the handshake with %s failed: %s", whose,
		    text ? text : "unknown reason");
}

void
wording_why(const struct pipe *p, int err, char why[WORDING_WHY_SIZE])
{
	unsigned long error = ERR_peek_last_error();
	struct buf out;

	buf_init(&out);
	if (p->refused)
		why_certificate(p, &out);
	else if (error && ERR_GET_LIB(error) == ERR_LIB_SSL &&
		 ERR_GET_REASON(error) != SSL_R_UNEXPECTED_EOF_WHILE_READING)
		why_library(p, error, &out);
	else
		buf_addf(&out, "%s during the handshake%s",
		    err ? strerror(err) : "the connection was closed",
		    p->place ? "" : ": check that the port is a TLS port");
	snprintf(
	    why, WORDING_WHY_SIZE, "%.*s", (int)buf_len(&out), buf_data(&out));
	buf_fini(&out);
	ERR_clear_error();
}
