//go:build !linux

package main

import "syscall"

// alive reports whether a process runs.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// mentioning cannot tell which processes belong to a folder on this system.
func mentioning(string) []string { return nil }

// signalWorkers cannot find them on this system; they end when they have been idle.
func signalWorkers(string) {}
