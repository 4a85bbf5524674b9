# Writes the C file that holds the sources of the page: awk -f embed.awk FILE ...
# Each NAME.EXT becomes `const char NAME_EXT[]`, byte for byte, a literal a line.

# A backslash in a replacement text is eaten twice, so that doubling one by
# name does nothing; "\\\\&" puts one before whatever was matched.
function literal(line)
{
	gsub(/["\\]/, "\\\\&", line)
	gsub(/\?\?/, "?\\?", line)
	printf "\t\"%s\\n\"\n", line
}

BEGIN {
	print "/* Made by embed.awk from the files of src/http/page; edit those. */"
	print "#include \"config.h\"\n"
	print "#include \"http/page/sources.h\""
	for (i = 1; i < ARGC; i++) {
		name = ARGV[i]
		sub(/^.*\//, "", name)
		sub(/\./, "_", name)
		printf "\nconst char %s[] =\n", name
		while ((rc = (getline line < ARGV[i])) > 0)
			literal(line)
		if (rc < 0) {
			print "embed.awk: can't read " ARGV[i] | "cat 1>&2"
			exit 1
		}
		close(ARGV[i])
		print "\t\"\";"
	}
}
