package org.lockbroker;

import java.time.Duration;

/** Words of the protocol. */
final class Words {
  private static final String[] UNITS = {"ms", "s", "m", "h", "d"};
  private static final double[] LENGTHS = {1, 1e3, 6e4, 36e5, 864e5};
  private static final String[] SPANS = {"ms", "s", "min", "h", "d"};

  private Words() {}

  static String name(String text) {
    return word(text, "bad-name", "=");
  }

  static String option(String text) {
    return text == null ? null : word(text, "bad-option", "");
  }

  private static String word(String text, String code, String bad) {
    if (text == null) {
      throw new NullPointerException("a name is null");
    }
    if (text.isEmpty()) {
      throw LockBrokerException.of(code, "an empty text is no word");
    }
    for (int i = 0; i < text.length(); i++) {
      char one = text.charAt(i);
      boolean half = Character.isSurrogate(one) && !Character.isSurrogatePair(
          Character.isLowSurrogate(one) && i > 0 ? text.charAt(i - 1) : one,
          Character.isHighSurrogate(one) && i + 1 < text.length() ? text.charAt(i + 1) : one);
      if (one <= ' ' || one == 0x7f || half || bad.indexOf(one) >= 0) {
        throw LockBrokerException.of(code, "not a word: \"" + text.replaceAll("\\p{Cntrl}", "?")
            + "\" has " + (one == ' ' ? "a space" : String.format("U+%04X", (int) one)) + " in it");
      }
    }
    return text;
  }

  /** In milliseconds; null is for ever. */
  static double millis(Duration time, String what) {
    if (time == null) {
      return Double.POSITIVE_INFINITY;
    }
    if (time.isNegative()) {
      throw LockBrokerException.of("bad-option", what + " is negative: " + time);
    }
    return time.getSeconds() * 1e3 + time.getNano() / 1e6;
  }

  /** The word for an option, if it is given. */
  static String optional(String what, double ms) {
    return ms == Double.POSITIVE_INFINITY ? "" : " " + what + "=" + (long) Math.ceil(ms) + "ms";
  }

  /** A duration that a broker said; 0 if it is none. */
  static double duration(String text) {
    if (text == null) {
      return 0;
    }
    int end = 0;
    while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    double number = end == 0 ? 0 : Double.parseDouble(text.substring(0, end));
    for (int i = 0; i < UNITS.length; i++) {
      if (UNITS[i].equals(text.substring(end))) {
        return number * LENGTHS[i];
      }
    }
    return number;
  }

  /** For people. */
  static String span(double ms) {
    int i = LENGTHS.length - 1;
    while (i > 0 && ms < LENGTHS[i]) {
      i--;
    }
    return (long) (ms / LENGTHS[i]) + " " + SPANS[i];
  }

  /** The value of a word KEY=VALUE, but not of the first. */
  static String field(String text, String key) {
    String wanted = " " + key + "=";
    int at = text.indexOf(wanted);
    if (at < 0) {
      return null;
    }
    int from = at + wanted.length();
    int end = text.indexOf(' ', from);
    return end < 0 ? text.substring(from) : text.substring(from, end);
  }
}
