/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of perfring. argv[0] is the command's name. Each returns the
 * program's exit status and may throw what main() prints as its error.
 */
#ifndef PERFRING_COMMANDS_HH
#define PERFRING_COMMANDS_HH

namespace perfring {

int record_command(int argc, char **argv); /* record/command.cc */
int check_command(int argc, char **argv);  /* data/check_command.cc */
int stats_command(int argc, char **argv);  /* data/stats_command.cc */

} /* namespace perfring */

#endif /* PERFRING_COMMANDS_HH */
