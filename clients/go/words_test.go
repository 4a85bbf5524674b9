package lockbroker

import (
	"testing"
	"time"
)

func TestWordsOfAddresses(t *testing.T) {
	for given, wanted := range map[string]string{
		"":                    "", // the local one
		"lock1":               "lock1:5625",
		"lock1:7":             "lock1:7",
		":7":                  "127.0.0.1:7",
		"tcp://lock1:7":       "lock1:7",
		"tls://lock1":         "lock1:5625",
		"[::1]:7":             "[::1]:7",
		"[::1]":               "[::1]:5625",
		"::1":                 "[::1]:5625",
		"/run/x":              "/run/x",
		"unix:/run/x":         "/run/x",
		"unix:///run/x":       "/run/x",
		"redis://lock1":       "bad",
		"lock1:70000":         "bad",
		"lock1:":              "bad",
		"a b":                 "bad",
		"[::1":                "bad",
		"http://lock1:5625/x": "bad",
	} {
		t.Setenv("LOCKBROKER", "")
		places, err := parsePlaces([]string{given})
		switch {
		case given == "":
			if len(places) != 2 || places[0].network != "unix" {
				t.Error(places)
			}
		case err != nil:
			if wanted != "bad" {
				t.Error(given, err)
			}
		case places[0].address != wanted:
			t.Error(given, places[0].address)
		}
	}
	t.Setenv("LOCKBROKER", "a,b:7")
	places, err := parsePlaces(nil)
	if err != nil || len(places) != 2 || places[1].address != "b:7" {
		t.Error(places, err)
	}
}

func TestWordsOfReplies(t *testing.T) {
	r := &reply{text: "OK page=1 age=1500ms name=x=y"}
	if r.get("age") != "1500ms" || r.get("name") != "x=y" || r.get("OK") != "" || r.get("ag") != "" {
		t.Error(r)
	}
	for text, wanted := range map[string]time.Duration{"5ms": 5 * time.Millisecond, "2m": 2 * time.Minute,
		"1d": 24 * time.Hour, "0": 0, "": 0, "x": 0, "99999999999999999999s": 0, "-5ms": 0} {
		if got := parseDuration(text); got != wanted {
			t.Error(text, got)
		}
	}
	if duration(1500*time.Microsecond) != "2ms" {
		t.Error("it is not rounded up")
	}
	for text, wanted := range map[string]string{
		"BUSY":                           "held by another",
		"BUSY holder=h broker=b age=90s": "held by h through b for 1 min",
		"TIMEOUT kept=2500ms":            "not granted in time; reserved (keep= or delay=) for another 2 s",
		"ERR denied no":                  "no",
		"ERR limit":                      "limit",
		"OKAY":                           `that is no lockbroker: it says "OKAY"`,
	} {
		if got := (&reply{text: text}).err().Error(); got != "lockbroker: "+wanted {
			t.Error(text, got)
		}
	}
}

// A clock that nobody sets does not go back, and goes on.
func TestWordsOfTime(t *testing.T) {
	before := now()
	time.Sleep(2 * time.Millisecond)
	if passed := now() - before; passed < 2*time.Millisecond || passed > time.Minute {
		t.Error(passed)
	}
}
