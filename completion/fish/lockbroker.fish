# Completion of lockbroker(1) for fish. `lockbroker complete` knows what the
# word at the cursor may become; this only hands it the line.

function __lockbroker_complete
	set -l typed (commandline -opc)
	set -l current (commandline -ct)
	set -l found (command $typed[1] complete -- $typed[2..-1] $current 2>/dev/null)
	switch "$found[1]"
		case @command
			complete -C $current
		case @file
			__fish_complete_path $current
		case '*'
			printf '%s\n' $found
	end
end

complete -c lockbroker -f -a '(__lockbroker_complete)'
