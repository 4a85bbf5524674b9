package org.lockbroker;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** TLS as the command has it: files in PEM, and brokers whose certificate has their name. */
final class Tls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN ([A-Z ]*)PRIVATE KEY-----([^-]*)-----END");
  private static final String[] ALGORITHMS = {"EC", "RSA", "EdDSA"};

  private Tls() {}

  static SSLContext context(Path ca, Path cert, Path key) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(cert == null ? null : keys(cert, key == null ? cert : key),
          ca == null ? null : trust(ca), null);
      return context;
    } catch (IOException | GeneralSecurityException error) {
      throw LockBrokerException.of("bad-option",
          "the files for TLS can not be used: " + error.getMessage());
    }
  }

  private static TrustManager[] trust(Path ca) throws IOException, GeneralSecurityException {
    KeyStore store = empty();
    int i = 0;
    for (Certificate one : certificates(ca)) {
      store.setCertificateEntry("ca" + i++, one);
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  private static KeyManager[] keys(Path cert, Path key)
      throws IOException, GeneralSecurityException {
    KeyStore store = empty();
    store.setKeyEntry("key", privateKey(key), new char[0],
        certificates(cert).toArray(new Certificate[0]));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, new char[0]);
    return factory.getKeyManagers();
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    StringBuilder only = new StringBuilder();
    Matcher each = Pattern.compile("-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----")
        .matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
    while (each.find()) {
      only.append(each.group()).append('\n');
    }
    if (only.length() == 0) {
      throw new IOException(file + " has no certificate in PEM");
    }
    return CertificateFactory.getInstance("X.509").generateCertificates(
        new ByteArrayInputStream(only.toString().getBytes(StandardCharsets.ISO_8859_1)));
  }

  private static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
    Matcher found = KEY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
    if (!found.find() || !found.group(1).isEmpty()) {
      throw new IOException(file + " has no key in PKCS #8 (PEM, not encrypted):"
          + " `openssl pkcs8 -topk8 -nodes` makes it one");
    }
    PKCS8EncodedKeySpec spec =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(2)));
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (GeneralSecurityException error) {
        continue; // of another kind
      }
    }
    throw new IOException(file + " has a key of a kind that Java does not know");
  }

  static SSLEngine engine(SSLContext context, Address place) {
    SSLEngine engine = context.createSSLEngine(place.host, place.port());
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    return engine;
  }
}
