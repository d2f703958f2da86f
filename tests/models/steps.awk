# SPDX-License-Identifier: GPL-2.0
#
# Do the models still say what the code says? A comment in a model
#
#	/* R3 data_ring.hh: P::store(ring.nest, P::load(ring.nest) + 1); */
#
# quotes a piece of a line of the code. The steps of one letter have to stand in
# the code in the order of their numbers. White space does not count.
#
#	awk -v sources="FILE..." -f steps.awk MODEL...
#
# Prints what does not fit and exits 1; without any quotation to check, 1 as well.

function squeeze(text) {
	gsub(/[ \t\n]+/, " ", text)
	return text
}

function read_source(path,	name, line, text) {
	name = path
	sub(/.*\//, "", name)
	while ((got = (getline line < path)) > 0)
		text = text line "\n"
	if (got < 0)
		complain(path " cannot be read: name the file where it is now in run.sh")
	source[name] = squeeze(text)
}

function complain(sentence) {
	print sentence
	bad = 1
}

function check(letter, number,	step, file, at) {
	step = letter number
	file = file_of[step]
	if (!(file in source)) {
		complain(step " quotes " file ", which is not among the sources")
		return
	}
	if (file != last_file[letter])
		position[letter] = 1
	last_file[letter] = file
	at = index(substr(source[file], position[letter]), quote[step])
	if (at)
		position[letter] += at + length(quote[step]) - 1
	else
		complain(step ": " file " has no more \"" quote[step] "\" in this place: follow the code in the model")
}

BEGIN {
	paths = split(sources, path, " ")
	for (i = 1; i <= paths; i++)
		read_source(path[i])
}

match($0, /\/\* [A-Z][0-9]+ [a-z_]+\.(c|h|hh): .* \*\//) {
	text = substr($0, RSTART + 3, RLENGTH - 6)
	step = text
	sub(/ .*/, "", step)
	file = substr(text, length(step) + 2)
	sub(/:.*/, "", file)
	letter = substr(step, 1, 1)
	number = substr(step, 2) + 0
	if (step in quote)
		complain(step " is there twice: number the steps of a letter through")
	file_of[step] = file
	quote[step] = squeeze(substr(text, length(step) + length(file) + 4))
	if (number > steps[letter])
		steps[letter] = number
	quotations++
}

END {
	for (letter in steps)
		for (number = 1; number <= steps[letter]; number++)
			if ((letter number) in quote)
				check(letter, number)
			else
				complain(letter number " is missing: number the steps of a letter through")
	if (!quotations)
		complain("nothing to check: the models quote no code")
	exit bad
}
