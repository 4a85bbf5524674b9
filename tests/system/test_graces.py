"""Who gets a place for grace=, where there are users. Without them: test_sessions."""

from test_users import HASH, SECRET, Users, user


class Places(Users):
    def test_one_user_leaves_others_places_for_grace(self):
        broker = self.prepare(user("eve", hash=HASH, lock=["eve/*"]),
                              user("bob", hash=HASH, lock=["*"]), anonymous={"lock": ["*"]},
                              limits={"clients": 12})
        eves = [self.known("eve") for _ in range(9)]
        for number, client in enumerate(eves):
            client.ok("SESSION grace=5m")
            client.ok(f"LOCK eve/{number}")
        self.known("eve").err("SESSION grace=5m", "limit")
        # Nor does she get more by being somebody else first.
        other = self.client()
        other.ok("SESSION grace=5m")
        other.err(f"AUTH eve {SECRET}", "limit")
        other.ok("SESSION grace=0")
        other.ok(f"AUTH eve {SECRET}")
        self.assertTrue(broker.log_lines("grace-exhausted.* user=eve"))
        for client in eves:
            client.close()
        victim = self.known("bob", tcp=True)
        key = victim.ok("SESSION grace=5m")["key"]
        victim.ok("LOCK precious")
        victim.reset()
        self.assertEqual(self.known("bob").ask("TRYLOCK precious").status, "BUSY")
        self.assertEqual(self.known("bob").ok(f"RESUME key={key}")["locks"], "1")
