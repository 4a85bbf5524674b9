/*
 * The scripts that run inside Redis, embedded at build time: one string for
 * each file in lua_scripts (see local.mk). They live as long as the program.
 */
#ifndef LOCKBROKER_lua_scripts_H
#define LOCKBROKER_lua_scripts_H

extern const char lua_keep[];
extern const char lua_acquire[];

#endif
