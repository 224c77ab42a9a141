// Command again runs the Go tests that failed once more, alone, when all other tests have ended:
//
//	again -flaky FILE EVENTS...
//
// EVENTS are files of events that "go test -json" wrote. A test that passes now is a defect of the test or of the
// program; it does not fail the run but is listed in FILE. Tests that never ran, because their package ended before, as
// at a panic or at the time limit, run with those that failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// most is how many tests may run again: more failures than these are no matter of luck.
const most = 10

func main() {
	flaky := flag.String("flaky", "", "the file that lists what failed and then passed")
	flag.Parse()
	if *flaky == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "again: name the file to list in with -flaky, and the files of events of go test -json")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, *flaky, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "again:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, flaky string, files []string) error {
	var failures []failure
	for _, name := range files {
		found, err := failuresIn(name)
		if err != nil {
			return err
		}
		failures = append(failures, found...)
	}
	if count := countTests(failures); count > most {
		return fmt.Errorf("%d tests failed; not more than %d run again", count, most)
	}
	var still []string
	for _, each := range failures {
		if err := each.repeat(ctx, out, flaky); err != nil {
			still = append(still, fmt.Sprintf("%s: %v", each.pkg, err))
		}
	}
	if len(still) > 0 {
		return errors.New("failed again:\n  " + strings.Join(still, "\n  "))
	}
	return nil
}

func failuresIn(name string) ([]failure, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

func countTests(failures []failure) int {
	count := 0
	for _, each := range failures {
		count += len(each.tests)
	}
	return count
}

// repeat runs the tests once more and, if they pass, lists them.
func (f failure) repeat(ctx context.Context, out io.Writer, flaky string) error {
	all, err := listed(ctx, f.pkg)
	if err != nil {
		return err
	}
	names := f.notPassed(all)
	fmt.Fprintf(out, "\nonce more, alone: %s %s\n", f.pkg, strings.Join(names, " "))
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-timeout", "10m", "-run", "^("+strings.Join(names, "|")+")$", f.pkg)
	test.Stdout, test.Stderr = out, out
	if err := test.Run(); err != nil {
		return err
	}
	return list(flaky, f.pkg, f.tests)
}

// listed is the names of all tests of a package.
func listed(ctx context.Context, pkg string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "test", "-vet=off", "-list", ".", pkg).Output()
	if err != nil {
		return nil, fmt.Errorf("list its tests: %w", err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
			names = append(names, name)
		}
	}
	return names, nil
}

func list(flaky, pkg string, tests []string) error {
	file, err := os.OpenFile(flaky, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, test := range tests {
		fmt.Fprintf(&text, "%s %s\n", pkg, test)
	}
	_, err = io.WriteString(file, text.String())
	return errors.Join(err, file.Close())
}
