/*
 * Makes the parts of the page from what /status.json says. Names and labels are
 * from strangers: they become text, never HTML, and links only with their
 * special characters encoded.
 */
var draw = (function () {
	"use strict";
	var SVG = "http://www.w3.org/2000/svg";
	var MINUTE = 60000, LONG_WAIT = MINUTE, RECENT = 10 * MINUTE;
	var CLASSES = 24, LOSSES = 20;
	var MOMENT = 5000; /* without a loss, and the next is another matter */
	/* So many losses the broker remembers, of all names. */
	var REMEMBERED = 100;
	/* What can't be seen, or changes the direction of text around it. */
	var UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
	var ENDS = {
		"released": "released",
		"dropped": "its client disconnected",
		"held": "is held",
		"hold": "it reached its hold= limit",
		"unreachable": "Redis was unreachable for too long to renew it",
		"taken": "its key in Redis was deleted or overwritten",
		"failover": "Redis failed over or was restarted",
		"forced": "released by force",
		"shutdown": "the broker stopped",
		"given-up": "released while at risk"
	};

	/* Text. */

	function visible(text) {
		text = String(text);
		return text.replace(UNSEEN, function (c) {
			var code = c.codePointAt(0).toString(16);
			return "\\u" + code.padStart(4, "0");
		});
	}
	function number(n) {
		return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
	}
	function count(n, one, many) {
		return number(n) + " " + (n === 1 ? one : many);
	}
	function units(n, unit, part, small) {
		return n + "\u00a0" + unit + (small ? " " + part + "\u00a0" + small : "");
	}
	function duration(ms) {
		var s = Math.floor(ms / 1000), min = Math.floor(s / 60);
		var h = Math.floor(min / 60);
		if (s < 1)
			return units(Math.max(0, Math.floor(ms)), "ms");
		if (min < 1)
			return units(s, "s");
		if (min < 10)
			return units(min, "min", s % 60, "s");
		if (h < 1)
			return units(min, "min");
		if (h < 24)
			return units(h, "h", min % 60, "min");
		return units(Math.floor(h / 24), "d", h % 24, "h");
	}
	/* The time on the broker's clock, as its log has it. */
	function clock(ms) {
		return new Date(ms).toISOString().slice(11, 19);
	}
	function sentence(text) {
		return text.charAt(0).toUpperCase() + visible(text.slice(1)) + ".";
	}

	/* Elements. */

	function fill(e, attributes, children) {
		Object.keys(attributes || {}).forEach(function (key) {
			e.setAttribute(key, attributes[key]);
		});
		children.forEach(function (child) {
			if (child !== null && child !== undefined)
				e.append(child);
		});
		return e;
	}
	function el(tag, attributes) {
		return fill(document.createElement(tag), attributes,
			Array.prototype.slice.call(arguments, 2));
	}
	function svg(tag, attributes) {
		return fill(document.createElementNS(SVG, tag), attributes,
			Array.prototype.slice.call(arguments, 2));
	}
	function strange(text) {
		return el("bdi", { title: visible(text) }, visible(text));
	}
	function tag(kind, text) {
		return el("span", { "class": "tag " + kind }, text);
	}
	function link(name) {
		return el("a", { "class": "name", title: visible(name),
			href: "/?name=" + encodeURIComponent(name) },
		el("bdi", null, visible(name)));
	}
	/* A cell; `head` stands before it where there is no room for columns. */
	function cell(kind, head) {
		var e = el("td", kind ? { "class": kind } : null);
		if (head)
			e.setAttribute("data-k", head);
		return fill(e, null, Array.prototype.slice.call(arguments, 2));
	}
	function time_cell(head, ms) {
		return cell("num", head, ms === undefined ? null : duration(ms));
	}
	function row(name) {
		return fill(el("tr", null, el("th", { scope: "row" }, name)), null,
			Array.prototype.slice.call(arguments, 1));
	}
	/* Heads that begin with # are of numbers. */
	function table(kind, heads, rows) {
		var line = el("tr");
		heads.forEach(function (head) {
			var right = head.charAt(0) === "#";
			line.append(el("th", right ? { scope: "col", "class": "num" } :
				{ scope: "col" }, right ? head.slice(1) : head));
		});
		return el("table", { "class": kind }, el("thead", null, line),
			fill(el("tbody"), null, rows));
	}
	function section(id, title) {
		return fill(el("section", { id: id }, el("h2", null, title)), null,
			Array.prototype.slice.call(arguments, 2));
	}

	/* What is wrong. */

	function trouble(bad) {
		return fill(el("li", bad ? { "class": "bad" } : null), null,
			Array.prototype.slice.call(arguments, 1));
	}
	function of_risk(s) {
		var locks = s.statistics.locks_at_risk || 0;
		var permits = s.statistics.permits_at_risk || 0;
		var what = [];
		if (locks > 0)
			what.push(count(locks, "lock", "locks"));
		if (permits > 0)
			what.push(count(permits, "permit", "permits"));
		if (what.length === 0)
			return [];
		return [fill(trouble(true,
			el("b", null, what.join(" and ") + " at risk"),
			": Redis does not confirm the leases. Without a confirmation " +
			"within " + duration(s.lease_ms) + " of the last one, the " +
			"holders lose them."), null, at_risk(s, locks + permits))];
	}
	/* The first that would be lost, of those that the reader may see. */
	function at_risk(s, all) {
		var names = s.names.filter(function (n) {
			return n.at_risk_ms !== undefined;
		}).sort(function (a, b) {
			return a.at_risk_ms - b.at_risk_ms;
		}), n = names[0], out;
		if (!n)
			return [];
		out = [" First: ", link(n.name)];
		if (n.holder)
			out.push(" (", strange(n.holder), ")");
		out.push(" in " + duration(n.at_risk_ms), all > 1 ? ", and " +
			count(all - 1, "other.", "others.") : ".");
		return out;
	}
	/* The broker remembers the latest; the minutes of the classes count all. */
	function count_lost(s, listed) {
		return Math.max(listed, s.classes.reduce(function (n, c) {
			return n + sum(c.hour.filter(function (m) {
				return m.ago * MINUTE < RECENT;
			}), "lost");
		}, 0));
	}
	/* Who has acted on what was lost says so by ?since=. */
	function of_losses(s, view) {
		var lost = s.losses.filter(function (l) {
			return l.ago_ms < RECENT && l.reason !== "forced" &&
				s.time * 1000 - l.ago_ms > (view.since || 0) * 1000;
		});
		var by = {}, last = s.losses[REMEMBERED - 1], all = lost.length;
		if (lost.length === 0)
			return [];
		if (last && last.ago_ms < RECENT)
			all = count_lost(s, all);
		lost.forEach(function (l) {
			by[l.reason] = (by[l.reason] || 0) + 1;
		});
		return [trouble(true, el("b", null,
			count(all, "lock was lost", "locks were lost")),
		" in the last 10 minutes, the latest " + duration(lost[0].ago_ms) +
			" ago: ", link(lost[0].name), ", which ",
		strange(lost[0].holder), " held. Reason: " +
		Object.keys(by).map(function (reason) {
			return (by[reason] < lost.length ? by[reason] + " \u00d7 " : "") +
				(ENDS[reason] || visible(reason));
		}).join("; ") + ". ", el("a", { href: "/?since=" + s.time },
		"Mark as seen"))];
	}
	/* If the broker grants nothing at all, the verdict has said why. */
	function of_nodes(s) {
		return s.redis.filter(function (n) {
			return s.ready && !(n.up && n.ready);
		}).map(function (n) {
			return trouble(true, el("b", null, "Redis server ",
				el("code", null, visible(n.node))),
			" is not granting now: " + visible(n.why || "") + ".");
		});
	}
	function of_same_names(s) {
		var names = (s.brokers || []).filter(function (b, i, all) {
			return b.twice && (i === 0 || all[i - 1].name !== b.name);
		});
		return names.map(function (b) {
			return trouble(false, "More than one broker is called ",
				el("b", null, strange(b.name)), ": the name does not " +
				"identify a broker. Give each its own ",
				el("code", null, "broker.name"), ".");
		});
	}
	function of_brokers(s) {
		return (s.brokers || []).filter(function (b) {
			return b.missing;
		}).map(function (b) {
			return trouble(false, "Broker ", el("b", null, strange(b.name)),
				" is missing: last seen " + duration(b.seen_ms) +
				" ago. Its locks are free, or will be soon.");
		});
	}
	function of_waits(s) {
		return s.names.filter(function (n) {
			return n.waiters > 0 && n.oldest_ms >= LONG_WAIT;
		}).slice(0, 3).map(function (n) {
			var e = trouble(false, "A request has waited for ",
				el("b", null, duration(n.oldest_ms)), " for ",
				link(n.name));
			if (n.holder && n.age_ms !== undefined)
				e.append(", which ", strange(n.holder),
					" has held for " + duration(n.age_ms));
			e.append(".");
			return e;
		});
	}
	function troubles(s, view) {
		return [].concat(of_risk(s), of_losses(s, view), of_nodes(s),
			of_brokers(s), of_same_names(s), of_waits(s));
	}
	function verdict(kind, sign, title) {
		return fill(el("div", { "class": "verdict " + kind, role: "status" },
			el("div", { "class": "sign", "aria-hidden": "true" }, sign),
			el("h2", null, title)), null,
		Array.prototype.slice.call(arguments, 3));
	}
	/* What it means for locks. */
	function meaning(s) {
		var held = s.statistics.locks_held, text;
		if (s.ready_in_ms > 0)
			text = "Granting resumes in " + duration(s.ready_in_ms) +
				" at the latest.";
		else
			text = "No new locks are granted; requests wait.";
		if (held > 0 && !s.statistics.locks_at_risk)
			text += " " + count(held, "held lock stays held.",
				"held locks stay held.");
		return text;
	}
	/* What an administrator has asked for is no alarm. */
	function draining(s) {
		var left = el("p", null), longest = s.names.filter(function (n) {
			return n.holder && n.age_ms !== undefined;
		}).sort(function (a, b) {
			return b.age_ms - a.age_ms;
		})[0];
		if (longest)
			left.append("The longest is ", link(longest.name), ", which ",
				strange(longest.holder), " has held for " +
				duration(longest.age_ms) + ". ");
		left.append("The broker exits once no lock is held" +
			(s.drain_left_ms === undefined ? "." : ", by " +
				clock(s.time * 1000 + s.drain_left_ms) +
				" UTC at the latest, in " +
				duration(s.drain_left_ms) + "."));
		return verdict("warn", "\u25bc", "Draining for " +
			duration(s.drain_ms) + ": " + number(s.drain_holds) +
			" left",
		el("p", null, "An administrator started the drain. The broker " +
			"accepts no new clients; requests for locks are sent to " +
			"another broker."),
		left, el("p", { "class": "quiet" }, "To end the drain: ",
			el("code", null, "lockbroker drain --abort")));
	}
	function judge(s, wrong) {
		if (s.stopping)
			return verdict("warn", "\u25a0", "This broker is stopping",
				el("p", null, "It grants no more locks, and releases " +
					"its clients' locks."));
		if (s.draining)
			return draining(s);
		if (!s.ready && s.ready_in_ms > 0 &&
		    s.paused_ms > s.uptime_ms - 1000)
			return verdict("warn", "\u25b6", "Starting: first locks in " +
				duration(s.ready_in_ms),
			el("p", null, sentence(s.why)));
		if (!s.ready)
			return verdict("bad", "\u275a\u275a", "No new locks since " +
				clock(s.paused_since * 1000) + " UTC (" +
				duration(s.paused_ms) + ")",
			el("p", null, sentence(s.why)), el("p", null, meaning(s)));
		if (wrong)
			return verdict("warn", "!",
				"Granting locks, with warnings");
		return verdict("good", "\u2713",
			"Granting locks, no problems");
	}
	function figure(what, value) {
		return el("div", null, el("dt", null, what), el("dd", null, value));
	}
	/* Of all processes of the broker. */
	function figures(s) {
		var stats = s.statistics, waited = s.names.filter(function (n) {
			return n.waiters > 0;
		}).length;
		var oldest = s.classes.concat(s.names.filter(function (n) {
			return n.waiters > 0;
		})).reduce(function (most, c) {
			return Math.max(most, c.oldest_ms === undefined ? -1 :
				c.oldest_ms);
		}, -1);
		return el("dl", { "class": "figures" },
			figure("locks held", number(stats.locks_held +
				stats.leaving_locks_held)),
			figure("requests waiting", number(stats.waiters +
				stats.leaving_waiters) + (waited > 0 &&
				s.names.length === s.names_total ? " for " +
				count(waited, "name", "names") : "")),
			figure("longest wait now", oldest < 0 ? "none" :
				duration(oldest)),
			figure("clients connected", number(stats.clients +
				stats.leaving_clients)));
	}
	function leaving(s) {
		var stats = s.statistics, n = stats.leaving;
		return n === 0 ? "" : el("p", { "class": "quiet" },
			count(n, "old process of this broker still serves ",
				"old processes of this broker still serve "),
			count(stats.leaving_clients, "client", "clients") +
			", which hold " +
			count(stats.leaving_locks_held, "lock", "locks") + ", " +
			duration(stats.leaving_ms) + " after the first was replaced. " +
			"Totals include them; to list their locks: ",
			el("code", null, "lockbroker list"), ", ",
			el("code", null, "lockbroker queue NAME"),
			". Their losses are in the log only.");
	}
	function now(s, view) {
		var list = troubles(s, view);
		return [judge(s, list.length > 0), list.length > 0 ?
			fill(el("ul", { "class": "troubles" }), null, list) : "",
		figures(s), leaving(s)];
	}
	function head(s) {
		return [el("h1", null, strange(s.broker), el("span", null,
			s.address ? " at " + visible(s.address) : "")),
		el("p", { "class": "quiet small" }, "lockbroker " + s.version +
			", up for " + duration(s.uptime_ms) + "; as of ",
		el("time", null, clock(s.time * 1000) + " UTC"))];
	}

	/* Names. */

	/* Nobody has a barrier: there it would say so of each. */
	function holder(s, n) {
		if (n.holder)
			return el("span", null, strange(n.holder));
		if (n.kept_ms !== undefined)
			return el("span", { "class": "quiet" }, "reserved",
				n.was ? " (was " : null,
				n.was ? strange(n.was) : null, n.was ? ")" : null);
		if (n.broker)
			return el("span", null, "at ", through(s, n));
		return n.kind === "barrier" ? null : el("span",
			{ "class": "quiet" }, n.state === "free" ? "free" :
				"held elsewhere");
	}
	function name_row(s, n) {
		return row(link(n.name),
			cell("wide", "", n.kind ? tag("quiet", n.kind) : null,
				n.kind ? " " : null, holder(s, n),
				n.limit === undefined ? null : " ",
				n.limit === undefined ? null : tag("quiet",
					number(n.permits) + " of " + number(n.limit)),
				n.state === "shared" ? " " : null,
				n.state === "shared" ? tag("quiet", "shared") : null,
				n.at_risk_ms === undefined ? null : " ",
				n.at_risk_ms === undefined ? null :
					tag("bad", "at risk")),
			time_cell(n.kept_ms === undefined ? "for" :
				"for another", n.kept_ms === undefined ? n.age_ms :
				n.kept_ms),
			cell("num", "waiting", n.waiters > 0 ? number(n.waiters) :
				null),
			time_cell("longest", n.waiters > 0 ? n.oldest_ms :
				undefined));
	}
	function nothing(view) {
		var e = el("p", { "class": "empty" }, view.filter ?
			"No name that you may view begins with that. " :
			"No lock that you may view is held or waited for " +
			"through this broker.");
		if (view.filter)
			e.append("Is ", link(view.filter),
				" held through another broker?");
		return [e];
	}
	function list(s, view) {
		var left = s.names_total - s.names.length, out, button;
		var names = s.names.filter(function (n) {
			return view.filter || n.kind || n.waiters > 0 ||
				n.state !== "free";
		});
		if (names.length === 0 && left <= 0)
			return nothing(view);
		out = [table("names", ["name", "held by", "#for", "#waiting",
			"#longest"], names.map(function (n) {
			return name_row(s, n);
		}))];
		if (left <= 0) {
			out.push(el("p", { "class": "quiet small" },
				count(s.names_total, "name", "names") + "."));
			return out;
		}
		out.push(el("p", { "class": "quiet small" }, "And " +
			number(left) + " more" + (s.names.length < view.most ? ". " :
			": type the beginning of a name to find them.")));
		if (s.names.length < view.most) {
			button = el("button", { type: "button" }, "Show " + (left +
				s.names.length > view.most ? number(view.most) : "all"));
			button.onclick = view.more;
			out[1].append(button);
		}
		return out;
	}

	/* Holds that are over. */

	/* Who forced it: uid=0,pid:10618,session=98,broker=lock2. */
	function force(by) {
		var out = [];
		by.split(",").forEach(function (word) {
			var at = word.search(/[=:]/), key = word.slice(0, at);
			if (key === "broker")
				out.push("through " + word.slice(at + 1));
			else if (key === "uid" || key === "pid")
				out.push(key + " " + word.slice(at + 1));
			else if (key !== "session")
				out.push(word);
		});
		return " by " + visible(out.join(", "));
	}
	function ending(end, by) {
		return (ENDS[end] || visible(end)) + (by ? force(by) : "");
	}
	function ago_cell(s, ms) {
		return cell("num when", "", clock(s.time * 1000 - ms) + " ",
			el("span", { "class": "quiet" }, duration(ms) + " ago"));
	}
	/* What was lost for one reason at one moment, the latest first. */
	function moments(s) {
		var open = {}, out = [];
		s.losses.forEach(function (l) {
			var why = l.reason + " " + (l.by || ""), last = open[why];
			if (last && l.ago_ms - last[last.length - 1].ago_ms < MOMENT) {
				last.push(l);
				return;
			}
			open[why] = [l];
			out.push(open[why]);
		});
		return out;
	}
	/* From when to when, on the broker's clock. */
	function span(s, lost) {
		var first = clock(s.time * 1000 - lost[lost.length - 1].ago_ms);
		var last = clock(s.time * 1000 - lost[0].ago_ms);
		return first === last ? first : first + "\u2013" +
			(first.slice(0, 6) === last.slice(0, 6) ? last.slice(6) : last);
	}
	function loss_row(s, lost) {
		var l = lost[0], list = el("ul"), who = {};
		if (lost.length === 1)
			return row(link(l.name), cell("wide", "", strange(l.holder)),
				cell("wide", "", ending(l.reason, l.by)),
				time_cell("held for", l.held_ms), ago_cell(s, l.ago_ms));
		lost.forEach(function (one) {
			who[one.holder] = true;
			list.append(el("li", null, link(one.name), ", which ",
				strange(one.holder), " held for " +
				duration(one.held_ms)));
		});
		return row(el("details", null, el("summary", null,
			count(lost.length, "lock", "locks")), list),
		cell("wide", "", Object.keys(who).length > 1 ?
			number(Object.keys(who).length) + " clients" :
			strange(l.holder)),
		cell("wide", "", ending(l.reason, l.by)), cell("num", ""),
		cell("num when", "", span(s, lost) + " ",
			el("span", { "class": "quiet" }, duration(l.ago_ms) + " ago")));
	}
	/* The same for a ticket. */
	function loss_text(s) {
		return visible(s.broker) + ", " +
			new Date(s.time * 1000).toISOString().slice(0, 19) +
			"Z: lost and released by force\n" +
			moments(s).map(function (lost) {
				return span(s, lost) + " UTC: " + count(lost.length,
					"lock", "locks") + ": " + ending(lost[0].reason,
					lost[0].by) + "\n" + lost.map(function (l) {
					return "  " + visible(l.name) + ", which " +
						visible(l.holder) + " held for " +
						duration(l.held_ms) + "\n";
				}).join("");
			}).join("");
	}
	function losses(s, view) {
		var copy;
		if (s.losses.length === 0)
			return section("losses", "Lost and released by force",
				el("p", { "class": "empty" },
					"None since this broker started, of the names that " +
					"you may view."));
		copy = el("button", { type: "button" }, "Copy as text");
		copy.onclick = function () { view.copy(loss_text(s), this); };
		return section("losses", "Lost and released by force",
			table("", ["name", "was held by", "how it ended", "#held for",
				"#when (UTC)"], moments(s).slice(0, LOSSES).map(
				function (lost) { return loss_row(s, lost); })), copy);
	}

	/* The name that is asked for. */

	function who(r) {
		var peer = r.peer ? " (" + r.peer + ")" : "";
		if (r.label)
			return r.label + peer;
		return r.peer || (r.session !== undefined ? "session " + r.session :
			"a Redis client");
	}
	/* The page of the broker that has it tells of the name. */
	function through(s, n) {
		var there = (s.brokers || []).filter(function (b) {
			return b.name === n.broker;
		})[0];
		return broker_link(there || { name: n.broker },
			"/?name=" + encodeURIComponent(n.name));
	}
	function not_here(s, lock) {
		var left = duration(lock.kept_ms || lock.ttl_ms || 0), e;
		if (lock.error)
			return "Holder unknown: " + visible(lock.error);
		if (lock.broker === s.broker && lock.session)
			return el("span", null, strange(who(lock)), " has held it for " +
				duration(lock.age_ms) + ", through an old process");
		if (lock.state === "free" || lock.age_ms !== undefined &&
			(!lock.broker || lock.broker === s.broker))
			return "No holder";
		if (!lock.broker)
			return "A plain Redis client holds it, for another " + left +
				" at most";
		if (lock.broker === s.broker || lock.kept_ms !== undefined)
			return el("span", null, "No holder, but the name is reserved for " +
				"another " + left + " (keep= or delay=)",
			lock.was ? "; the last holder was " : null,
			lock.was ? strange(lock.was) : null);
		e = el("span", null, lock.age_ms === undefined ? "It is held" :
			el("span", null, strange(who(lock)), " has held it for " +
				duration(lock.age_ms)), " through the broker ",
			through(s, lock));
		e.append(lock.address ? " at " + visible(lock.address) : "",
			lock.age_ms === undefined ? "; see its page for the holder" : "");
		return e;
	}
	function summary(s, a, holders) {
		var p = el("p", { "class": "who" }), n = a.waiters;
		var others = ["semaphore", "latch", "barrier"].filter(function (k) {
			return a[k].length > 0;
		});
		if (holders.length === 0 && n === 0 && others.length > 0) {
			p.append("No lock, but a " + others.join(", a ") + ".");
			return p;
		}
		if (holders.length > 0) {
			p.append(strange(who(holders[0])), (holders.length > 1 ?
				" and " + count(holders.length - 1, "other holds it",
					"others hold it") + "; the first has held it for " :
				" has held it for ") + duration(holders[0].age_ms));
		} else {
			p.append(not_here(s, a.lock || { state: "free" }));
		}
		p.append(n === 0 ? "; no waiters here." : "; " +
			count(n, "waits", "wait") + " for it here.");
		if (a.lock && a.lock.at_risk_ms !== undefined)
			p.append(" ", tag("bad", "at risk: lost in " +
				duration(a.lock.at_risk_ms) + " unless Redis answers"));
		if (a.lock && a.lock.value)
			p.append(" Its value is ", strange(a.lock.value), ".");
		return p;
	}
	function people(title, head, rows, numbered) {
		if (rows.length === 0)
			return "";
		return el("div", null, el("h3", null, title), table("", ["who",
			"#session", "#" + head], rows.map(function (r, i) {
			var name = el("span", null, numbered ? i + 1 + ". " : "",
				strange(who(r)), permits(r));
			if (r.mode === "shared")
				name.append(" ", tag("quiet", "shared"));
			if (r.away_ms !== undefined)
				name.append(" ", tag("warn", "connection lost, may " +
					"resume within " + duration(r.away_ms)));
			return row(name, cell("num", "session",
				r.session === undefined ? null : String(r.session)),
			time_cell(numbered ? "has waited" : "held for", r.age_ms));
		})));
	}
	function past(s, rows) {
		if (rows.length === 0)
			return "";
		return el("div", null, el("h3", null, "Recent holds"),
			table("", ["who", "how it ended", "#waited", "#held for",
				"#when (UTC)"], rows.map(function (r) {
				return row(el("span", null, strange(who(r))),
					cell("wide", "", ending(r.end, r.by)),
					time_cell("waited", r.waited_ms),
					time_cell("held for", r.held_ms),
					ago_cell(s, r.ago_ms));
			})));
	}
	function is(word) {
		return function (r) {
			return r.is === word && (word === "waiter" ||
				r.session !== undefined);
		};
	}
	function kind(a, word) {
		return el("div", null,
			people("Holders of permits of the semaphore", "for",
				a[word].filter(is("holder")), false),
			people("Waiting at the " + word, "has waited",
				a[word].filter(is("waiter")), true));
	}
	function permits(r) {
		return (r.permits > 1 ? " " + r.permits + " permits" : "") +
			(r.slot === undefined ? "" : " slot " + r.slot);
	}
	/* A word of a command line. */
	function quoted(name) {
		return /^[\w.\/:@%+,-]+$/.test(name) ? name :
			"'" + visible(name).replace(/'/g, "'\\''") + "'";
	}
	function commands(a, holders) {
		var name = quoted(a.name), has = holders.length > 0 ||
			a.lock && a.lock.state !== "free";
		return el("div", null, el("h3", null, "At a terminal"),
			el("p", { "class": "small" },
				el("code", null, "lockbroker history " + name)),
			has ? el("p", { "class": "small" }, el("code", null,
				"lockbroker unlock-force " + (holders.length === 1 &&
				holders[0].fence ? "--fence " + holders[0].fence + " " :
					"") + name)) : null);
	}
	/* Without metrics.classes, all names are in one. */
	function its_class(s, a) {
		return fill(el("div", { "class": "classes" }), null,
			s.classes.filter(function (c) {
				return s.classes.length > 1 && c["class"] === a["class"];
			}).map(function (c) {
				return el("div", null, el("h3", null, "The last hour of " +
					"its class"), one_class(c));
			}));
	}
	function asked(s) {
		var a = s.asked, e, holders;
		if (!a)
			return [];
		e = el("section", { id: "name-asked", "class": "focus" },
			el("p", { "class": "small" },
				el("a", { href: "/" }, "back to all names")),
			el("h2", null, el("bdi", { "class": "name" },
				visible(a.name))));
		if (a.fault) {
			e.append(el("p", null, /^you /.test(a.fault) ?
				sentence(a.fault) : "Not a valid name: it " +
				visible(a.fault) + "."));
			return [e];
		}
		holders = a.queue.filter(is("holder"));
		if (holders.length === 0 && a.history.length > 0 &&
		    a.history[0].end === "held") {
			holders = [a.history[0]];
			holders[0].age_ms = holders[0].held_ms;
		}
		e.append(summary(s, a, holders),
			people("Holders", "for", holders, false),
			people("Waiting, next first", "has waited",
				a.queue.filter(is("waiter")), true),
			kind(a, "semaphore"), kind(a, "latch"), kind(a, "barrier"),
			past(s, a.history.filter(function (h) {
				return h.end !== "held";
			})), its_class(s, a), commands(a, holders));
		return [e];
	}

	/* Classes: the last hour. */

	var WIDTH = 300, HEIGHT = 84, MARKS = 10, BAR = WIDTH / 60;

	/* Each factor of ten above a millisecond is a seventh of the height. */
	function height(ms) {
		var full = HEIGHT - MARKS;
		return Math.max(1, Math.min(full, Math.log10(Math.max(1, ms)) *
			full / 7));
	}
	function bar(kind, x, y, h) {
		return svg("rect", { "class": kind, x: x, y: y.toFixed(1),
			width: BAR - 1, height: h.toFixed(1) });
	}
	function minute(m) {
		var x = WIDTH - (m.ago + 1) * BAR, h = height(m.wait_max_ms);
		var one = bar(m.timeout > 0 ? "timeout" : "bar", x,
			HEIGHT - MARKS - h, h);
		one.append(svg("title", null, m.ago + " min ago: " + m.granted +
			" granted, " + m.timeout + " timed out, " + m.lost +
			" lost, longest wait " + duration(m.wait_max_ms)));
		return m.lost > 0 ? [one, bar("lost", x, HEIGHT - MARKS + 2,
			MARKS - 4)] : [one];
	}
	function grid(ms, text) {
		var y = (HEIGHT - MARKS - height(ms)).toFixed(1);
		return [svg("line", { "class": "grid", x1: 0, x2: WIDTH, y1: y,
			y2: y }), svg("text", { x: WIDTH + 4, y: Number(y) + 4 },
			text)];
	}
	function sum(hour, key) {
		return hour.reduce(function (n, m) { return n + m[key]; }, 0);
	}
	function in_words(c) {
		var most = Math.max.apply(null, [0].concat(c.hour.map(function (m) {
			return m.wait_max_ms;
		})));
		var text;
		if (c.hour.length === 0)
			return "Nothing in the last hour.";
		text = number(sum(c.hour, "granted")) + " granted, " +
			number(sum(c.hour, "timeout")) + " timed out, " +
			number(sum(c.hour, "lost")) + " lost; longest wait " +
			duration(most) + ".";
		/* These are bounds of buckets: there may be no wait so long. */
		if (c.wait_p50_ms !== undefined)
			text += " Half waited at most " +
				duration(Math.min(most, c.wait_p50_ms)) +
				", all but 1\u00a0% at most " +
				duration(Math.min(most, c.wait_p99_ms === undefined ?
					most : c.wait_p99_ms)) + ".";
		return text;
	}
	function one_class(c) {
		var picture = svg("svg", { viewBox: "0 0 " + (WIDTH + 44) + " " +
			(HEIGHT + 14), role: "img", "aria-label": in_words(c) });
		fill(picture, null, [].concat(grid(10, "10 ms"), grid(1000, "1 s"),
			grid(100000, "100 s")));
		c.hour.forEach(function (m) { fill(picture, null, minute(m)); });
		picture.append(svg("text", { x: 0, y: HEIGHT + 10 }, "an hour ago"),
			svg("text", { x: WIDTH, y: HEIGHT + 10, "text-anchor": "end" },
				"now"));
		return el("figure", { "class": "class" }, el("h3", null,
			strange(c["class"]), el("span", null, number(c.held) +
			" held, " + number(c.waiters) + " waiting" +
			(c.oldest_ms === undefined ? "" : ", for up to " +
			duration(c.oldest_ms)))), picture,
		el("figcaption", null, in_words(c)));
	}
	/* The longest wait comes first, then most losses, then most grants. */
	function weight(c) {
		return [c.oldest_ms === undefined ? -1 : c.oldest_ms,
			sum(c.hour, "lost"), sum(c.hour, "granted") +
			sum(c.hour, "timeout")];
	}
	function by_weight(x, y) {
		var one = weight(x), two = weight(y), i = 0;
		while (i < 2 && one[i] === two[i])
			i++;
		return two[i] - one[i];
	}
	function classes(s) {
		return section("classes", "The last hour, by class of names",
			el("p", null, "A bar for each minute: the longest wait that " +
				"ended in it. Each line stands for a hundred times the line " +
				"below it. A bar is highlighted if a request timed out; a " +
				"mark below it is a lost lock."),
			fill(el("div", { "class": "classes" }), null, s.classes.slice()
				.sort(by_weight).slice(0, CLASSES).map(one_class)));
	}

	/* Servers and brokers. */

	function broker_link(b, path) {
		if (!/^https?:\/\//.test(b.http || ""))
			return strange(b.name);
		return el("a", { href: b.http.replace(/\/+$/, "") + (path || "/"),
			rel: "noreferrer" }, strange(b.name));
	}
	function broker_state(b) {
		if (b.missing)
			return tag("bad", "missing");
		if (b.leaving)
			return tag("warn", "leaving");
		return tag("good", b.self ? "this one" : "up");
	}
	function brokers(s) {
		if (!s.brokers || s.brokers.length === 0)
			return "";
		return section("brokers", "Brokers on this Redis", table("",
			["broker", "state", "address", "version", "#lease", "#seen"],
			s.brokers.map(function (b) {
				return row(broker_link(b), cell("", "", broker_state(b)),
					cell("", "", visible(b.address || "")),
					cell("", "version", visible(b.version || "")),
					time_cell("lease", b.lease_ms),
					cell("num", "", b.seen_ms === undefined ? null :
						duration(b.seen_ms) + " ago"));
			})));
	}
	/* Programs that use Redis without a broker have been met there. */
	function plain(p) {
		return "No leases are cached here since " + clock(p.since * 1000) +
			" UTC, because programs use SET NX on it without a broker, most" +
			" recently for " + visible(p.name) + ". Caching resumes at " +
			clock(p.until * 1000) + " unless that happens again.";
	}

	function redis(s) {
		var some = s.redis.some(function (n) { return n.why || n.plain; });
		return section("redis", "Redis", table("", ["server", "state"]
			.concat(some ? ["why"] : []), s.redis.map(function (n) {
			var good = n.up && n.ready, why = n.why ? sentence(n.why) : "";
			if (n.guards > 1)
				why = n.guards_ready + " of " + n.guards +
					" buckets of names. " + why;
			if (n.plain)
				why += (why && " ") + plain(n.plain);
			return row(el("code", null, visible(n.node)), cell("", "",
				tag(good ? "good" : n.up ? "warn" : "bad", good ?
					"grants" : n.up ? "paused" : "unreachable")),
			why ? cell("wide", "", why) : null);
		})));
	}

	return {
		page: function (s, view) {
			var one = view.name !== null;
			return { head: head(s), now: now(s, view), asked: asked(s),
				list: one ? [] : list(s, view),
				rest: one ? [] : [losses(s, view), classes(s),
					el("div", { "class": "pair" }, brokers(s),
						redis(s))] };
		},
		title: function (s) {
			return (s.stopping ? "Stopping" : s.draining ? "Draining" :
				!s.ready ? "Paused" :
				"Granting") + " - " + s.broker;
		},
		stale: function (error, heard) {
			return [verdict("bad", "?", heard ? "No answer since " +
				clock(heard.getTime()) + " UTC" : "No answer",
			el("p", null, "The broker does not answer this page (" +
				error.message + "). " + (heard ? "Below is the last known " +
				"state." : "")))];
		}
	};
})();
