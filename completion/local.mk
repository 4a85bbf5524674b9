# completion: for shells. configure finds where each has its own; what comes of
# pkg-config is relative to prefix, so that DESTDIR and another prefix do.
EXTRA_DIST += completion/bash/lockbroker completion/fish/lockbroker.fish \
	completion/zsh/_lockbroker
if BASH_COMPLETIONS
bashcompletions_DATA = completion/bash/lockbroker
endif
if FISH_COMPLETIONS
fishcompletions_DATA = completion/fish/lockbroker.fish
endif
if ZSH_COMPLETIONS
zshcompletions_DATA = completion/zsh/_lockbroker
endif
