package org.lockbroker;

import java.util.ArrayList;
import java.util.List;

/** A reply, taken apart when it is asked for its parts. */
final class Reply {
  private static final int SHOWN = 40;

  final String text;
  final boolean ok;
  final List<String> rows = new ArrayList<>(0);

  Reply(String text) {
    this.text = text;
    ok = text.startsWith("OK");
  }

  String get(String key) {
    return Words.field(text, key);
  }

  /** How many rows follow. */
  int lines() {
    String many = ok ? get("lines") : null;
    return many == null ? 0 : (int) Words.duration(many);
  }

  /** Null if it is OK, else the error that it is. */
  LockBrokerException error() {
    if (ok) {
      return null;
    }
    String[] words = text.split(" ", 3);
    switch (words[0]) {
      case "BUSY":
        return refused("busy", "");
      case "TIMEOUT":
        return refused("timeout", "not granted in time; ");
      case "CANCELLED":
        return LockBrokerException.of("cancelled", "");
      case "ERR":
        LockBrokerException error = LockBrokerException.of(
            words.length > 1 ? words[1] : "internal", words.length > 2 ? words[2] : "");
        error.again = error.code().equals("shutdown");
        return error;
      default:
        return LockBrokerException.of("unavailable", text.startsWith("-")
            ? "that is a Redis server, not a lockbroker; use port 5625"
            : "that is no lockbroker: it says \""
                + text.substring(0, Math.min(text.length(), SHOWN)) + "\"");
    }
  }

  /** ... with what the broker knows (SESSION why=yes). */
  private LockBrokerException refused(String code, String begins) {
    StringBuilder said = new StringBuilder(begins);
    String holder = get("holder");
    String broker = get("broker");
    String age = get("age");
    String before = get("before");
    String kept = get("kept");
    if (kept != null) {
      said.append("reserved (keep= or delay=) for another ").append(
          Words.span(Words.duration(kept)));
    } else {
      said.append("held by ").append(holder == null ? "another" : holder);
      said.append(broker == null ? "" : " through " + broker);
      said.append(age == null ? "" : " for " + Words.span(Words.duration(age)));
    }
    if (before != null && !before.equals("0")) {
      said.append("; ").append(before).append(" before this one");
    }
    LockBrokerException error = LockBrokerException.of(code, said.toString()).known(
        holder, broker, age == null ? null : Words.duration(age), before);
    String name = get("name");
    return name == null ? error : error.about(List.of(name));
  }

  /** Itself if it is OK, or throws the error that it is. */
  Reply check() {
    LockBrokerException error = error();
    if (error != null) {
      throw error;
    }
    return this;
  }
}
