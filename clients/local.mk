# clients: libraries for programs. They are files to copy, or to install with
# the tools of their language.
EXTRA_DIST += \
	clients/node/README.md \
	clients/node/index.d.ts \
	clients/node/index.js \
	clients/node/package.json \
	clients/node/session.js \
	clients/python/README.md \
	clients/python/lockbroker/__init__.py \
	clients/python/lockbroker/aio.py \
	clients/python/lockbroker/py.typed \
	clients/python/pyproject.toml
