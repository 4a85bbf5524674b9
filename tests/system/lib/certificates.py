"""Authorities and certificates, made with openssl(1)."""

import os
import subprocess

_EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


class Authority:
    """NAME.crt and NAME.key in a directory; issues more of them there."""

    def __init__(self, directory, name):
        self.directory = directory
        self.name = name
        self._openssl("req", "-x509", *_EC, "-days", "2", "-subj", f"/CN={name}", "-addext",
                      "keyUsage=critical,keyCertSign,cRLSign", "-keyout", f"{name}.key", "-out",
                      f"{name}.crt")

    def _openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.directory, check=True, capture_output=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def issue(self, name, names=("IP:127.0.0.1", "DNS:localhost"), subject=None, expired=False,
              key=("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
        """NAME.crt and NAME.key, for these names; an expired one has been so since yesterday."""
        with open(self.path(f"{name}.ext"), "w", encoding="ascii") as file:
            file.write("authorityKeyIdentifier=keyid\n")
            file.write("subjectAltName=" + ",".join(names) + "\n" if names else "")
        self._openssl("req", *key, "-nodes", "-subj", subject or f"/CN={name}", "-keyout",
                      f"{name}.key", "-out", f"{name}.csr")
        if expired:
            self._issue_expired(name)
            return
        self._openssl("x509", "-req", "-days", "2", "-in", f"{name}.csr", "-CA",
                      f"{self.name}.crt", "-CAkey", f"{self.name}.key", "-CAcreateserial",
                      "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def _issue_expired(self, name):
        """Uses ca(1), which takes dates in every version of OpenSSL."""
        with open(self.path("ca.conf"), "w", encoding="ascii") as file:
            file.write("[ca]\ndefault_ca = own\n[own]\ndatabase = ca.index\n"
                       "new_certs_dir = .\nrand_serial = yes\nunique_subject = no\n"
                       "default_md = sha256\npolicy = any\n[any]\ncommonName = supplied\n")
        with open(self.path("ca.index"), "a", encoding="ascii"):
            pass
        self._openssl("ca", "-batch", "-notext", "-config", "ca.conf", "-in", f"{name}.csr",
                      "-cert", f"{self.name}.crt", "-keyfile", f"{self.name}.key",
                      "-startdate", "20200101000000Z", "-enddate", "20200102000000Z",
                      "-extfile", f"{name}.ext", "-out", f"{name}.crt")
