/* See basic.h. */
#include "config.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "http/basic.h"

static int
digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *at = c == '\0' ? NULL : strchr(digits, c);

	return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes base64 (RFC 4648, 4), whose padding may be missing. */
static bool
decode(struct buf *out, const char *text)
{
	size_t n = strcspn(text, "= "), i;
	uint32_t bits = 0;
	int value;

	if (strspn(text + n, "= ") != strlen(text + n) || n % 4 == 1)
		return false;
	for (i = 0; i < n; i++) {
		value = digit(text[i]);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		if (i % 4 != 0)
			buf_addc(out, (char)(bits >> (6 - i % 4 * 2)));
	}
	return true;
}

bool
basic_parse(const char *header, struct buf *mem, struct span *user,
    struct span *password)
{
	static const char scheme[] = "Basic ";
	const char *colon;

	if (strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
		return false;
	header += sizeof(scheme) - 1;
	(void)buf_reserve(mem, strlen(header) + 1); /* then nothing moves */
	if (!decode(mem, header + strspn(header, " ")) || buf_len(mem) == 0)
		return false;
	colon = memchr(buf_data(mem), ':', buf_len(mem));
	if (colon == NULL)
		return false;
	*user = (struct span){ buf_data(mem), (size_t)(colon - buf_data(mem)) };
	*password = (struct span){ colon + 1, buf_len(mem) - user->n - 1 };
	return true;
}
