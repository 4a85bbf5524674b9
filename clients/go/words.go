package lockbroker

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	localSocket = "/run/lockbrokerd/lockbrokerd.sock"
	port        = "5625"
)

// Words of the protocol.

// checkWord refuses what would not be one word of a request.
func checkWord(text, code string) error {
	bad := strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || (r == '=' && code == "bad-name")
	})
	switch {
	case text == "":
		return &Error{Code: code, Text: `"" is not a word`}
	case bad >= 0:
		return &Error{Code: code, Text: fmt.Sprintf("%q is not a word: it has %q in it",
			text, text[bad:bad+1])}
	case !utf8.ValidString(text):
		return &Error{Code: code, Text: fmt.Sprintf("%q is not UTF-8", text)}
	}
	return nil
}

// duration is rounded up.
func duration(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10) + "ms"
}

var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour,
}

func parseDuration(text string) time.Duration {
	digits := strings.TrimRight(text, "mshd")
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || number < 0 || number > 1<<42 {
		return 0
	}
	return time.Duration(number) * units[text[len(digits):]]
}

// span is for people.
func span(d time.Duration) string {
	for _, one := range []struct {
		unit   string
		length time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if d >= one.length {
			return fmt.Sprintf("%d %s", d/one.length, one.unit)
		}
	}
	return fmt.Sprintf("%d ms", d/time.Millisecond)
}

// A reply of a broker, and the lines that belong to it.
type reply struct {
	text string
	rows []string
}

func (r *reply) isOK() bool {
	return r.text == "OK" || strings.HasPrefix(r.text, "OK ")
}

func (r *reply) get(key string) string {
	return field(r.text, key)
}

func (r *reply) number(key string) int {
	number, _ := strconv.Atoi(r.get(key))
	return number
}

// field is the value of a word KEY=VALUE, but not of the first.
func field(text, key string) string {
	for {
		at := strings.Index(text, key)
		if at < 0 {
			return ""
		}
		after := at + len(key)
		if at > 0 && text[at-1] == ' ' && after < len(text) && text[after] == '=' {
			value, _, _ := strings.Cut(text[after+1:], " ")
			return value
		}
		text = text[after:]
	}
}

// err is nil if the reply is OK, else the error that it is.
func (r *reply) err() error {
	if r.isOK() {
		return nil
	}
	status, rest, _ := strings.Cut(r.text, " ")
	switch status {
	case "BUSY":
		return r.refused("busy", "")
	case "TIMEOUT":
		return r.refused("timeout", "not granted in time; ")
	case "CANCELLED":
		return &Error{Code: "cancelled", Text: "the wait was cancelled"}
	case "ERR":
		code, text, _ := strings.Cut(rest, " ")
		return &Error{Code: code, Text: text, again: code == "shutdown"}
	}
	return &Error{Code: "unavailable", Text: strangers(r.text)}
}

// strangers says what somebody is who is no broker.
func strangers(text string) string {
	switch {
	case strings.HasPrefix(text, "-"):
		return "that is a Redis server, not a lockbroker; use port 5625"
	case strings.HasPrefix(text, "HTTP"):
		return "that speaks HTTP, and is no lockbroker"
	case len(text) > 40:
		text = text[:40]
	}
	return fmt.Sprintf("that is no lockbroker: it says %q", text)
}

// refused tells what the broker knows (SESSION why=yes).
func (r *reply) refused(code, begins string) *Error {
	e := &Error{Code: code, Holder: r.get("holder"), Broker: r.get("broker"),
		Age: parseDuration(r.get("age")), Before: r.number("before")}
	text := []string{begins}
	if kept := r.get("kept"); kept != "" {
		text = append(text, "reserved (keep= or delay=) for another ",
			span(parseDuration(kept)))
	} else {
		holder := e.Holder
		if holder == "" {
			holder = "another"
		}
		text = append(text, "held by ", holder)
		if e.Broker != "" {
			text = append(text, " through ", e.Broker)
		}
		if r.get("age") != "" {
			text = append(text, " for ", span(e.Age))
		}
	}
	if e.Before > 0 {
		text = append(text, fmt.Sprintf("; %d before this one", e.Before))
	}
	e.Text = strings.Join(text, "")
	if name := r.get("name"); name != "" {
		e.Names = []string{name}
	}
	return e
}

// nextLine cuts the first line off, without its end.
func nextLine(data []byte) (line string, rest []byte, ok bool) {
	at := bytes.IndexByte(data, '\n')
	if at < 0 {
		return "", data, false
	}
	return string(bytes.TrimSuffix(data[:at], []byte("\r"))), data[at+1:], true
}

// Where brokers are.

// A place is where a broker may be.
type place struct {
	text    string
	network string
	address string
	host    string
	secure  bool
	failed  time.Duration // when it did not answer, by now()
}

// never is when nothing has failed.
const never = -1 << 62

// isBad: what did not answer a moment ago is tried last.
func (p *place) isBad() bool {
	return now() < p.failed+failedFor
}

// parsePlace understands HOST:PORT, :PORT, HOST, and the path of a Unix socket,
// each perhaps after tls://, tcp:// or unix:.
func parsePlace(given string) (*place, error) {
	p := &place{text: given, failed: never, network: "tcp"}
	text := given
	for _, scheme := range []string{"tls://", "tcp://", "unix://", "unix:"} {
		if rest, ok := strings.CutPrefix(given, scheme); ok {
			text, p.secure = rest, scheme == "tls://"
			break
		}
	}
	if strings.HasPrefix(text, "/") {
		p.network, p.address = "unix", text
		return p, nil
	}
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		return nil, badOption("%s:// is no way to a lockbroker; an address is "+
			"HOST:PORT, tls://HOST:PORT or a path", scheme)
	}
	host, number := text, port
	if net.ParseIP(text) == nil {
		bare, begins := strings.CutPrefix(text, "[")
		bare, ends := strings.CutSuffix(bare, "]")
		if begins && ends && net.ParseIP(bare) != nil {
			host = bare
		} else if strings.Contains(text, ":") {
			var err error
			if host, number, err = net.SplitHostPort(text); err != nil {
				return nil, badOption("%q is not an address", given)
			}
		}
	}
	if _, err := strconv.ParseUint(number, 10, 16); err != nil || strings.ContainsAny(host, " /") {
		return nil, badOption("%q is not an address", given)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	p.host, p.address = host, net.JoinHostPort(host, number)
	return p, nil
}

// parsePlaces takes $LOCKBROKER where none is given, and else the local broker.
func parsePlaces(given []string) ([]*place, error) {
	var texts []string
	for _, list := range []string{strings.Join(given, ","), os.Getenv("LOCKBROKER"),
		localSocket + ",127.0.0.1:" + port} {
		for _, one := range strings.Split(list, ",") {
			if one != "" {
				texts = append(texts, one)
			}
		}
		if texts != nil {
			break
		}
	}
	var places []*place
	for _, one := range texts {
		p, err := parsePlace(one)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}
