//go:build mage

package main

import (
	"context"
	"time"

	"github.com/magefile/mage/mg"
)

type Docker mg.Namespace

type other struct{}

// Build compiles the program. It takes a while.
func Build(ctx context.Context) error { return nil }

func TestAll() {}

// Deploy ships it.
func Deploy(env string, wait time.Duration, twice bool) error { return nil }

func (Docker) Push() error { return nil }

func (other) Skip() {}

func Generic[T any]() {}

func WrongResult() int { return 0 }

func WrongArgument(x []string) {}

func helper() {}
