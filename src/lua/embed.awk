# Writes the C file that holds the scripts: awk -f embed.awk FILE.lua ...
# Each FILE.lua becomes `const char lua_FILE[]`, a literal a line, without lines
# that hold a comment alone: a third of what each connection may have to load.
# A line `-- include OTHER.lua` is replaced by that file of the same directory,
# which may include others.

# A backslash in a replacement text is eaten twice, so that doubling one by
# name does nothing; "\\\\&" puts one before whatever was matched.
function literal(line)
{
	gsub(/["\\]/, "\\\\&", line)
	printf "\t\"%s\\n\"\n", line
}

function fail(text)
{
	print "embed.awk: " text | "cat 1>&2"
	failed = 1
	exit 1
}

function emit(path, depth,    line, rc, part)
{
	if (depth > 8)
		fail(path ": includes itself")
	while ((rc = (getline line < path)) > 0) {
		if (line ~ /^-- include [a-z_0-9]+\.lua$/) {
			split(line, part, " ")
			emit(directory part[3], depth + 1)
		} else if (line !~ /^[\t ]*--/)
			literal(line)
	}
	if (rc < 0)
		fail(path ": can't be read")
	close(path)
}

BEGIN {
	print "/* Made by embed.awk from the .lua files; edit those. */"
	print "#include \"config.h\"\n"
	print "#include \"lua/lua.h\""
	for (i = 1; i < ARGC; i++) {
		name = ARGV[i]
		directory = name
		sub(/[^\/]*$/, "", directory)
		sub(/^.*\//, "", name)
		sub(/\.lua$/, "", name)
		printf "\nconst char lua_%s[] =\n", name
		emit(ARGV[i], 0)
		print "\t\"\";"
	}
	exit failed
}
