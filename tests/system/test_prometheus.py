"""Prometheus and Grafana: the files in conf/ for them, and a real Prometheus that scrapes a broker."""

import json
import os
import re
import shutil
import subprocess
import unittest

from lib import http
from lib.manual import SOURCE
from lib.ports import free_port
from lib.wait import eventually
from test_http import Web


class Conf(Web):
    """The files in conf/ for Prometheus and Grafana."""

    def promtool(self, *arguments):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed")
        done = subprocess.run(["promtool", *arguments], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    @staticmethod
    def dashboard():
        with open(os.path.join(SOURCE, "conf", "lockbroker-dashboard.json"),
                  encoding="utf-8") as file:
            return json.load(file)

    def queries(self):
        return [target["expr"] for panel in self.dashboard()["panels"]
                for target in panel.get("targets", [])]

    def test_the_alerts_are_well_formed(self):
        self.promtool("check", "rules", os.path.join(SOURCE, "conf", "lockbroker-alerts.yaml"))

    def test_the_alerts_tell_what_they_are_for(self):
        rules = os.path.join(SOURCE, "conf", "lockbroker-alerts.yaml")
        path = os.path.join(self.directory, "test.yaml")
        with open(os.path.join(SOURCE, "tests", "system", "alerts_test.yaml"),
                  encoding="utf-8") as file:
            text = file.read().replace("[RULES]", f"[{rules}]")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.promtool("test", "rules", path)

    def test_the_dashboard_is_well_formed(self):
        panels = self.dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        path = os.path.join(self.directory, "queries.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("groups:\n  - name: queries\n    rules:\n")
            for number, query in enumerate(self.queries()):
                query = query.replace("$__rate_interval", "5m")
                file.write(f"      - record: q{number}\n        expr: {json.dumps(query)}\n")
        self.promtool("check", "rules", path)

    def test_they_ask_for_what_there_is(self):
        web = self.web()
        there = set()
        for name, kind in http.families(web.get("/metrics").text).items():
            there |= {name + end for end in ("_bucket", "_count", "_sum")} \
                if kind == "histogram" else {name}
        with open(os.path.join(SOURCE, "conf", "lockbroker-alerts.yaml"), encoding="utf-8") as file:
            asked = set(re.findall(r"\b(?:lockbrokerd|process)_[a-z_]+", file.read()))
        for query in self.queries():
            asked |= set(re.findall(r"\b(?:lockbrokerd|process)_[a-z_]+", query))
        self.assertGreater(len(asked), 20)
        # This one is left out without TLS.
        there.add("lockbrokerd_tls_certificate_expiry_timestamp_seconds")
        self.assertEqual(asked - there, set())


class RealPrometheus(Web):
    limit = 90

    def test_it_scrapes_without_a_complaint(self):
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        web = self.web()
        self.client().lock("a")
        port = free_port()
        config = os.path.join(self.directory, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                       "scrape_configs:\n  - job_name: lockbroker\n    static_configs:\n"
                       f"      - targets: ['127.0.0.1:{web.port}']\n")
        log = open(os.path.join(self.directory, "prometheus.log"), "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}",
             f"--storage.tsdb.path={self.directory}/tsdb"], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        asks = http.Http(port, version="1.0")  # so that nothing is chunked
        eventually(lambda: self.held(asks) == "1", 40, "it has scraped")
        targets = asks.get("/api/v1/targets").json["data"]["activeTargets"]
        self.assertEqual([(t["health"], t["lastError"]) for t in targets], [("up", "")])
        kinds = asks.get("/api/v1/metadata").json["data"]
        # In the format of OpenMetrics, for which it asks.
        self.assertEqual(kinds["lockbrokerd_grants"][0]["type"], "counter")
        with open(log.name, encoding="utf-8") as file:
            said = [line for line in file if re.search(r"level=(warn|error)", line)]
        self.assertEqual(said, [])

    @staticmethod
    def held(asks):
        try:
            answer = asks.get("/api/v1/query?query=lockbrokerd_locks_held")
        except OSError:
            return None
        if answer.status != 200:  # it is starting
            return None
        result = answer.json["data"]["result"]
        return result[0]["value"][1] if result else None


if __name__ == "__main__":
    unittest.main()
