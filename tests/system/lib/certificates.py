"""Authorities and certificates, made with openssl(1)."""

import os
import subprocess

_EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


class Authority:
    """NAME.crt and NAME.key in a directory; issues more of them there."""

    def __init__(self, directory, name):
        self.directory = directory
        self.name = name
        self._openssl("req", "-x509", *_EC, "-days", "2", "-subj", f"/CN={name}", "-keyout",
                      f"{name}.key", "-out", f"{name}.crt")

    def _openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.directory, check=True, capture_output=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def issue(self, name, names=("IP:127.0.0.1", "DNS:localhost"), subject=None, expired=False,
              key=("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
        """NAME.crt and NAME.key, for these names; an expired one has been so since yesterday."""
        with open(self.path(f"{name}.ext"), "w", encoding="ascii") as file:
            file.write("subjectAltName=" + ",".join(names) + "\n" if names else "")
        self._openssl("req", *key, "-nodes", "-subj", subject or f"/CN={name}", "-keyout",
                      f"{name}.key", "-out", f"{name}.csr")
        days = "-1" if expired else "2"
        self._openssl("x509", "-req", "-days", days, "-in", f"{name}.csr", "-CA",
                      f"{self.name}.crt", "-CAkey", f"{self.name}.key", "-CAcreateserial",
                      "-extfile", f"{name}.ext", "-out", f"{name}.crt")
