// Package crashtest holds the shipped binary to its promises about crashes: tests
// build cmd/gantry and treat it as a stranger would, over its command line, over
// standard input and output, and with SIGKILL.
//
// What is held:
//
//   - two launches of the same inputs come to the same bytes and the same commit,
//     whatever the clock, the folders, the environment and the parallelism;
//   - after kills at random moments everything that was answered is still true, no
//     finished work was done again, every chain verifies, and each run comes to what
//     an undisturbed launch comes to ($GANTRY_KILLS kills, 40 when it is not set;
//     $GANTRY_SEED repeats their order);
//   - whatever happens, one process at a time works on a run;
//   - a damaged journal is repaired where that loses nothing, else named and left alone;
//   - a full disk fails calls, not the server.
//
// A process is known by a variable in its environment, so what is left behind is
// found whoever started it. Git is wrapped by a program (testdata/gitlog) that writes
// down when which process had git work on which run.
package crashtest
