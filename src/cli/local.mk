# src/cli: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/cli/libcli.a
src_cli_libcli_a_SOURCES = \
	src/cli/child.c \
	src/cli/child.h \
	src/cli/cli.c \
	src/cli/cli.h \
	src/cli/columns.c \
	src/cli/columns.h \
	src/cli/complete.c \
	src/cli/drain.c \
	src/cli/exit.c \
	src/cli/exit.h \
	src/cli/force.c \
	src/cli/holder.c \
	src/cli/holder.h \
	src/cli/json_reply.c \
	src/cli/json_reply.h \
	src/cli/login.c \
	src/cli/login.h \
	src/cli/options.c \
	src/cli/options.h \
	src/cli/others.c \
	src/cli/others.h \
	src/cli/processes.c \
	src/cli/processes.h \
	src/cli/progress.c \
	src/cli/progress.h \
	src/cli/question.c \
	src/cli/question.h \
	src/cli/queue.c \
	src/cli/run.c \
	src/cli/run.h \
	src/cli/run_held.c \
	src/cli/run_lock.c \
	src/cli/run_options.c \
	src/cli/run_options.h \
	src/cli/run_request.c \
	src/cli/run_request.h \
	src/cli/run_state.c \
	src/cli/run_state.h \
	src/cli/run_steps.c \
	src/cli/say.c \
	src/cli/say.h \
	src/cli/send.c \
	src/cli/show.c \
	src/cli/show_drill.c \
	src/cli/show_why.c \
	src/cli/signals.c \
	src/cli/signals.h \
	src/cli/status.c \
	src/cli/subcommands.c \
	src/cli/subcommands.h \
	src/cli/timespan.c \
	src/cli/timespan.h \
	src/cli/top.c \
	src/cli/top.h \
	src/cli/top_lines.c \
	src/cli/users.c \
	src/cli/validity.c \
	src/cli/validity.h \
	src/client/addresses.h \
	src/client/client.h \
	src/client/message.h \
	src/client/reconnect.h

bin_PROGRAMS += lockbroker
lockbroker_SOURCES = src/cli/main.c
lockbroker_LDADD = $(LIB_CLI) $(LIB_AUTH) $(LIB_BASE) $(AUTH_LIBS)
